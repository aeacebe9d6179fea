// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import WhorlIPC

@Suite struct `The process at the other end` {
    @Test func `is told by the kernel, with its user`() throws {
        let (here, there) = try UnixSocket.pair()
        let user = try PeerUser(of: here)
        #expect(user.uid == geteuid() && user.pid == getpid())
        let process = try #require(PeerProcess(of: here, user))
        #expect(process.pid == getpid() && process.isRunning)
        _ = there
    }

    @Test func `proves itself by repeating a number that it was sent`() throws {
        let (here, _) = try UnixSocket.pair()
        let process = try #require(PeerProcess(challenging: PeerUser(of: here)))
        let question = try #require(process.question)
        #expect(process.isProven(by: question, from: getpid()))
        #expect(!process.isProven(by: question &+ 1, from: getpid()))
        // Another process repeats the right number: the kernel names that one as the sender.
        #expect(!process.isProven(by: question, from: getppid()))
        #expect(!process.isProven(by: question, from: 0))
    }

    @Test func `is not believed once it has ended`() throws {
        let child = Process()
        child.executableURL = URL(filePath: "/bin/sleep")
        child.arguments = ["60"]
        try child.run()
        let pid = child.processIdentifier
        let user = try childUser(pid)
        let process = try #require(PeerProcess(challenging: user))
        let question = try #require(process.question)
        #expect(process.isProven(by: question, from: pid))
        kill(pid, SIGKILL)
        child.waitUntilExit()
        #expect(!process.isRunning)
        #expect(!process.isProven(by: question, from: pid))
        #expect(PeerProcess(challenging: user) == nil)
    }

    @Test func `is not known by number 0, which names no process here`() throws {
        let (here, there) = try UnixSocket.pair()
        #expect(PeerProcess(of: here, PeerUser(uid: geteuid(), gid: getegid(), pid: 0)) == nil)
        _ = there
    }

    @Test func `proves itself over a connection, and answers for no other`() async throws {
        try await apart {
            let service = try TestService()
            let client = try RawClient(service)
            client.send(#"{"method":"io.whorl.Connection.Challenge"}"#)
            let reply = try #require(client.receive())
            // Where the kernel names the process there is nothing to prove.
            if let question = reply.firstMatch(of: /"question":"([0-9a-f]+)"/) {
                client.send(
                    #"{"method":"io.whorl.Connection.Prove","parameters":{"answer":"\#(question.1)"}}"#
                )
                #expect(client.receive()?.contains("error") == false)
            }
            client.send(#"{"method":"org.example.test.Asker"}"#)
            #expect(client.receive()?.contains(#""pid":\#(getpid())"#) == true)
        }
    }

    @Test(arguments: ["", "zz", "0"]) func `is refused when the answer is wrong`(answer: String) throws {
        let (here, _) = try UnixSocket.pair()
        let process = try #require(PeerProcess(challenging: PeerUser(of: here)))
        #expect(UInt64(answer, radix: 16).map { process.isProven(by: $0, from: getpid()) } != true)
    }

    /// The user of a child, as its connection would show it.
    private func childUser(_ pid: Int32) throws -> PeerUser {
        PeerUser(uid: geteuid(), gid: getegid(), pid: pid)
    }
}
