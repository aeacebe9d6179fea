// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlIPC
package import WhorlRemote

/// Facts about another process that the kernel provides (proc(5)), each limited in size.
///
/// Because a process ID can be reused, check after reading facts that the process is still running.
struct ProcessFacts: Sendable {
    let pid: Int32
    /// The folder with all processes; tests can replace it.
    var folder = "/proc"

    /// The name of the process.
    var name: String? { text("comm", most: 64) }

    /// The systemd unit that the process belongs to, which is the last unit in the path of its control group.
    var unit: String? {
        guard
            let line = text("cgroup", most: 8192)?.split(separator: "\n").last(where: { $0.hasPrefix("0::") })
        else { return nil }
        return line.split(separator: "/").map(String.init).last {
            $0.hasSuffix(".service") || $0.hasSuffix(".scope")
        }
    }

    /// Whether the process runs in a unit of polkit's helper that the system's service manager has started (polkit
    /// 127).
    ///
    /// The entire path is compared, because units of a user's own manager may have any name.
    var isPolkitHelper: Bool {
        let lines = text("cgroup", most: 8192)?.split(separator: "\n")
        guard let path = lines?.last(where: { $0.hasPrefix("0::/") })?.dropFirst(4).split(separator: "/"),
            path.count == 3
        else { return false }
        return path[0] == "system.slice" && path[1] == #"system-polkit\x2dagent\x2dhelper.slice"#
            && path[2].hasPrefix("polkit-agent-helper@") && path[2].hasSuffix(".service")
    }

    /// Whether the process may be in the slice of an account, such as `user-1000.slice`; `true` if this is unknown.
    var mayBeInUserSlice: Bool { text("cgroup", most: 16_384)?.contains("/user-") ?? true }

    /// The time when the process was started, in ticks since boot.
    var startTime: UInt64? {
        // The name, in parentheses, may contain anything.
        guard let fields = text("stat", most: 4096)?.split(separator: ")").last?.split(separator: " "),
            fields.count > 19
        else { return nil }
        return UInt64(fields[19])
    }

    /// The user ID of the user who started the process, which stays the same in a set-user-ID program.
    var realUser: UInt32? {
        let lines = text("status", most: 16_384)?.split(separator: "\n")
        guard let line = lines?.first(where: { $0.hasPrefix("Uid:") }) else { return nil }
        return line.split(separator: "\t").dropFirst().first.flatMap { UInt32($0) }
    }

    /// The capabilities that an ordinary user's program may have, as bits (capabilities(7)).
    ///
    /// systemd 254 and later grant CAP_WAKE_ALARM (35) to sessions. Some distributions grant CAP_SYS_NICE (23) to
    /// desktop programs, such as gnome-shell, which is polkit's agent. Neither capability allows opening files or
    /// acting on another user's process.
    private static let ordinaryCapabilities: UInt64 = 1 << 35 | 1 << 23

    /// Returns whether the process has the rights of one user and no others, according to its user IDs (real,
    /// effective, saved and file-system), groups and capabilities at one moment.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - groups: The user's groups.
    /// - Returns: Whether the process has only that user's rights; `false` if this is unknown.
    func belongsOnly(to user: UInt32, in groups: Set<UInt32>) -> Bool {
        guard let lines = text("status", most: 16_384)?.split(separator: "\n") else { return false }
        /// Returns the words after a name; `nil` if there is no line with that name.
        func words(_ name: String) -> [Substring]? {
            lines.first { $0.hasPrefix(name) }?.dropFirst(name.count).split { $0 == "\t" || $0 == " " }
        }
        func areWithin(_ words: [Substring]) -> Bool {
            words.allSatisfy { word in UInt32(word).map(groups.contains) == true }
        }
        guard let users = words("Uid:"), users.count == 4, users.allSatisfy({ UInt32($0) == user }),
            let own = words("Gid:"), own.count == 4, areWithin(own),
            let others = words("Groups:"), areWithin(others)
        else { return false }
        // Root's programs have all capabilities.
        return user == 0
            || ["CapPrm:", "CapEff:"].allSatisfy { name in
                guard let words = words(name), words.count == 1, let bits = UInt64(words[0], radix: 16) else {
                    return false
                }
                return bits & ~Self.ordinaryCapabilities == 0
            }
    }

    /// Whether the process is in a nested PID namespace, as in a sandbox or a container; `nil` if this is unknown.
    ///
    /// This does not change while a process is running, because only its children can enter another namespace.
    var isInNamespace: Bool? {
        let lines = text("status", most: 16_384)?.split(separator: "\n")
        // A kernel without such namespaces has no such line.
        return lines.map { lines in
            lines.first { $0.hasPrefix("NSpid:") }.map { $0.split(separator: "\t").count > 2 } ?? false
        }
    }

