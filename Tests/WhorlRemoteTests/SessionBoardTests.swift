// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlService

@testable import WhorlIPC
@testable import WhorlRemote

/// A session belongs to the process and the login session that began it.
@Suite("A session at the service")
struct SessionBoardTests {
    /// This process, or another one, as a connection of it looks to the service.
    private func client(_ pid: Int32 = getpid(), uid: UInt32 = getuid()) throws -> ServiceClientIdentity {
        let user = PeerUser(uid: uid, gid: getgid(), pid: pid)
        let process = PeerProcess(challenging: user)
        return ServiceClientIdentity(user: user, process: process, label: .none)
    }

    private func shown(_ session: OwnerSession?) -> String? { session?.content(as: String.self) }

    private func show(_ session: OwnerSession?) {
        guard let session else { return }
        session.add(since: session.visit()) { (_: String?) in "shown" }
    }

    @Test func `is found by its process and its id alone, until it ends`() throws {
        let board = SessionBoard()
        let own = try client()
        let id = board.begin(for: own, in: "2")
        #expect(board.session(id, of: try client(), in: "2") != nil)
        let other = (id.first == "0" ? "1" : "0") + id.dropFirst()
        #expect(board.session(other, of: own, in: "2") == nil)
        #expect(board.session(nil, of: own, in: "2") == nil)
        #expect(board.session(id, of: try client(uid: getuid() &+ 1), in: "2") == nil)
        let session = board.session(id, of: own, in: "2")
        show(session)
        board.end(id)
        #expect(board.session(id, of: own, in: "2") == nil && shown(session) == nil)
    }

    // Docs/Security.md: C2a
    @Test func `is no session to another process of the same user, or to one that is not known`() throws {
        let board = SessionBoard()
        let id = board.begin(for: try client(), in: nil)
        let child = Process()
        child.executableURL = URL(filePath: "/bin/sleep")
        child.arguments = ["600"]
        try child.run()
        defer { kill(child.processIdentifier, SIGKILL) }
        #expect(board.session(id, of: try client(child.processIdentifier), in: nil) == nil)
        let user = try client().user
        let unknown = ServiceClientIdentity(user: user, process: nil, label: .none)
        #expect(board.session(id, of: unknown, in: nil) == nil)
        let begunUnknown = board.begin(for: unknown, in: nil)
        #expect(board.session(begunUnknown, of: unknown, in: nil) == nil)
    }

    // Docs/Security.md: C13a
    @Test func `for an SSH key is one of sixteen of its user, and goes with the key`() throws {
        let board = SessionBoard()
        let own = try client()
        func session(_ number: Int, key: UInt8 = 1, in place: String? = "2") throws -> OwnerSession? {
            let id = ItemID(.sshKey, try ItemName("key \(number)"), of: "ada")
            return board.session(for: SSHKeyName(id, publicKey: Data([key])), of: own, in: place)
        }
        show(try session(0))
        #expect(try shown(session(0)) == "shown")
        #expect(try shown(session(0, key: 2)) == nil)
        #expect(try shown(session(0, in: "3")) == nil)
        for number in 1..<100 { show(try session(number)) }
        #expect(try shown(session(84)) == "shown")
        #expect(try shown(session(83)) == nil)
        board.forget(ItemID(.sshKey, try ItemName("key 99"), of: "ada"))
        #expect(try shown(session(99)) == nil)
        #expect(try shown(session(98)) == "shown")
        board.forget(in: "2")
        #expect(try shown(session(98)) == nil)
        let unknown = ServiceClientIdentity(user: own.user, process: nil, label: .none)
        let id = ItemID(.sshKey, try ItemName("key 1"), of: "ada")
        #expect(board.session(for: SSHKeyName(id, publicKey: Data()), of: unknown, in: nil) == nil)
    }

    @Test func `ends with its process, whose number then means another one`() async throws {
        let board = SessionBoard()
        let child = Process()
        child.executableURL = URL(filePath: "/bin/sleep")
        child.arguments = ["600"]
        try child.run()
        let first = try client(child.processIdentifier)
        let id = board.begin(for: first, in: nil)
        #expect(board.session(id, of: first, in: nil) != nil)
        kill(child.processIdentifier, SIGKILL)
        while first.process?.isRunning == true { try await Task.sleep(for: .milliseconds(5)) }
        #expect(board.session(id, of: first, in: nil) == nil)
    }

    @Test
    func `forgets what was shown when its process comes to another login session, or the place is locked`()
        throws
    {
        let board = SessionBoard()
        let own = try client()
        let id = board.begin(for: own, in: "2")
        show(board.session(id, of: own, in: "2"))
        #expect(shown(board.session(id, of: own, in: "2")) == "shown")
        #expect(shown(board.session(id, of: own, in: "3")) == nil)
        #expect(shown(board.session(id, of: own, in: "2")) == nil)
        show(board.session(id, of: own, in: "2"))
        board.forget(in: "4")
        #expect(shown(board.session(id, of: own, in: "2")) == "shown")
        board.forget(in: "2")
        #expect(shown(board.session(id, of: own, in: "2")) == nil)
        show(board.session(id, of: own, in: "2"))
        board.forget()
        #expect(shown(board.session(id, of: own, in: "2")) == nil)
    }
}
