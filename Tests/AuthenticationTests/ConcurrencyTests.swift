// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Foundation
import WhorlStateStore
import Testing
import WhorlService

// Docs/Security.md: A5
@Suite struct `Evaluations at the same time` {
    @Test func `get an answer each, and never scan two at once`() async throws {
        let count = 200
        let fixture = try await Fixture.enrolled(Array(repeating: .match(0), count: count))
        let engine = fixture.engine()
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await fixture.evaluate(Fixture.request(timeout: .seconds(300)), engine: engine).success
                        != nil
                }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(answers.count == count)
        #expect(answers.allSatisfy { $0 })
        let counts = fixture.reader.counts
        #expect(counts.scans == count)
        #expect(counts.mostScansAtOnce == 1)
        #expect(counts.opens == count)
        #expect(counts.closes == count)
    }

    @Test func `wait no longer than their timeout`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let presenter = ScriptedPresenter()
        let first = Task { await fixture.evaluate(presenter: presenter) }
        try await eventually { presenter.updates.contains(.scan(.touch)) }
        let second = await fixture.evaluate(Fixture.request(timeout: .milliseconds(60)))
        #expect(second.code == .readerInUse)
        #expect(fixture.reader.counts.scans == 1)
        first.cancel()
        #expect(await first.value.code == .appCancel)
    }

    @Test func `of two profiles do not wait for each other`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let presenter = ScriptedPresenter()
        let first = Task { await fixture.evaluate(presenter: presenter) }
        try await eventually { presenter.updates.contains(.scan(.touch)) }
        let other = AuthenticationEngine(
            profile: "other",
            state: StateAccess(directory: fixture.directory, generations: fixture.generations),
            reader: { fixture.reader }
        )
        #expect(await fixture.evaluate(engine: other).code == .biometryNotEnrolled)
        first.cancel()
        _ = await first.value
    }

    /// Two engines on one directory, as two processes would be, each with a reader of its own: whatever their
    /// order is, no more than five scans happen before the lock.
    @Test(arguments: 0..<50) func `cannot gain a try`(_ round: Int) async throws {
        let fixture = try await Fixture.enrolled([])
        let id = await fixture.reader.info.id.rawValue
        let readers = (0..<2).map { _ in
            ScriptedReader(Array(repeating: .noMatch, count: 20), info: .scripted(id: id))
        }
        let codes = await withTaskGroup(of: [ServiceError.Code?].self) { group in
            for reader in readers {
                group.addTask {
                    let engine = fixture.engine(reader: reader)
                    var codes: [ServiceError.Code?] = []
                    for _ in 0..<3 { codes.append(await fixture.evaluate(engine: engine).code) }
                    return codes
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(readers.map(\.counts.scans).reduce(0, +) == 5)
        #expect(codes.count == 6)
        #expect(codes.allSatisfy { $0 == .authenticationFailed || $0 == .biometryLockout })
        let record = try await fixture.record()
        #expect(record.totalFailures == 5)
        #expect(record.lockouts == 1)
    }
}

@Suite struct `A process that is killed between scan and bookkeeping` {
    /// Runs an evaluation in a process of its own, whose reader kills that process as soon as it knows the answer.
    private func killDuringScan(_ fixture: Fixture) async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = fixture.directory.path as String] in
            let fixture = Fixture(at: path)
            fixture.reader.add([.perform { kill(getpid(), SIGKILL) }, .noMatch])
            _ = await fixture.evaluate()
        }
    }

    @Test func `has used a try, and the fifth one locks`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        for killed in 1...4 {
            await killDuringScan(fixture)
            let record = try await fixture.record()
            #expect(record.isPending)
            // Each run charged the one before.
            #expect(record.failures == killed - 1)
        }
        await killDuringScan(fixture)
        #expect(await fixture.evaluate().code == .biometryLockout)
        #expect(fixture.reader.counts.scans == 0)
        #expect(try await fixture.record().totalFailures == 5)
    }

    @Test func `does not keep the next one from its turn`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        await killDuringScan(fixture)
        #expect(await fixture.evaluate(Fixture.request()).success != nil)
    }
}
