// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import WhorlSecretMemory
import Testing
import WhorlSupport

@testable import WhorlIPC

private typealias Words = TestService.Words
private typealias Count = TestService.Count
private typealias Place = TestService.Place

@Suite struct `A service on a socket` {
    @Test func `answers calls of one connection in their order`() async throws {
        let service = try TestService()
        let client = try service.connect()
        for number in 0..<100 {
            let reply: ServiceConnection.Reply<Words> = try await client.call(
                "org.example.test.Echo",
                Words(text: "\(number)\0ä")
            )
            #expect(reply.parameters == Words(text: "\(number)\0ä"))
        }
        let path = service.path
        try await apart {
            let raw = try RawClient(path)
            for number in 0..<10 {
                raw.send(#"{"method":"org.example.test.Echo","parameters":{"text":"\#(number)"}}"#)
            }
            for number in 0..<10 { #expect(raw.receive() == #"{"parameters":{"text":"\#(number)"}}"#) }
        }
    }

    @Test func `sends updates to a caller that asks for them, and else the reply alone`() async throws {
        let service = try TestService()
        let client = try service.connect()
        var seen: [Int] = []
        let reply: ServiceConnection.Reply<Count> = try await client.call(
            "org.example.test.Count",
            Count(number: 5)
        ) { seen.append($0.number) }
        #expect(seen == [1, 2, 3, 4] && reply.parameters.number == 5)
        let quiet: ServiceConnection.Reply<Count> = try await client.call(
            "org.example.test.Count",
            Count(number: 5)
        )
        #expect(quiet.parameters.number == 5)
    }

    /// A socket whose other end gave a refusal and closed before it read anything.
    private func refusedSocket(_ refusal: ServiceRefusal) throws -> Descriptor {
        let (own, other) = try UnixSocket.pair()
        // Bytes that stay unread: the kernel then says that the connection was reset.
        #expect(write(own.number, "{", 1) == 1)
        Channel.say(refusal, on: other)
        return own
    }

    @Test func `that refuses and closes before it has read a call is heard`() async throws {
        let refusal = ServiceRefusal("org.example.test.Refused", ["why": "no"])
        var blocking = BlockingCall(try refusedSocket(refusal))
        #expect(throws: ServiceCallError.refused(refusal)) {
            let _: CallReply<Words> = try blocking.call("org.example.test.Echo", Words(text: "x"))
        }
        let channel = Channel(try refusedSocket(refusal))
        let (messages, sink) = AsyncStream.makeStream(of: [UInt8].self)
        // The call is written before the watch can read anything.
        channel.perform {
            channel.start(onMessage: { sink.yield($0.bytes) }, onEnd: { _ in sink.finish() })
            channel.send(Array(#"{"method":"org.example.test.Echo"}"#.utf8))
        }
        var heard: [[UInt8]] = []
        for await message in messages { heard.append(message) }
        #expect(heard == [refusal.message])
    }

    @Test func `that refuses the process's proof is heard`() async throws {
        let service = try TestService { $0.connectionsOfUser = 1 }
        let first = try service.connect()
        let _: CallReply<Words> = try await first.call("org.example.test.Echo", Words(text: "x"))
        func isQuota(_ error: ServiceCallError) -> Bool {
            if case .refused(let refusal) = error {
                refusal.name == "io.whorl.Connection.QuotaReached"
            } else {
                false
            }
        }
        let second = try service.connect()
        await #expect { try await second.answerChallenge() } throws: { isQuota($0 as! ServiceCallError) }
        var third = BlockingCall(try UnixSocket.connect(to: service.path))
        #expect { try third.answerChallenge() } throws: { isQuota($0 as! ServiceCallError) }
    }

    @Test func `answers a refusal with its name and details, and goes on`() async throws {
        let service = try TestService()
        let client = try service.connect()
        await #expect(
            throws: ServiceCallError.refused(ServiceRefusal("org.example.test.Refused", ["why": "no"]))
        ) {
            let _: ServiceConnection.Reply<Words> = try await client.call(
                "org.example.test.Refuse",
                Words(text: "no")
            )
        }
        let reply: ServiceConnection.Reply<Words> = try await client.call(
            "org.example.test.Echo",
            Words(text: "still here")
        )
        #expect(reply.parameters.text == "still here")
    }

    @Test func `names unknown methods and interfaces, wrong and missing parameters`() async throws {
        try await apart {
            let service = try TestService()
            let client = try RawClient(service)
            for (call, answer) in [
                (#"{"method":"org.example.test.None"}"#, #""error":"org.varlink.service.MethodNotFound""#),
                (
                    #"{"method":"org.example.other.None"}"#,
                    #""error":"org.varlink.service.InterfaceNotFound""#
                ),
                (#"{"method":""}"#, #""error":"org.varlink.service.InterfaceNotFound""#),
                (
                    #"{"method":"org.example.test.Echo"}"#,
                    #"InvalidParameter","parameters":{"parameter":"text"}"#
                ),
                (#"{"method":"org.example.test.Echo","parameters":{"text":1}}"#, #"{"parameter":"text"}"#),
                (#"{"method":"org.example.test.Echo","parameters":7}"#, "InvalidParameter"),
                (
                    #"{"method":"org.example.test.Turn","parameters":{"secret":0}}"#,
                    #"{"parameter":"descriptor"}"#
                ),
                (
                    #"{"method":"org.example.test.Turn","parameters":{"secret":-1}}"#,
                    #"{"parameter":"descriptor"}"#
                ),
            ] {
                client.send(call)
                #expect(client.receive()?.contains(answer) == true, "\(call)")
            }
        }
    }

    @Test func `ignores members that it does not know`() async throws {
        try await apart {
            let service = try TestService()
            let client = try RawClient(service)
            client.send(
                #"{"method":"org.example.test.Echo","parameters":{"text":"a","later":[1]},"new":{"x":1}}"#
            )
            #expect(client.receive() == #"{"parameters":{"text":"a"}}"#)
        }
    }

    @Test func `sends no reply to a call that wants none`() async throws {
        try await apart {
            let service = try TestService()
            let client = try RawClient(service)
            client.send(
                #"{"method":"org.example.test.Count","parameters":{"number":3},"oneway":true,"more":true}"#
            )
            client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"next"}}"#)
            #expect(client.receive() == #"{"parameters":{"text":"next"}}"#)
        }
    }

    @Test func `describes itself as every Varlink service does`() async throws {
        let service = try TestService()
        let client = try service.connect()
        let info: ServiceConnection.Reply<ServiceInfo> = try await client.call(
            "org.varlink.service.GetInfo",
            NoParameters()
        )
        #expect(info.parameters.interfaces == ["org.example.test", "org.varlink.service"])
        struct Text: Codable, Sendable { var description: String }
        let text: ServiceConnection.Reply<Text> = try await client.call(
            "org.varlink.service.GetInterfaceDescription",
            ["interface": "org.example.test"]
        )
        #expect(text.parameters.description == TestService.description)
    }

    @Test func `takes and gives secrets beside the messages`() async throws {
        let service = try TestService()
        let client = try service.connect()
        let file = try SecretDescriptor.make(SecretBytes(copying: Array("desserts".utf8).span.bytes))
        let reply: ServiceConnection.Reply<Place> = try await client.call(
            "org.example.test.Turn",
            Place(secret: 0),
            descriptors: [file]
        )
        let turned = try SecretDescriptor.read(#require(reply.descriptors.first))
        #expect(turned.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == "stressed")
    }

    @Test func `tells the user and the process that asked`() async throws {
        let service = try TestService()
        let reply: ServiceConnection.Reply<TestService.Asker> = try await service.connect().call(
            "org.example.test.Asker",
            NoParameters()
        )
        #expect(reply.parameters.uid == geteuid())
        // Without SO_PEERPIDFD the process is told once it has proven itself.
        #expect(reply.parameters.pid == getpid() || reply.parameters.pid == nil)
    }

    @Test func `cancels the call of a client that hangs up, or whose task is cancelled`() async throws {
        let service = try TestService()
        var waits = service.waits.makeAsyncIterator()
        let raw = try RawClient(service)
        raw.send(#"{"method":"org.example.test.Wait","parameters":{"text":""}}"#)
        #expect(await waits.next() == true)
        shutdown(raw.socket.number, Int32(SHUT_RDWR))
        #expect(await waits.next() == false)

        let client = try service.connect()
        let call = Task { () -> Bool in
            do throws(ServiceCallError) {
                let _: ServiceConnection.Reply<Words> = try await client.call(
                    "org.example.test.Wait",
                    Words(text: "")
                )
                return false
            } catch {
                return error == .cancelled
            }
        }
        #expect(await waits.next() == true)
        call.cancel()
        #expect(await call.value)
        #expect(await waits.next() == false)
    }

    // The task's state is locked while its cancellation is handled, and a message resumes the task: neither may wait for
    // the other. Where they do, nothing but the end of the process ends that.
    @Test func `a call that is cancelled in the moment of a message ends`() async throws {
        let service = try TestService()
        for _ in 0..<400 {
            // For one round, however slow the machine is.
            let watchdog = OffPoolTimer(.seconds(60))
            watchdog.onEnd { fatalError("a cancelled call and its message wait for each other") }
            defer { _ = watchdog.cancel() }
            let client = try service.connect()
            let (first, sink) = AsyncStream.makeStream(of: Void.self)
            let call = Task {
                let _: ServiceConnection.Reply<TestService.Count>? = try? await client.call(
                    "org.example.test.Count",
                    TestService.Count(number: 300)
                ) { _ in sink.yield() }
                sink.finish()
            }
            var arrivals = first.makeAsyncIterator()
            _ = await arrivals.next()
            call.cancel()
            await call.value
        }
    }

    @Test func `that stops ends the calls under way with an error`() async throws {
        let service = try TestService()
        var waits = service.waits.makeAsyncIterator()
        let client = try service.connect()
        let call = Task { () -> ServiceCallError? in
            do throws(ServiceCallError) {
                let _: ServiceConnection.Reply<Words> = try await client.call(
                    "org.example.test.Wait",
                    Words(text: "")
                )
                return nil
            } catch {
                return error
            }
        }
        #expect(await waits.next() == true)
        service.server.stop()
        #expect(await call.value == .connection(nil))
    }

    @Test func `that does not listen is an error of the connection`() {
        #expect(throws: SystemCallError.self) { try ServiceConnection(path: "/nonexistent/socket") }
        #expect(throws: SystemCallError.self) {
            try ServiceConnection(path: "/" + String(repeating: "x", count: 200))
        }
    }

    @Test func `answers calls whose connections come and go on all threads at once`() async throws {
        let service = try TestService { $0.connectionsOfUser = 256 }
        let path = service.path
        let answered = try await withThrowingTaskGroup(of: Int.self) { group in
            for client in 0..<64 {
                group.addTask {
                    var answered = 0
                    for number in 0..<150 {
                        // A connection for each call, as programs make it: what watches them is set up and taken down
                        // on several threads while the kernel tells of hang-ups.
                        let reply: ServiceConnection.Reply<Words> = try await ServiceConnection(path: path)
                            .call("org.example.test.Echo", Words(text: "\(client).\(number)"))
                        if reply.parameters.text == "\(client).\(number)" { answered += 1 }
                    }
                    return answered
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(answered == 64 * 150)
    }
}