    /// Returns the sandbox of the process.
    ///
    /// The service recognizes only Flatpak's sandboxes.
    ///
    /// - Parameter flatpak: Returns the Flatpak programs that are installed system-wide.
    /// - Returns: The sandbox.
    func sandbox(_ flatpak: () -> FlatpakInstallation?) -> Sandbox {
        guard let isInNamespace else { return .unreadable }
        // A sandbox in the machine's PID namespace does not count, whatever its mounts are.
        guard isInNamespace else { return .none }
        guard let mounts = KernelFile(path("mountinfo"), most: Self.mostMounts) else { return .unreadable }
        let found = Confinement(mounts: mounts, of: flatpak())
        guard mounts.isWhole else { return .unreadable }
        guard case .id(let id) = found else { return .unknown }
        return .program(id)
    }

    /// The maximum size of a process's list of mounts, in bytes; a Flatpak program has a few hundred mounts of about
    /// 100 bytes each.
    static let mostMounts = 1 << 20

    private func path(_ file: String) -> String { "\(folder)/\(pid)/\(file)" }

    /// Returns the text of a file.
    ///
    /// Invalid UTF-8 is repaired, so that a process cannot hide its facts by choosing an invalid name.
    private func text(_ file: String, most: Int) -> String? {
        guard let contents = KernelFile(path(file), most: most) else { return nil }
        let bytes = Array(contents)
        guard contents.isWhole else { return nil }
        return String(
            decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...],
            as: UTF8.self
        )
    }
}

/// The facts from one examination of a caller's process, which are valid if the process is still running afterwards.
struct ProcessInspection: Sendable {
    /// The label of the process; `none` if the socket already has a label or the kernel does not label processes.
    let label: PeerLabel
    let sandbox: Sandbox
    let name: String?
    let unit: String?
    /// The user who started the process; set only if it has root privileges.
    let starter: UInt32?
}

/// The sandbox of a process, other than confinement by a security module.
enum Sandbox: Sendable, Hashable {
    /// The process is not in a sandbox.
    case none
    /// The process runs in the sandbox of the program with this ID.
    case program(String)
    /// The process runs in a sandbox whose program is unknown.
    case unknown
    /// The facts of the process cannot be read, or are larger than expected.
    case unreadable
}

extension Confinement {
    /// Creates the confinement from a security module's label; returns `nil` if the label does not mean confinement by
    /// a profile.
    ///
    /// AppArmor labels, including those of snaps, contain the profile and its mode: `snap.vault.app (enforce)`. A
    /// profile in complain mode is ignored, because it does not restrict the program. SELinux contexts are ignored,
    /// because all programs on a desktop share the same one.
    package init?(label: String) {
        guard let open = label.lastIndex(of: "("), label.hasSuffix(")"), label[..<open].hasSuffix(" ") else {
            return nil
        }
        let mode = label[label.index(after: open)...].dropLast()
        let name = label[..<open].dropLast()
        guard ["enforce", "kill", "prompt", "mixed"].contains(mode), !name.isEmpty else { return nil }
        self = .id(String(name))
    }

    /// Creates the confinement from a process's mounts; returns `nil` if it is a Flatpak program, but unknown which
    /// one.
    ///
    /// Flatpak mounts `/.flatpak-info` into each of its sandboxes, and the program's files at `/app`. A sandboxed
    /// program can get another folder mounted there, so the folder is trusted only if no user other than root could
    /// have created it. A program that is not confined can imitate all of this.
    ///
    /// - Parameters:
    ///   - mounts: The mounts of the process (proc_pid_mountinfo(5)).
    ///   - installation: The programs that are installed system-wide; evaluated only for a Flatpak program.
    package init?(mounts: some Sequence<UInt8>, of installation: @autoclosure () -> FlatpakInstallation?) {
        var (isFlatpak, makesSense) = (false, true)
        var app: (place: String, device: [UInt8])?
        mounts.forEachLine { line in
            guard let mount = Mount(line) else {
                makesSense = false
                return false
            }
            if mount.point.elementsEqual("/.flatpak-info".utf8) { isFlatpak = true }
            if mount.point.elementsEqual("/app".utf8) {
                app = (String(decoding: mount.root, as: UTF8.self), Array(mount.device))
            }
            return true
        }
        guard makesSense else { return nil }
        guard isFlatpak else {
            self = .none
            return
        }
        guard let app, let id = installation()?.program(at: app.place, on: app.device) else { return nil }
        self = .id("flatpak.\(id)")
    }
}
