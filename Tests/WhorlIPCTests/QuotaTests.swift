// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import WhorlSecretMemory
import Synchronization
import Testing

@testable import WhorlIPC

@Suite(.timeLimit(.minutes(5))) struct `The share of one user` {
    private let quota = "io.whorl.Connection.QuotaReached"

    private func refusal(_ body: () async throws(ServiceCallError) -> Void) async -> ServiceRefusal? {
        do throws(ServiceCallError) { try await body() } catch {
            if case .refused(let refusal) = error { return refusal }
        }
        return nil
    }

    private func wait(_ client: ServiceConnection, _ text: String, _ descriptors: [Descriptor] = []) -> Task<
        Void, Never
    > {
        Task {
            // It goes on until the test ends it.
            _ = try? await client.call(
                "org.example.test.Wait",
                TestService.Words(text: text),
                descriptors: descriptors,
                returning: TestService.Words.self
            )
        }
    }

    private func echo(
        _ client: ServiceConnection,
        _ text: String,
        _ descriptors: [Descriptor] = []
    ) async throws(ServiceCallError) {
        _ = try await client.call(
            "org.example.test.Echo",
            TestService.Words(text: text),
            descriptors: descriptors,
            returning: TestService.Words.self
        )
    }

    @Test func `of connections is named to the one that is too many`() async throws {
        let service = try TestService { $0.connectionsOfUser = 2 }
        let clients = [try service.connect(), try service.connect()]
        for client in clients { try await echo(client, "x") }
        let third = try RawClient(service)
        let answer = try await apart { third.receive() }
        #expect(
            answer?.contains(quota) == true && answer?.contains(#""quota":"connections""#) == true,
            "\(answer ?? "")"
        )
    }

    // Docs/Security.md: C13a
    @Test func `of bytes holds a call until it has been answered`() async throws {
        let service = try TestService { $0.bytesOfUser = 1 << 20 }
        let text = String(repeating: "x", count: 700_000)
        let first = try service.connect()
        let call = wait(first, text)
        var waits = service.waits.makeAsyncIterator()
        #expect(await waits.next() == true)
        #expect(service.server.bytesHeld(of: geteuid()) > 700_000)
        let second = try service.connect()
        #expect(
            await refusal { () async throws(ServiceCallError) in try await echo(second, text) }?.name == quota
        )
        // A call that blocks its thread hears the reason as well.
        let path = service.path
        let third = try await apart { () throws -> ServiceRefusal? in
            var call = BlockingCall(try UnixSocket.connect(to: path))
            do throws(ServiceCallError) {
                _ = try call.call(
                    "org.example.test.Echo",
                    TestService.Words(text: text),
                    returning: TestService.Words.self
                )
            } catch {
                if case .refused(let refusal) = error { return refusal }
            }
            return nil
        }
        #expect(third?.name == quota)
        // A small call of the same user goes on.
        try await echo(try service.connect(), "x")
        call.cancel()
        #expect(await waits.next() == false)
        while service.server.bytesHeld(of: geteuid()) > 0 { await Task.yield() }
        try await echo(try service.connect(), text)
    }

    // Docs/Security.md: C13a
    @Test func `of descriptors holds those of a call until it has been answered`() async throws {
        let service = try TestService { $0.descriptorsOfUser = 8 }
        let files = try (0..<6).map { _ in try SecretDescriptor.make([1]) }
        let call = wait(try service.connect(), "x", files)
        var waits = service.waits.makeAsyncIterator()
        #expect(await waits.next() == true)
        #expect(service.server.descriptorsHeld(of: geteuid()) == 6)
        let second = try service.connect()
        #expect(
            await refusal { () async throws(ServiceCallError) in try await echo(second, "x", files) }?.name
                == quota
        )
        try await echo(try service.connect(), "x", [files[0]])
        call.cancel()
        #expect(await waits.next() == false)
        while service.server.descriptorsHeld(of: geteuid()) > 0 { await Task.yield() }
        try await echo(try service.connect(), "x", files)
    }

    @Test func `of large files is one call at a time, of the files that its method takes`() async throws {
        let service = try TestService()
        let (small, large) = (
            try SecretDescriptor.make([1]), try SecretDescriptor.make([UInt8](repeating: 1, count: 2 << 20))
        )
        func wait(_ method: String, _ files: [Descriptor]) throws -> Task<Void, Never> {
            let client = try service.connect()
            return Task {
                // It goes on until the test ends it.
                _ = try? await client.call(
                    "org.example.test.\(method)",
                    TestService.Words(text: "x"),
                    descriptors: files,
                    returning: TestService.Words.self
                )
            }
        }
        var waits = service.waits.makeAsyncIterator()
        // A large file that the method does not take keeps no other call back, however long this one lasts.
        let untaken = [try wait("WaitWithOne", [small, large]), try wait("WaitWithOne", [small, large])]
        for _ in untaken { #expect(await waits.next() == true) }
        let first = try wait("Wait", [large])
        #expect(await waits.next() == true)
        let second = try wait("Wait", [large])
        // A call without such files goes on.
        try await echo(try service.connect(), "x")
        first.cancel()
        #expect(await waits.next() == false)
        #expect(await waits.next() == true)
        for call in untaken + [second] { call.cancel() }
    }

    @Test func `of descriptors counts none that the method of the call does not take`() async throws {
        let service = try TestService { $0.descriptorsOfUser = 8 }
        let (seen, sent) = try UnixSocket.pair()
        let other = try SecretDescriptor.make([1])
        let client = try service.connect()
        let call = Task {
            // It goes on until the test ends it.
            _ = try? await client.call(
                "org.example.test.WaitWithOne",
                TestService.Words(text: "x"),
                descriptors: [other, sent],
                returning: TestService.Words.self
            )
        }
        var waits = service.waits.makeAsyncIterator()
        #expect(await waits.next() == true)
        // A socket is closed on a thread of its user, and counts until then.
        while service.server.descriptorsHeld(of: geteuid()) > 1 { await Task.yield() }
        #expect(service.server.descriptorsHeld(of: geteuid()) == 1)
        // The service has closed its copy, so that closing this one ends the connection.
        #expect(dup2(other.number, sent.number) >= 0)
        var place = pollfd(fd: seen.number, events: Int16(POLLIN), revents: 0)
        #expect(poll(&place, 1, 60_000) == 1 && place.revents & Int16(POLLHUP) != 0)
        call.cancel()
        #expect(await waits.next() == false)
        while service.server.descriptorsHeld(of: geteuid()) > 0 { await Task.yield() }
    }

    // Docs/Security.md: C13a
    @Test func `of bytes holds what no one reads`() async throws {
        let service = try TestService {
            $0.bytesOfUser = 300_000
            $0.channel.reading = .seconds(60)
        }
        let client = try RawClient(service)
        client.send(#"{"method":"org.example.test.Count","parameters":{"number":100000},"more":true}"#)
        #expect(try await apart { client.seesHangUp() })
        while service.server.bytesHeld(of: geteuid()) > 0 { await Task.yield() }
    }

    // Docs/Security.md: C11c
    @Test func `of reasons ends in a flood, and comes back with time`() async throws {
        func told(_ refusals: Refusals, _ count: Int) throws -> Int {
            let (socket, client) = try UnixSocket.pair()
            for _ in 0..<count { refusals.say(ServiceRefusal("org.example.test.Refused"), on: socket) }
            var room = [UInt8](repeating: 0, count: 65_536)
            let read = max(0, recv(client.number, &room, room.count, Int32(MSG_DONTWAIT)))
            return room[..<read].count { $0 == 0 }
        }
        let flood = Refusals(most: 8, perSecond: 0)
        #expect(try told(flood, 5) == 5)
        #expect(try told(flood, 60) == 3)
        #expect(try told(flood, 60) == 0)
        let patient = Refusals(most: 1, perSecond: 1)
        #expect(try told(patient, 100) < 100)
        while try told(patient, 1) == 0 { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test func `that is used up in a flood ends connections without a reason`() async throws {
        let service = try TestService {
            $0.connectionsOfUser = 1
            $0.refusals = 0
        }
        let holder = try service.connect()
        try await echo(holder, "x")
        for _ in 0..<3 {
            let client = try RawClient(service)
            #expect(try await apart { client.receive() } == nil)
            #expect(try await apart { client.isHungUpOn() })
        }
        try await echo(holder, "y")
    }

    @Test func `of decisions is one for all connections that come meanwhile, and no one else waits for them`()
        async throws
    {
        let asked = Mutex<[UInt32]>([])
        let told = Mutex<[String]>([])
        let gate = DispatchSemaphore(value: 0)
        let admission = UserAdmission { uid in
            asked.withLock { $0.append(uid) }
            gate.wait()
            return uid == 1 ? ServiceRefusal("org.example.test.Refused") : nil
        }
        for _ in 0..<262 {
            admission.decide(1) { refusal in told.withLock { $0.append(refusal?.name ?? "served") } }
        }
        // The last six of one user have waited for no one; another user has a place.
        #expect(told.withLock(\.self) == Array(repeating: "io.whorl.Connection.QuotaReached", count: 6))
        let isServed = await withCheckedContinuation { done in
            admission.decide(2) { done.resume(returning: $0 == nil) }
            for _ in 0..<2 { gate.signal() }
        }
        #expect(isServed)
        #expect(asked.withLock(\.self) == [1, 2])
        #expect(told.withLock { $0.count { $0 == "org.example.test.Refused" } } == 256)
    }

    // Docs/Security.md: C11a
    @Test func `that is not served is told why, and looked for once`() async throws {
        let asked = Mutex(0)
        let path = FileManager.default.temporaryDirectory.appending(path: "whorl-\(UUID())").path
        let router = Router(ServiceInfo(vendor: "Whorl", product: "test", version: "1"))
        let server = ServiceServer(
            router,
            admission: UserAdmission { _ in
                asked.withLock { $0 += 1 }
                return ServiceRefusal("io.whorl.Connection.NoAccount", ["message": "no one"])
            }
        )
        try server.listen(on: UnixSocket.listen(at: path))
        defer {
            server.stop()
            unlink(path)
        }
        for _ in 0..<5 {
            let client = try RawClient(path)
            let answer = try await apart { client.receive() }
            #expect(answer?.contains("io.whorl.Connection.NoAccount") == true)
            #expect(try await apart { client.isHungUpOn() })
        }
        #expect(asked.withLock(\.self) == 1)
        #expect(server.connectionCount == 0)
    }
}
