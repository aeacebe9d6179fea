// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSQLite
import WhorlStateStore
import Synchronization
import Testing
import WhorlService

/// What is asked of the database, counted: an evaluation reads the enrolled prints before it asks for a finger, and
/// not once more than it must.
@Suite struct `Questions to the database` {
    /// The statements that one connection ran.
    private final class Trace: Sendable {
        private let statements = Mutex<[String]>([])

        func attach(to database: StateDatabase) async throws {
            try await database.read { db in
                db.trace = { sql in self.statements.withLock { $0.append(sql) } }
            }
        }

        /// Those since the last call.
        func take() -> [String] {
            statements.withLock { statements in
                defer { statements = [] }
                return statements
            }
        }
    }

    private func engine(_ fixture: Fixture) async throws -> (AuthenticationEngine, Trace, StateDatabase) {
        let database = try fixture.database()
        let trace = Trace()
        try await trace.attach(to: database)
        let engine = AuthenticationEngine(
            profile: fixture.profile,
            state: StateAccess(existing: { database }, created: { database }),
            time: fixture.clock.time,
            reader: { fixture.reader }
        )
        return (engine, trace, database)
    }

    private func count(_ text: String, in statements: [String]) -> Int {
        statements.count { $0.contains(text) }
    }

    @Test func `the prints are read once by a preflight, in one look`() async throws {
        let fixture = try await Fixture.enrolled([])
        let (engine, trace, _) = try await engine(fixture)
        _ = trace.take()
        #expect(await engine.preflight(.biometrics, for: Fixture.application).canEvaluate)
        let statements = trace.take()
        #expect(count("FROM prints", in: statements) == 1)
        #expect(count("BEGIN", in: statements) == 1)
        #expect(count("SELECT", in: statements) == 4)
    }

    @Test func `the prints are read twice by an evaluation, before the scan`() async throws {
        let fixture = try await Fixture.enrolled([])
        let (engine, trace, _) = try await engine(fixture)
        let before = Mutex<[String]>([])
        fixture.reader.add([.perform { before.withLock { $0 = trace.take() } }, .match(0)])
        _ = trace.take()
        #expect(await fixture.evaluate(engine: engine).success != nil)
        let statements = before.withLock { $0 }
        #expect(count("FROM prints WHERE profile = ? AND state = 'enrolled'", in: statements) == 2)
    }

    /// Each of them is a part of the time between the touch and its answer.
    @Test func `one transaction lies between a match and its answer, and writes no print`() async throws {
        let fixture = try await Fixture.enrolled([])
        let (engine, trace, database) = try await engine(fixture)
        let readerIsReady: @Sendable () async -> Void = {
            // A write tells its end before it has gone back to the usual durability; this one comes after that.
            _ = try? await database.write(.relaxed) { _ in }
            _ = trace.take()
        }
        fixture.reader.add([.perform(readerIsReady), .match(0)])
        let between = Mutex<[String]>([])
        let presenter = ScriptedPresenter { update in
            if case .matched = update { between.withLock { $0 = trace.take() } }
            return nil
        }
        #expect(await fixture.evaluate(engine: engine, presenter: presenter).success != nil)
        let statements = between.withLock { $0 }
        #expect(statements.first?.hasPrefix("BEGIN IMMEDIATE") == true, "\(statements)")
        #expect(statements.last?.hasPrefix("COMMIT") == true)
        #expect(statements.count == 7, "\(statements)")
        #expect(count("UPDATE prints", in: statements) == 0)
        try await eventually { count("UPDATE prints", in: trace.take()) == 1 }
    }

    @Test func `a reused match reads the prints once more, when it answers`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        _ = try await #require(fixture.evaluate().success)
        let (engine, trace, _) = try await engine(fixture)
        _ = trace.take()
        let result = await fixture.evaluate(Fixture.request(reuse: .seconds(60)), engine: engine)
        #expect(result.success?.isReused == true)
        #expect(count("FROM prints", in: trace.take()) == 2)
    }
}
