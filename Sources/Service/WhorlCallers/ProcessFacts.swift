// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlIPC
package import WhorlRemote

/// The facts that the kernel tells about another process (proc(5)), each bounded in size.
///
/// A number can come to mean another process: who reads facts looks afterwards whether the process still runs.
struct ProcessFacts: Sendable {
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

    /// Whether the process is in a unit of polkit's helper that the system's service manager has started (polkit 127).
    ///
    /// The whole path counts: units of a user's own manager may have any name.
    var isPolkitHelper: Bool {
        let lines = text("cgroup", most: 8192)?.split(separator: "\n")
        guard let path = lines?.last(where: { $0.hasPrefix("0::/") })?.dropFirst(4).split(separator: "/"),
            path.count == 3
        else { return false }
        return path[0] == "system.slice" && path[1] == #"system-polkit\x2dagent\x2dhelper.slice"#
            && path[2].hasPrefix("polkit-agent-helper@") && path[2].hasSuffix(".service")
    }

    /// Whether the process may be in the slice of an account, such as `user-1000.slice`; `true` where that cannot be told.
    var mayBeInUserSlice: Bool { text("cgroup", most: 16_384)?.contains("/user-") ?? true }

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

    /// The capabilities that a program of an ordinary user may have, as bits (capabilities(7)).
    ///
    /// systemd 254 and newer give CAP_WAKE_ALARM (35) to sessions. Some distributions give CAP_SYS_NICE (23) to the files of
    /// desktops, such as gnome-shell, which is polkit's agent. Neither opens a file, or acts on another user's process.
    private static let ordinaryCapabilities: UInt64 = 1 << 35 | 1 << 23

    /// Whether the process has the rights of one user, and no more: its real, effective, saved and file-system user, its groups,
    /// and its capabilities, as they are at one moment.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - groups: The user's groups.
    /// - Returns: `false` also where that cannot be told.
    func belongsOnly(to user: UInt32, in groups: Set<UInt32>) -> Bool {
        guard let lines = text("status", most: 16_384)?.split(separator: "\n") else { return false }
        /// The words behind a name; `nil` without such a line.
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

    /// Whether the process has numbers of its own, in a process namespace below this one, as in a sandbox or a container;
    /// `nil` where that cannot be told.
    ///
    /// It stays as it is for as long as a process runs: only its children can come to be in another namespace.
    var isInNamespace: Bool? {
        let lines = text("status", most: 16_384)?.split(separator: "\n")
        // A kernel without such namespaces has no such line.
        return lines.map { lines in
            lines.first { $0.hasPrefix("NSpid:") }.map { $0.split(separator: "\t").count > 2 } ?? false
        }
    }

    /// The sandbox that the process is in, of which the service knows Flatpak's.
    ///
    /// - Parameter flatpak: Returns the Flatpak programs that are installed for the whole machine.
    /// - Returns: The sandbox.
    func sandbox(_ flatpak: () -> FlatpakInstallation?) -> Sandbox {
        guard let isInNamespace else { return .unreadable }
        // A sandbox that shares the machine's process numbers counts as none, whatever its mounts are.
        guard isInNamespace else { return .none }
        guard let mounts = KernelFile(path("mountinfo"), most: Self.mostMounts) else { return .unreadable }
        let found = Confinement(mounts: mounts, of: flatpak())
        guard mounts.isWhole else { return .unreadable }
        guard case .id(let id) = found else { return .unknown }
        return .program(id)
    }

    /// The most bytes of a process's list of mounts that are read: a Flatpak has some hundred mounts, of 100 bytes each.
    static let mostMounts = 1 << 20

    private func path(_ file: String) -> String { "\(folder)/\(pid)/\(file)" }

    /// Reads a file; bytes that are no text are repaired, so that a name of them does not hide the process.
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

/// The facts that one look at a caller's process has found; they are that process's if it runs afterwards.
struct ProcessInspection: Sendable {
    /// The label of the process; `none` where the socket has one, or the kernel keeps none.
    let label: PeerLabel
    let sandbox: Sandbox
    let name: String?
    let unit: String?
    /// The user who started it, of a process with root's rights alone.
    let starter: UInt32?
}

/// The sandbox of a process, apart from a security module's.
enum Sandbox: Sendable, Hashable {
    /// The process is in none.
    case none
    /// The process is the program's with this id.
    case program(String)
    /// The process is in a sandbox whose program cannot be told.
    case unknown
    /// The facts of the process cannot be read, or are larger than any that are expected.
    case unreadable
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
