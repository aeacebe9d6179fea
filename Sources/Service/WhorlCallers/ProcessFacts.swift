// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlRemote

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

    /// Whether the process has numbers of its own, in a process namespace below this one, as in a sandbox or a container;
    /// `nil` where that cannot be told.
    var isInNamespace: Bool? {
        let lines = text("status", most: 16_384)?.split(separator: "\n")
        // A kernel without such namespaces has no such line.
        return lines.map { lines in
            lines.first { $0.hasPrefix("NSpid:") }.map { $0.split(separator: "\t").count > 2 } ?? false
        }
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

extension Confinement {
    /// Reads the label of a security module; `nil` for one that confines no program by a profile.
    ///
    /// AppArmor, and Snap by it, name the profile and its mode: `snap.vault.app (enforce)`. A profile that only complains
    /// stops nothing, and confines no program. SELinux's contexts are not read: on a desktop all programs share one.
    package init?(label: String) {
        guard let open = label.lastIndex(of: "("), label.hasSuffix(")"), label[..<open].hasSuffix(" ") else {
            return nil
        }
        let mode = label[label.index(after: open)...].dropLast()
        let name = label[..<open].dropLast()
        guard ["enforce", "kill", "prompt", "mixed"].contains(mode), !name.isEmpty else { return nil }
        self = .id(String(name))
    }

    /// Reads the mounts of a process; `nil` where they cannot tell which Flatpak program it is although it is one.
    ///
    /// Flatpak mounts `/.flatpak-info` into each of its sandboxes, and the program's own files at `/app`. A sandboxed program
    /// can have another folder put there, so the folder counts only where root alone can have made it. A program that is not
    /// confined can imitate all of this.
    ///
    /// - Parameters:
    ///   - mounts: The mounts of the process (proc_pid_mountinfo(5)).
    ///   - installation: The programs that are installed for the whole machine; asked only for a Flatpak.
    package init?(mounts: String, of installation: @autoclosure () -> FlatpakInstallation?) {
        var isFlatpak = false
        var app: (place: String, device: Substring.UTF8View)?
        // By bytes: in a text, a mark after a space or a line's end would belong to it and hide it.
        for line in mounts.utf8.split(separator: UInt8(ascii: "\n")) {
            // 36 35 98:0 /root /mount-point options … (proc_pid_mountinfo(5))
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count > 4 else { return nil }
            switch String(decoding: fields[4], as: UTF8.self) {
            case "/.flatpak-info": isFlatpak = true
            case "/app": app = (String(decoding: fields[3], as: UTF8.self), Substring(fields[2]).utf8)
            default: break
            }
        }
        guard isFlatpak else {
            self = .none
            return
        }
        guard let app, let id = installation()?.program(at: app.place, on: app.device) else { return nil }
        self = .id("flatpak.\(id)")
    }
}
