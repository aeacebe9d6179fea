// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The facts that the kernel tells about another process (proc(5)), each bounded in size.
///
/// A number can come to mean another process: who reads facts looks afterwards whether the process still runs.
struct ProcessFacts: Sendable {
    /// The reading of one file.
    enum Reading: Sendable, Hashable {
        case text(String)
        /// The file is not there, or the kernel has no such fact.
        case none
        /// The file cannot be read, or is larger than any that is expected.
        case unreadable
    }

    let pid: Int32
    /// The folder of all processes, which a test replaces.
    var folder = "/proc"

    /// The name of the process.
    var name: String? { text("comm", most: 64) }

    /// The unit of systemd that the process belongs to: the last one on the way to its control group.
    var unit: String? {
        guard
            let line = text("cgroup", most: 8192)?.split(separator: "\n").last(where: { $0.hasPrefix("0::") })
        else { return nil }
        return line.split(separator: "/").map(String.init).last {
            $0.hasSuffix(".service") || $0.hasSuffix(".scope")
        }
    }

    /// The time at which the process was started, in ticks since the machine's start.
    var startTime: UInt64? {
        // The name, in brackets, may hold anything.
        guard let fields = text("stat", most: 4096)?.split(separator: ")").last?.split(separator: " "),
            fields.count > 19
        else { return nil }
        return UInt64(fields[19])
    }

    /// The user who started the process: a set-user-ID program keeps the person's number here.
    var realUser: UInt32? {
        let lines = text("status", most: 16_384)?.split(separator: "\n")
        guard let line = lines?.first(where: { $0.hasPrefix("Uid:") }) else { return nil }
        return line.split(separator: "\t").dropFirst().first.flatMap { UInt32($0) }
    }

    /// The security module's label.
    var label: Reading { read("attr/current", most: 4096) }

    /// The places where file systems are mounted, as the process sees them.
    ///
    /// Other users' mounts are among them, at paths of any bytes: these are no reason to know nothing of the process.
    var mounts: Reading { read("mountinfo", most: 16 << 20, isRepaired: true) }

    private func text(_ file: String, most: Int) -> String? {
        guard case .text(let text) = read(file, most: most) else { return nil }
        return text.last == "\n" ? String(text.dropLast()) : text
    }

    private func read(_ file: String, most: Int, isRepaired: Bool = false) -> Reading {
        let descriptor = open("\(folder)/\(pid)/\(file)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno == ENOENT ? .none : .unreadable }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &room, room.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                return errno == EINVAL || errno == EOPNOTSUPP ? .none : .unreadable
            }
            if count == 0 { break }
            bytes += room.prefix(count)
            guard bytes.count <= most else { return .unreadable }
        }
        if isRepaired { return .text(String(decoding: bytes, as: UTF8.self)) }
        return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .unreadable
    }
}
