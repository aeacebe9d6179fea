// SPDX-License-Identifier: Apache-2.0

import CWhorlSocket
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

    @Test func `is taken from a descriptor of it that was passed, and from no other descriptor`() throws {
        let child = Process()
        child.executableURL = URL(filePath: "/bin/sleep")
        child.arguments = ["60"]
        try child.run()
        let pid = child.processIdentifier
        func handle() -> Descriptor { Descriptor(owning: whorl_pidfd_open(pid)) }
        let process = try #require(PeerProcess(passed: handle()))
        #expect(process.pid == pid && process.isRunning && process.question == nil)
        let late = handle()
        kill(pid, SIGKILL)
        child.waitUntilExit()
        #expect(!process.isRunning && PeerProcess(passed: late) == nil)

        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let named = folder.appending(path: "anon_inode:[pidfd]").path
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let others = [
            open(named, O_RDWR | O_CREAT, 0o600), open("/proc/\(getpid())", O_RDONLY),
            open("/proc/self/status", O_RDONLY),
            ends[0], ends[1], whorl_memfd_create("anon_inode:[pidfd]"), whorl_watch_make(),
        ]
        for other in others {
            try #require(other >= 0)
            #expect(PeerProcess(passed: Descriptor(owning: other)) == nil)
        }
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

    // Docs/Security.md: C15c
    @Test func `sends no message once it has ended, whoever has its number then`() throws {
        let child = Process()
        child.executableURL = URL(filePath: "/bin/sleep")
        child.arguments = ["60"]
        try child.run()
        let pid = child.processIdentifier
        let process = try #require(PeerProcess(challenging: childUser(pid)))
        #expect(process.hasSent(pid) && !process.hasSent(pid + 1) && !process.hasSent(0))
        kill(pid, SIGKILL)
        child.waitUntilExit()
        #expect(!process.hasSent(pid))
    }

    // Docs/Security.md: C15c
    @Test func `has ended before the service looked, and another has its connection, which gets no answer`()
        async throws
    {
        try await apart {
            let service = try TestService()
            // It connects, hands the connection on, and ends.
            let (here, there) = try UnixSocket.pair()
            let child = Process()
            child.executableURL = URL(filePath: "/usr/bin/python3")
            child.arguments = [
                "-c",
                """
                import array, socket, sys
                made = socket.socket(socket.AF_UNIX)
                made.connect(sys.argv[1])
                socket.socket(fileno=0).sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [made.fileno()]))])
                """, service.path,
            ]
            child.standardInput = FileHandle(fileDescriptor: there.number, closeOnDealloc: false)
            try child.run()
            child.waitUntilExit()
            try #require(child.terminationStatus == 0)
            var byte: UInt8 = 0
            var control = whorl_control()
            try #require(whorl_receive(here.number, &byte, 1, &control) == 1 && control.descriptor_count == 1)
            let client = RawClient(over: Descriptor(owning: control.descriptors.0))
            client.send(#"{"method":"org.example.test.Asker"}"#)
            #expect(client.receive()?.contains("io.whorl.Connection.NotProven") == true)
        }
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

    // Docs/Security.md: C15b
    @Test func `is the only one that is served over its connection`() async throws {
        try await apart {
            let service = try TestService()
            let client = try RawClient(service)
            try Self.prove(client)
            let call = #"{"method":"org.example.test.Asker"}"#
            try Self.sendApart(call, over: client.socket)
            #expect(client.receive()?.contains("io.whorl.Connection.NotProven") == true)
            // The process itself goes on.
            client.send(call)
            #expect(client.receive()?.contains(#""pid":\#(getpid())"#) == true)
            // A message of which another process has sent a part counts as that one's.
            client.send(Array(call.utf8.prefix(10)))
            try Self.sendApart(String(call.dropFirst(10)), over: client.socket)
            #expect(client.receive()?.contains("io.whorl.Connection.NotProven") == true)
            try Self.sendApart(String(call.prefix(10)), over: client.socket, isWhole: false)
            client.send(String(call.dropFirst(10)))
            #expect(client.receive()?.contains("io.whorl.Connection.NotProven") == true)
        }
    }

    @Test func `is named with its first message, also where that came before the service looked`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-ipc-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "s").path
        let listener = try UnixSocket.listen(at: path)
        try UnixSocket.tellSenders(on: listener)
        let client = try UnixSocket.connect(to: path)
        let socket = try #require(try UnixSocket.accept(from: listener))
        // Nothing has been asked for on the connection itself.
        var byte: UInt8 = 1
        #expect(send(client.number, &byte, 1, 0) == 1)
        var control = whorl_control()
        #expect(whorl_receive(socket.number, &byte, 1, &control) == 1)
        #expect(control.sender == getpid())
    }

    @Test func `is named on both ends of a pair`() throws {
        let (first, second) = try UnixSocket.pair()
        for (from, to) in [(first, second), (second, first)] {
            var byte: UInt8 = 1
            #expect(send(from.number, &byte, 1, 0) == 1)
            try UnixSocket.tellSenders(on: to)
            var control = whorl_control()
            #expect(whorl_receive(to.number, &byte, 1, &control) == 1)
            #expect(control.sender == getpid())
        }
    }

    @Test func `has the label that the kernel's file says, in one line`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-proc-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = folder.appending(path: "7/attr")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        #expect(PeerLabel(ofProcess: 7, in: folder.path) == .none)
        let cases: [([UInt8], PeerLabel)] = [
            (Array("a (enforce)\n".utf8), .text("a (enforce)")),
            (Array("a\n (enforce)".utf8), .text("a\n (enforce)")),
            (Array("unconfined\0".utf8), .text("unconfined")), ([0xFF], .unreadable),
            ([UInt8](repeating: 97, count: 5000), .unreadable),
        ]
        for (bytes, label) in cases {
            try Data(bytes).write(to: place.appending(path: "current"))
            #expect(PeerLabel(ofProcess: 7, in: folder.path) == label)
        }
    }

    /// Proves this process, where the kernel does not name it.
    private static func prove(_ client: RawClient) throws {
        client.send(#"{"method":"io.whorl.Connection.Challenge"}"#)
        let reply = try #require(client.receive())
        guard let question = reply.firstMatch(of: /"question":"([0-9a-f]+)"/) else { return }
        client.send(#"{"method":"io.whorl.Connection.Prove","parameters":{"answer":"\#(question.1)"}}"#)
        #expect(client.receive()?.contains("error") == false)
    }

    /// Sends a message over a connection from a process of its own.
    private static func sendApart(_ text: String, over socket: Descriptor, isWhole: Bool = true) throws {
        let child = Process()
        child.executableURL = URL(filePath: "/bin/sh")
        child.arguments = ["-c", #"printf '%s'"$2" "$1""#, "sh", text, isWhole ? #"\0"# : ""]
        child.standardOutput = FileHandle(fileDescriptor: socket.number, closeOnDealloc: false)
        try child.run()
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
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
