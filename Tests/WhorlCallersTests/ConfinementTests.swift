// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlIPC
import WhorlRemote

@testable import WhorlCallers

@Suite struct `The confinement of a program` {
    private static let flatpak = """
        700 600 0:60 / / ro,nosuid,nodev,relatime - tmpfs tmpfs rw,uid=1000
        701 700 254:0 /usr/lib/flatpak/runtime/org.gnome.Platform/x86_64/44/abc/files /usr ro - ext4 /dev/vda rw
        702 700 254:0 /var/lib/flatpak/app/org.example.Vault/x86_64/stable/0123abc/files /app ro - ext4 /dev/vda rw
        703 700 0:61 /bubblewrap-1 /.flatpak-info ro,nosuid,nodev,relatime - tmpfs tmpfs rw
        """

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
        #expect(Confinement(mounts: Self.flatpak) == .id("flatpak.org.example.Vault"))
    }

    @Test func `is none by the mounts of an ordinary process`() throws {
        let own = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
        #expect(Confinement(mounts: own) == Confinement.none)
    }

    @Test(arguments: ["/.flatpak-info", "/app"]) func `is never guessed from half of a Flatpak's mounts`(
        missing: String
    ) {
        let lines = Self.flatpak.split(separator: "\n").filter { !$0.contains(" \(missing) ") }
        #expect(Confinement(mounts: lines.joined(separator: "\n")) == nil)
    }

    @Test(arguments: [
        "/files", "/app/a.b/c/files",
        "/var/lib/flatpak/app/nodots/x86_64/stable/0/files",
        "/var/lib/flatpak/app/a.b\\040c/x86_64/stable/0/files",
    ]) func `is refused to a Flatpak whose files lie in no installation`(place: String) {
        let strange = Self.flatpak.replacing(
            "/var/lib/flatpak/app/org.example.Vault/x86_64/stable/0123abc/files",
            with: place
        )
        #expect(Confinement(mounts: strange) == nil)
    }

    @Test func `is refused to mounts that make no sense`() {
        for text in ["x", "1 2 3", Self.flatpak + "\n1 2"] { #expect(Confinement(mounts: text) == nil) }
    }

    @Test func `is taken from the socket's label first, with no process at all`() throws {
        let callers = Callers(sessions: ScriptedSessions())
        let snap = try callers.confinement(of: .unproven(label: .text("snap.vault.app (enforce)")))
        #expect(snap == .id("snap.vault.app"))
    }

    @Test(arguments: [PeerLabel.none, .unreadable, .text("unconfined")])
    func `is unknown without a process that has proven itself`(label: PeerLabel) {
        #expect(throws: ServiceRefusal.self) {
            try Callers(sessions: ScriptedSessions()).confinement(of: .unproven(label: label))
        }
    }

    @Test func `is unknown where the process's facts cannot be read`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-proc-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = folder.appending(path: "\(getpid())")
        try FileManager.default.createDirectory(at: process, withIntermediateDirectories: true)
        let callers = Callers(sessions: ScriptedSessions(), processes: folder.path)
        #expect(throws: ServiceRefusal.self) { try callers.confinement(of: .thisProcess()) }
        try Data(Self.flatpak.utf8).write(to: process.appending(path: "mountinfo"))
        #expect(try callers.confinement(of: .thisProcess()) == .id("flatpak.org.example.Vault"))
        try Data(count: 2 << 20).write(to: process.appending(path: "mountinfo"))
        #expect(throws: ServiceRefusal.self) { try callers.confinement(of: .thisProcess()) }
    }

    @Test func `facts of a process are read from the kernel's files, and only those that are there`() throws {
        let own = ProcessFacts(pid: getpid())
        #expect(own.name != nil && own.startTime != nil)
        #expect(own.mounts != .none && own.mounts != .unreadable)
        let none = ProcessFacts(pid: Int32.max)
        #expect(none.name == nil && none.unit == nil && none.startTime == nil && none.mounts == .none)
    }
}
