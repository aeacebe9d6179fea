// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization
import Testing
import WhorlIPC
import WhorlRemote
import WhorlService

@testable import WhorlCallers

@Suite struct `The confinement of a program` {
    private static let flatpak = """
        700 600 0:60 / / ro,nosuid,nodev,relatime - tmpfs tmpfs rw,uid=1000
        701 700 254:0 /usr/lib/flatpak/runtime/org.gnome.Platform/x86_64/44/abc/files /usr ro - ext4 /dev/vda rw
        702 700 254:0 /var/lib/flatpak/app/org.example.Vault/x86_64/stable/0123abc/files /app ro - ext4 /dev/vda rw
        703 700 0:61 /bubblewrap-1 /.flatpak-info ro,nosuid,nodev,relatime - tmpfs tmpfs rw
        """

    /// A machine whose programs of Flatpak are root's, wherever they lie.
    private static func installation(_ isRoots: Bool = true) -> FlatpakInstallation? {
        // The test's machine has no such folder: its file system stands for it.
        FlatpakInstallation(
            mounts:
                "1 0 8:1 / / rw - ext4 d rw\n2 1 254:0 /var/lib/flatpak/app / rw - ext4 d rw\n3 1 0:9 / /run rw - tmpfs t rw"
                .utf8,
            folder: "/",
            isRoots: { _ in isRoots }
        )
    }

    private static func confinement(_ mounts: String, isRoots: Bool = true) -> Confinement? {
        Confinement(mounts: mounts.utf8, of: installation(isRoots))
    }

    @Test(arguments: [
        ("snap.vault.app (enforce)", "snap.vault.app"), ("/usr/bin/man (enforce)", "/usr/bin/man"),
        ("a//&b (enforce)", "a//&b"), ("name with space (kill)", "name with space"),
    ]) func `is a profile of AppArmor that is enforced`(label: String, id: String) {
        #expect(Confinement(label: label) == .id(id))
    }

    @Test(arguments: [
        "unconfined", "chrome (unconfined)", "snap.x.y (complain)", "", "(enforce)", " (enforce)",
        "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023", "_", "x(enforce)", "x (enforce) y",
    ]) func `is none by a label that stops nothing`(label: String) {
        #expect(Confinement(label: label) == nil)
    }

    @Test func `is a Flatpak by its mounts, which only the sandbox can make`() {
        #expect(Self.confinement(Self.flatpak) == .id("flatpak.org.example.Vault"))
    }

    @Test func `is none by the mounts of an ordinary process`() throws {
        let own = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        #expect(Self.confinement(own) == Confinement.none)
    }

    @Test func `is never guessed from half of a Flatpak's mounts`() {
        let lines = Self.flatpak.split(separator: "\n").filter { !$0.contains(" /app ") }
        #expect(Self.confinement(lines.joined(separator: "\n")) == nil)
    }

    // Docs/Security.md: C7
    @Test(arguments: [
        "/files", "/app/a.b/c/files",
        "/home/ada/.local/share/flatpak/app/org.example.Vault/x86_64/stable/0123abc/files",
        "/home/ada/.var/app/org.evil.X/data/app/org.example.Vault/x86_64/stable/0123abc/files",
        "/var/lib/flatpak/app/org.example.Vault/x86_64/stable/../files",
        "/var/lib/flatpak/app/org.example.Vault/x86_64/stable/0123abc/files/share",
        "/var/lib/flatpak/app2/org.example.Vault/x86_64/stable/0123abc/files",
        "/var/lib/flatpak/app/nodots/x86_64/stable/0/files",
        "/var/lib/flatpak/app/a.b\\040c/x86_64/stable/0/files",
    ]) func `is refused to a Flatpak whose files lie in no installation`(place: String) {
        let strange = Self.flatpak.replacing(
            "/var/lib/flatpak/app/org.example.Vault/x86_64/stable/0123abc/files",
            with: place
        )
        #expect(Self.confinement(strange) == nil)
    }

