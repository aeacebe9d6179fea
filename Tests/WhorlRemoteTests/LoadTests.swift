// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import Synchronization
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlRemote

@Suite("Many clients and many deaths", .serialized)
struct LoadTests {
    /// The number of calls, which `make nightly` raises.
    private static let calls = ProcessInfo.processInfo.environment["WHORL_CALLS"].flatMap { Int($0) } ?? 2_000

    @Test func `64 clients that ask at once are all answered, and nothing is left behind`() async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let services = machine.services
        func ask(_ count: Int) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<64 {
                    group.addTask {
                        for call in 0..<count / 64 {
                            switch (client + call) % 4 {
                            case 0:
                                let answer = await services.preflight(
                                    .biometrics,
                                    for: services.application
                                )
                                try #require(answer.canEvaluate, "\(answer)")
                            case 1: try #require(await services.ask(ListFingers()).count == 1)
                            case 2: try #require(await services.ask(ListItems()).isEmpty)
                            default: try #require(await services.ask(ListAttempts()).count == 2)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        // What is made once is made here, and the allocator gets what it keeps.
        try await ask(Self.calls)
        let child = machine.child
        var usages = [try child.usage()]
        for _ in 0..<5 {
            try await ask(Self.calls / 2)
            try await Task.sleep(for: .seconds(1))
            usages.append(try child.usage())
        }
        #expect(usages[5].descriptors <= usages[0].descriptors, "\(usages)")
        // A sanitizer keeps records of each access, in the process's own memory.
        let environment = ProcessInfo.processInfo.environment
        if environment["TSAN_OPTIONS"] == nil, environment["ASAN_OPTIONS"] == nil {
            // What is left behind adds up in every round; one more thread adds to one of them.
            let grown = zip(usages, usages.dropFirst()).map { $1.kibibytes - $0.kibibytes }.sorted()
            #expect(grown[2] < (Self.calls < 24_000 ? 2 << 10 : 512), "\(usages)")
        }
    }

    @Test func `a service that is killed while it writes loses nothing that it acknowledged`() async throws {
        let tpm = try await RemoteMachine(enrolled: .leftThumb).tpm
        var acknowledged: Set<ItemName> = []
        let kills = max(12, Self.calls / 48)
        for number in 0..<kills {
            let machine = try await RemoteMachine(on: tpm)
            let services = machine.services
            let name = try ItemName("item \(number)")
            let child = machine.child
            let death = Task {
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...250)))
                child.kill()
            }
            do {
                _ = try await services.ask(
                    AddItem(
                        ItemID(.secret, name, of: "ada"),
                        MakeItem(.secret(secret("value")), access: .none, applicationPassword: nil)
                    )
                )
                acknowledged.insert(name)
            } catch {
                // Killed before it answered: the item may be there or not.
            }
            child.kill()
            _ = try? await death.value
            await child.waitForEnd()
            // A TPM without a resource manager keeps what the killed process has loaded.
            try tpm.flushLeaks()
        }
        let machine = try await RemoteMachine(on: tpm)
        let there = try await machine.services.ask(ListItems())
        #expect(acknowledged.isSubset(of: there.map(\.id.name)), "\(acknowledged.count) of \(kills)")
        #expect(there.allSatisfy { $0.standing == .valid })
        let evaluation = try await machine.services.evaluate(
            EvaluationRequest("unlock"),
            presenter: ScriptedPresenter()
        )
        #expect(evaluation.finger == .leftThumb)
    }
}
