// SPDX-License-Identifier: Apache-2.0

import CWhorlSocket
import Foundation
import Glibc
import Synchronization
import Testing
import WhorlSecretMemory

@testable import WhorlIPC

// Docs/Security.md: C5b
/// A sum that a test chooses in place of the kernel's.
private final class Sum: Sendable {
    private let bytes = Mutex(0)
    var memory: ClientMemory { ClientMemory(most: 8 << 20, mostOfUser: 2 << 20) { [self] in now } }

    var now: Int {
        get { bytes.withLock(\.self) }
        set { bytes.withLock { $0 = newValue } }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `Memory that clients hold` {
    private let sum = Sum()

    private func eventually(_ isSo: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<600 {
            if try await isSo() { return true }
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    private func share(_ memory: ClientMemory) -> UserShare {
        UserShare(mostBytes: 1 << 20, mostDescriptors: 8, memory: memory)
    }

    @Test func `keeps only those waiting who were sent much, until it is let go`() async throws {
        let memory = sum.memory
        let (collector, other) = (share(memory), share(memory))
        sum.now = 5 << 20
        for _ in 0..<3 { collector.countSent(1 << 30, []) }
        other.countSent(100, [])
        #expect(collector.mayReceive && other.mayReceive)
        sum.now = 9 << 20
        collector.countSent(1 << 20, [])
        #expect(!collector.mayReceive && other.mayReceive)
        // Half of the limit is not little: what was sent still counts.
        sum.now = 7 << 20
        #expect(try await eventually { collector.mayReceive })
        sum.now = 9 << 20
        other.countSent(1 << 20, [])
        #expect(!collector.mayReceive && other.mayReceive)
        sum.now = 1 << 20
        #expect(try await eventually { collector.mayReceive })
        sum.now = 9 << 20
        other.countSent(1 << 20, [])
        #expect(collector.mayReceive, "little was held in between")
    }

    @Test func `counts each message and each file, however small`() throws {
        let memory = sum.memory
        let share = share(memory)
        let file = try SecretDescriptor.make([1])
        sum.now = 9 << 20
        for _ in 0..<400 { share.countSent(10, [file]) }
        #expect(!share.mayReceive)
        #expect(!share.isEmpty, "it would be forgotten with the last connection")
    }

    @Test func `lets a user with few bytes a second receive again while the sum is large`() async throws {
        let sum = sum
        let share = share(ClientMemory(most: 8 << 20, mostOfUser: 50_000) { sum.now })
        sum.now = 9 << 20
        share.countSent(1 << 30, [])
        #expect(!share.mayReceive)
        let small = self.share(ClientMemory(most: 0, mostOfUser: 50_000) { 1 })
        for _ in 0..<256 { small.countSent(0, []) }
        #expect(!small.mayReceive)
        let tight = ClientMemory(most: 8, mostOfUser: 1 << 18) { 9 }
        tight.count(1 << 20)
        let patient = self.share(tight)
        patient.countSent((1 << 18) + 16_384, [])
        #expect(!patient.mayReceive)
        #expect(try await eventually { patient.mayReceive })
        #expect(!share.mayReceive, "a second gives back no gibibyte")
    }

    @Test func `is refused to more users the more it is, and to none who was sent next to nothing`() {
        let memory = sum.memory
        let shares = [1 << 20, 1 << 19, 1 << 17].map { bytes in
            let share = share(memory)
            share.countSent(bytes, [])
            return share
        }
        func served(at now: Int) -> [Bool] {
            sum.now = now
            // The sum is looked at again when so much was sent.
            memory.count(1 << 20)
            return shares.map(\.mayReceive)
        }
        #expect(served(at: 8 << 20) == [true, true, true])
        #expect(served(at: 9 << 20) == [true, true, true])
        #expect(served(at: 21 << 19) == [false, true, true])
        #expect(served(at: 23 << 19) == [false, false, true])
        #expect(served(at: 1 << 30) == [false, false, true])
    }

    @Test func `ends the service once, when it is half as large again as the limit`() {
        let memory = sum.memory
        let ends = Mutex(0)
        memory.onExcess { ends.withLock { $0 += 1 } }
        sum.now = 12 << 20
        memory.count(1 << 20)
        #expect(ends.withLock(\.self) == 0)
        sum.now += 1
        memory.count(1000)
        #expect(ends.withLock(\.self) == 0, "it is looked at when a mebibyte was sent")
        for _ in 0..<3 { memory.count(1 << 20) }
        #expect(ends.withLock(\.self) == 1)
        memory.onExcess { ends.withLock { $0 += 10 } }
        #expect(ends.withLock(\.self) == 11, "it is so already")
    }

    @Test func `is no one's where the system does not tell it`() {
        let share = share(ClientMemory(most: 0, mostOfUser: 0) { nil })
        for _ in 0..<100 { share.countSent(1 << 20, []) }
        #expect(share.mayReceive)
    }

    @Test func `lets a service end where it is little`() {
        sum.now = 50 << 20
        let memory = sum.memory
        #expect(memory.isLittle, "what the kernel needs from the beginning does not count")
        sum.now += 2 << 20
        #expect(!memory.isLittle)
    }

    @Test func `is what the control group has beside the process's own and cached files`() {
        let stat = "anon 1000\nfile 700\nkernel 50\nshmem 500\nslab 1\n"
        #expect(ClientMemory.held(of: 2000, stat) == 800)
        #expect(ClientMemory.held(of: 2000, stat + "slab_reclaimable 300\n") == 500)
        #expect(ClientMemory.held(of: 0, stat) == 0)
        for text in ["", "anon 1\nfile 2\n", "anon x\nfile 1\nshmem 1\n", "anon 1 1\nfile 1\nshmem 1"] {
            #expect(ClientMemory.held(of: 9, text) == nil, "\(text)")
        }
    }

    @Test func `ends what its user is sent, with the reason, and what comes after it`() async throws {
        let service = try TestService(memory: sum.memory)
        let path = service.path
        func answers() async throws -> [String] {
            try await apart {
                (0..<40).map { _ in
                    guard let client = try? RawClient(path) else { return "no connection" }
                    client.send(
                        #"{"method":"org.example.test.Echo","parameters":{"text":"\#(String(repeating: "x", count: 90_000))"}}"#
                    )
                    return client.receive() ?? "hung up"
                }
            }
        }
        #expect(try await answers().allSatisfy { $0.contains("xxx") })
        sum.now = 9 << 20
        let refused = try await answers()
        #expect(refused.contains { $0.contains("QuotaReached") && $0.contains(#""quota":"memory""#) })
        #expect(refused.last?.contains("QuotaReached") == true)
        sum.now = 0
        #expect(try await eventually { try await answers().allSatisfy { $0.contains("xxx") } })
    }

    @Test func `is left alone by a message that names one file at two places`() async throws {
        let service = try TestService()
        let file = try SecretDescriptor.make([1, 2, 3])
        let client = try service.connect()
        let answer = try? await client.call(
            "org.example.test.TurnTwo",
            ["first": 0, "second": 1],
            descriptors: [file, file],
            returning: TestService.Words.self
        )
        #expect(answer == nil, "the second place was read as zeros")
    }
}