    // Docs/Security.md: C7
    @Test
    func `is refused to a Flatpak whose files their user could write, or which lie on another file system`() {
        #expect(Self.confinement(Self.flatpak, isRoots: false) == nil)
        #expect(Self.confinement(Self.flatpak.replacing("702 700 254:0", with: "702 700 0:99")) == nil)
        #expect(Confinement(mounts: Self.flatpak.utf8, of: nil) == nil)
    }

    @Test func `is refused to every Flatpak on a machine that has installed none for all users`() {
        let own = "1 0 254:0 / / rw - ext4 d rw"
        #expect(FlatpakInstallation(mounts: own.utf8, folder: "/nowhere/flatpak/app") == nil)
        #expect(FlatpakInstallation(mounts: "".utf8, folder: "/") == nil)
    }

    @Test
    func `counts a folder as root's only if root owns it and all above it, and no one else can write there`()
        throws
    {
        #expect(FlatpakInstallation.isRoots("/usr/bin"))
        #expect(!FlatpakInstallation.isRoots("/nowhere"))
        #expect(!FlatpakInstallation.isRoots("/etc/passwd"))
        // Everyone may write to the folder above.
        let above = FileManager.default.temporaryDirectory.appending(path: "whorl-flatpak-\(UUID())")
        let folder = above.appending(path: "app")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: above) }
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: above.path)
        #expect(!FlatpakInstallation.isRoots(folder.path))
    }

    // Docs/Security.md: C7
    @Test func `is unknown in a sandbox with process numbers of its own that is not a Flatpak`() async throws
    {
        let mounts = "1 0 254:0 / / rw - ext4 d rw"
        let alone = try Self.processes(mounts, status: "Name:\tx\nNSpid:\t\(getpid())\n")
        defer { try? FileManager.default.removeItem(at: alone) }
        let callers = Callers(sessions: ScriptedSessions(), processes: alone.path)
        #expect(try await callers.confinement(of: .thisProcess()) == Confinement.none)
        let inside = try Self.processes(mounts, status: "Name:\tx\nNSpid:\t\(getpid())\t2\n")
        defer { try? FileManager.default.removeItem(at: inside) }
        let refusal = await #expect(throws: ServiceRefusal.self) {
            try await Callers(sessions: ScriptedSessions(), processes: inside.path)
                .confinement(of: .thisProcess())
        }
        #expect(refusal?.details["message"]?.contains("sandbox") == true)
    }

    /// A folder of processes with this one in it.
    private static func processes(_ mounts: String, status: String) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-proc-\(UUID())")
        let process = folder.appending(path: "\(getpid())")
        try FileManager.default.createDirectory(at: process, withIntermediateDirectories: true)
        try Data(mounts.utf8).write(to: process.appending(path: "mountinfo"))
        try Data(status.utf8).write(to: process.appending(path: "status"))
        return folder
    }

    @Test func `is refused to mounts that make no sense`() {
        for text in ["x", "1 2 3", Self.flatpak + "\n1 2"] { #expect(Self.confinement(text) == nil) }
    }

    @Test func `is taken from the socket's label first, with no process at all`() async throws {
        let callers = Callers(sessions: ScriptedSessions())
        let snap = try await callers.confinement(of: .unproven(label: .text("snap.vault.app (enforce)")))
        #expect(snap == .id("snap.vault.app"))
    }

    // Docs/Security.md: S7
    @Test(arguments: [PeerLabel.none, .unreadable, .text("unconfined")])
    func `is unknown without a process that has proven itself`(label: PeerLabel) async {
        await #expect(throws: ServiceRefusal.self) {
            try await Callers(sessions: ScriptedSessions()).confinement(of: .unproven(label: label))
        }
    }

    @Test func `is unknown where the process's facts cannot be read, or are larger than expected`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-proc-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = folder.appending(path: "\(getpid())")
        try FileManager.default.createDirectory(at: process, withIntermediateDirectories: true)
        let callers = Callers(sessions: ScriptedSessions(), processes: folder.path) { Self.installation() }
        await #expect(throws: ServiceRefusal.self) { try await callers.confinement(of: .thisProcess()) }
        try Data("NSpid:\t1\t2\n".utf8).write(to: process.appending(path: "status"))
        try Data(Self.flatpak.utf8).write(to: process.appending(path: "mountinfo"))
        #expect(try await callers.confinement(of: .thisProcess()) == .id("flatpak.org.example.Vault"))
        try Data(count: 2 << 20).write(to: process.appending(path: "mountinfo"))
        await #expect(throws: ServiceRefusal.self) { try await callers.confinement(of: .thisProcess()) }
    }

    /// A folder of processes with this one in it, under a label of a security module.
    private static func processes(labeled label: String) throws -> URL {
        let folder = try processes("", status: "NSpid:\t\(getpid())\n")
        let place = folder.appending(path: "\(getpid())/attr")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data((label + "\n").utf8).write(to: place.appending(path: "current"))
        return folder
    }

    // Docs/Security.md: C15b
    @Test(arguments: [
        ("snap.helper.app (enforce)", "unconfined"),
        ("snap.helper.app (enforce)", "snap.helper.app (complain)"),
        ("snap.helper.app (enforce)", "snap.other.app (enforce)"),
        ("unconfined", "snap.helper.app (enforce)"),
        ("", "snap.helper.app (enforce)"),
    ])
    func `is refused from the moment at which the program is confined in another way than when it connected`(
        first: String,
        now: String
    ) async throws {
        let folder = try Self.processes(labeled: now)
        defer { try? FileManager.default.removeItem(at: folder) }
        let callers = Callers(sessions: ScriptedSessions(), processes: folder.path)
        let client = try ServiceClientIdentity.thisProcess(labelBefore: first.isEmpty ? .none : .text(first))
        let refusal = await #expect(throws: ServiceRefusal.self) {
            try await callers.confinement(of: client)
        }
        #expect(refusal?.name == "io.whorl.Connection.NotProven")
        #expect(refusal?.details["recovery"]?.contains("Connect again") == true)
        // So the program has no name either.
        #expect(await callers.caller(client).confinement == nil)
    }

    @Test(arguments: ["snap.helper.app (enforce)", "unconfined"])
    func `stays what it was when the program connected`(label: String) async throws {
        let folder = try Self.processes(labeled: label)
        defer { try? FileManager.default.removeItem(at: folder) }
        let callers = Callers(sessions: ScriptedSessions(), processes: folder.path)
        let client = try ServiceClientIdentity.thisProcess(labelBefore: .text(label))
        #expect(try await callers.confinement(of: client) == Confinement(label: label) ?? Confinement.none)
    }

    // Docs/Security.md: C13p
    @Test func `is looked for in a program's mounts once for each connection`() async throws {
        let folder = try Self.processes(Self.flatpak, status: "NSpid:\t\(getpid())\t2\n")
        defer { try? FileManager.default.removeItem(at: folder) }
        let callers = Callers(sessions: ScriptedSessions(), processes: folder.path) { Self.installation() }
        let client = try ServiceClientIdentity.thisProcess()
        #expect(try await callers.confinement(of: client) == .id("flatpak.org.example.Vault"))
        try Data("1 0 0:9 / / rw - tmpfs t rw\n".utf8)
            .write(to: folder.appending(path: "\(getpid())/mountinfo"))
        #expect(try await callers.confinement(of: client) == .id("flatpak.org.example.Vault"))
        // Another connection finds what is there now.
        await #expect(throws: ServiceRefusal.self) { try await callers.confinement(of: .thisProcess()) }
    }

    // Docs/Security.md: C13p
    @Test func `of a program with the machine's process numbers takes no look at its mounts`() async throws {
        let folder = try Self.processes(Self.flatpak, status: "NSpid:\t\(getpid())\n")
        defer { try? FileManager.default.removeItem(at: folder) }
        // Opening this would wait for a writer.
        let mounts = folder.appending(path: "\(getpid())/mountinfo").path
        #expect(unlink(mounts) == 0 && mkfifo(mounts, 0o600) == 0)
        let callers = Callers(sessions: ScriptedSessions(), processes: folder.path)
        #expect(try await callers.confinement(of: .thisProcess()) == Confinement.none)
    }

    // Docs/Security.md: C13p
    @Test func `mounts are read up to a mebibyte, whatever follows`() async throws {
        let line = "1 0 254:0 / /mnt rw - ext4 d rw\n"
        for count in [1 << 20, (1 << 20) + 1] {
            let text = String(repeating: line, count: count / line.utf8.count - 1)
            let rest = String(repeating: "x", count: count - text.utf8.count - 14)
            let folder = try Self.processes(
                text + "1 0 0:9 / /\(rest) r\n",
                status: "NSpid:\t\(getpid())\t2\n"
            )
            defer { try? FileManager.default.removeItem(at: folder) }
            let sandbox = ProcessFacts(pid: getpid(), folder: folder.path).sandbox { nil }
            #expect(sandbox == (count > 1 << 20 ? .unreadable : .unknown))
        }
    }

    // Docs/Security.md: C13p
    @Test(.timeLimit(.minutes(1)))
    func `a look that takes long keeps only programs of the same user waiting`() async throws {
        let looks = ProcessInspections()
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let gate = Gate()
        let long = Task {
            await looks.look(for: 1000) {
                begin.finish()
                gate.pass()
            }
        }
        for await _ in begun {}
        let second = Task { await looks.look(for: 1000) { gate.isPassed } }
        // As many users as the shared pool has threads, and more.
        for uid in UInt32(2000)..<2064 { #expect(await looks.look(for: uid) { true }) }
        #expect(!gate.isPassed)
        gate.open()
        #expect(await second.value)
        await long.value
        #expect(looks.users == 0)
    }

    // Docs/Security.md: S54
    @Test func `a name that is no text is repaired, and hides no process`() async throws {
        let folder = try Self.processes("", status: "NSpid:\t\(getpid())\n")
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("ev".utf8 + [0xFF, 0xFE] + "il\n".utf8)
            .write(to: folder.appending(path: "\(getpid())/comm"))
        let callers = Callers(sessions: ScriptedSessions(), processes: folder.path)
        #expect(await callers.caller(try .thisProcess()).asker?.process == "ev\u{FFFD}\u{FFFD}il")
    }

    @Test func `facts of a process are read from the kernel's files, and only those that are there`() throws {
        let own = ProcessFacts(pid: getpid())
        #expect(own.name != nil && own.startTime != nil)
        #expect(own.isInNamespace != nil && own.sandbox { nil } != .unreadable)
        let none = ProcessFacts(pid: Int32.max)
        #expect(none.name == nil && none.unit == nil && none.startTime == nil)
        #expect(none.sandbox { nil } == .unreadable)
    }

    @Test(arguments: [
        ("0::/user.slice/user-1000.slice/session-2.scope\n", true),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.service\n", true),
        ("9:name=systemd:/user.slice/user-7.slice/session-c1.scope\n8:pids:/\n", true),
        ("0::/system.slice/greetd.service\n", false), ("0::/init.scope\n", false), ("0::/\n", false),
    ])
    func `a process may be in an account's slice as its control groups say`(_ groups: String, _ may: Bool)
        throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-proc-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appending(path: "7"),
            withIntermediateDirectories: true
        )
        #expect(ProcessFacts(pid: 7, folder: folder.path).mayBeInUserSlice)
        try Data(groups.utf8).write(to: folder.appending(path: "7/cgroup"))
        #expect(ProcessFacts(pid: 7, folder: folder.path).mayBeInUserSlice == may)
    }
}

/// A gate at which a thread waits until it is opened.
private final class Gate: Sendable {
    private let opening = DispatchSemaphore(value: 0)
    private let passed = Mutex(false)

    var isPassed: Bool { passed.withLock(\.self) }

    func pass() {
        opening.wait()
        passed.withLock { $0 = true }
    }

    func open() { opening.signal() }
}
