// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Foundation
import WhorlSQLite
import WhorlStateStore
import Testing
import WhorlService

@Suite struct `A program that is opted out` {
    @Test func `is refused, and others are not`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let engine = fixture.engine()
        try await engine.setOptedOut(true, for: Fixture.application)
        #expect(try await engine.isOptedOut(Fixture.application))
        #expect(await fixture.evaluate().code == .biometryOptedOut)
        #expect(await fixture.evaluate(Fixture.request(.deviceOwner)).code == .passcodeNotSet)
        let other = ApplicationID(rawValue: "org.example.other")
        #expect(try await !engine.isOptedOut(other))
        #expect(await engine.preflight(.biometrics, for: other).canEvaluate)
    }

    @Test func `may use fingers again when the person says so`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let engine = fixture.engine()
        try await engine.setOptedOut(true, for: Fixture.application)
        try await engine.setOptedOut(true, for: Fixture.application)
        try await fixture.engine().setOptedOut(false, for: Fixture.application)
        #expect(await fixture.evaluate(engine: engine).success != nil)
        #expect(try await fixture.log() == ["optOut out", "optOut in", "evaluation matched"])
    }

    @Test func `is remembered before any finger is enrolled`() async throws {
        let fixture = try Fixture()
        try await fixture.engine().setOptedOut(true, for: Fixture.application)
        #expect(await fixture.evaluate().code == .biometryOptedOut)
    }
}

@Suite struct `The audit log` {
    private func entry(_ number: Int, detail: String? = nil) -> AuditEntry {
        AuditEntry(
            at: Date(timeIntervalSince1970: TimeInterval(number)),
            profile: "owner",
            application: "app\u{1B}[31m",
            event: .evaluation,
            outcome: "\(number)",
            finger: .leftRing,
            reader: ReaderID(rawValue: "r-1"),
            detail: detail
        )
    }

    @Test func `gives back what was put in, cleaned, newest first`() async throws {
        let fixture = try Fixture()
        let log = AuditLog(database: try fixture.database())
        try await log.append(entry(1))
        try await log.append(entry(2, detail: String(repeating: "x", count: 5000) + "\u{7}"))
        let entries = try await log.entries(limit: 10)
        #expect(entries.map(\.outcome) == ["2", "1"])
        #expect(entries[0].detail?.count == 200)
        #expect(entries[1].detail == nil)
        #expect(entries[1].application == "app[31m")
        #expect(entries[1].finger == .leftRing)
        #expect(entries[1].reader == ReaderID(rawValue: "r-1"))
        #expect(entries[1].at == Date(timeIntervalSince1970: 1))
        #expect(entries[0].id > entries[1].id)
    }

    @Test func `gives no more than was asked for, of one profile or all`() async throws {
        let fixture = try Fixture()
        let log = AuditLog(database: try fixture.database())
        for number in 1...5 { try await log.append(entry(number)) }
        #expect(try await log.entries(limit: 2).map(\.outcome) == ["5", "4"])
        #expect(try await log.entries(limit: -1).isEmpty)
        #expect(try await log.entries(limit: 10, profile: "nobody").isEmpty)
        #expect(try await log.entries(limit: 10, profile: "owner").count == 5)
    }

    @Test func `gives the lines before one, so that all can be read in parts`() async throws {
        let fixture = try Fixture()
        let log = AuditLog(database: try fixture.database())
        for number in 1...5 { try await log.append(entry(number)) }
        var outcomes: [[String]] = []
        var last: Int64?
        while true {
            let part = try await log.entries(limit: 2, before: last, profile: "owner")
            guard let oldest = part.last else { break }
            outcomes.append(part.map(\.outcome))
            last = oldest.id
        }
        #expect(outcomes == [["5", "4"], ["3", "2"], ["1"]])
        #expect(try await log.entries(limit: 2, before: .min).isEmpty)
    }

    private func line(_ event: AuditEntry.Event, _ outcome: String, detail: String = "") -> AuditEntry {
        AuditEntry(
            at: Date(timeIntervalSince1970: 1),
            profile: "owner",
            application: "app",
            event: event,
            outcome: outcome,
            detail: detail
        )
    }

    // Docs/Security.md: C14a, C14b
    @Test func `a flood of one kind of lines pushes out no other`() async throws {
        let fixture = try Fixture()
        let database = try fixture.database()
        let log = AuditLog(database: database)
        let kept = [
            line(.evaluation, "matched"), line(.passcode, "wrong"), line(.change, "passcodeSet"),
            line(.change, "itemAdded"), line(.evaluation, "userCancel"), line(.release, "released"),
        ]
        for entry in kept { try await log.append(entry) }
        let floods: [(AuditEntry.Event, String, Int)] = [
            (.evaluation, "notInteractive", 2_000), (.change, "itemDeleted", 2_000),
            (.failedTry, "noMatch", 2_000), (AuditEntry.Event(rawValue: "later"), "x", 2_000),
            (.release, "releasedAgain", 2_000),
        ]
        // Steps that programs take without the owner, as often as they like.
        let steps = ["identityRead", "readerTried", "vaultProvisioned"].map { line(.change, $0) }
        try await database.write { db in
            for number in 0..<6_000 { try AuditLog.append(steps[number % steps.count], in: db) }
        }
        for (event, outcome, most) in floods {
            let lines = (0..<most + 10).map { line(event, outcome, detail: "\($0)") }
            try await database.write { db in for entry in lines { try AuditLog.append(entry, in: db) } }
        }
        let entries = try await log.entries(limit: .max)
        // The newest lines of each kind, and the lines of the kinds that were not flooded.
        for (event, outcome, most) in floods {
            #expect(entries.count { $0.event == event && $0.outcome == outcome } == most, "\(outcome)")
        }
        for outcome in ["matched", "passcodeSet", "released"] {
            #expect(entries.contains { $0.outcome == outcome }, "\(outcome)")
        }
        #expect(entries.count == 10_003)
    }

    @Test func `a flood of what an earlier touch counted for pushes out no success and no release`()
        async throws
    {
        let fixture = try Fixture()
        let database = try fixture.database()
        let log = AuditLog(database: database)
        for entry in [line(.evaluation, "matched"), line(.release, "released")] {
            try await log.append(entry)
        }
        let lines = (0..<11_000).flatMap {
            [line(.evaluation, "reused", detail: "\($0)"), line(.release, "releasedAgain", detail: "\($0)")]
        }
        try await database.write { db in for entry in lines { try AuditLog.append(entry, in: db) } }
        let entries = try await log.entries(limit: .max)
        #expect(entries.count == 2_002 && entries.suffix(2).map(\.outcome) == ["released", "matched"])
    }

    @Test func `each release that the owner was there for has a line`() async throws {
        let fixture = try Fixture()
        let log = AuditLog(database: try fixture.database())
        for _ in 0..<3 { try await log.append(line(.release, "released", detail: "a")) }
        for _ in 0..<3 { try await log.append(line(.release, "releasedAgain", detail: "a")) }
        #expect(try await log.entries(limit: 9).map(\.repeats) == [3, 1, 1, 1])
    }

    // Docs/Security.md: C14b
    @Test
    func `has one line for the choices that a program makes for itself, however often it changes its mind`()
        async throws
    {
        let fixture = try await Fixture.enrolled([.match(0)])
        let engine = fixture.engine()
        let log = AuditLog(database: try fixture.database())
        try await log.append(line(.change, "passcodeSet"))
        func choose(_ optedOut: Bool, _ name: String) async throws {
            let program = ApplicationID(rawValue: name)
            var request = ConsentRequest(application: program)
            request.asker = Asker(user: 1000, confinedAs: name)
            try await engine.setOptedOut(optedOut, for: program, request, presenter: ScriptedPresenter())
        }
        // Two programs in turn, so that neither line is the last one.
        for number in 0..<20 {
            try await choose(number % 2 == 0, "snap.a.app")
            try await choose(number % 2 == 0, "snap.b.app")
        }
        try await choose(true, "snap.a.app")
        let entries = try await log.entries(limit: 99).filter { $0.event != .evaluation }
        #expect(entries.map(\.outcome) == ["ownOut", "ownIn", "passcodeSet"])
        #expect(entries.map(\.application).prefix(2) == ["snap.a.app", "snap.b.app"])
        #expect(entries.map(\.repeats) == [21, 20, 1])
        #expect(entries.first?.asker?.confinedAs == "snap.a.app")
        // What the person chooses for the program stays a line of its own.
        try await engine.setOptedOut(false, for: ApplicationID(rawValue: "snap.a.app"))
        try await choose(true, "snap.a.app")
        #expect(try await log.entries(limit: 2).map(\.outcome) == ["ownOut", "in"])
    }

    // Docs/Security.md: C14a
    @Test func `counts refusals that repeat themselves in one line`() async throws {
        let fixture = try Fixture()
        let log = AuditLog(database: try fixture.database())
        try await log.append(line(.evaluation, "matched", detail: "a"))
        for _ in 0..<5 { try await log.append(line(.evaluation, "notInteractive", detail: "a")) }
        try await log.append(line(.evaluation, "matched", detail: "a"))
        for _ in 0..<2 { try await log.append(line(.evaluation, "notInteractive", detail: "a")) }
        try await log.append(line(.evaluation, "notInteractive", detail: "b"))
        let entries = try await log.entries(limit: 9)
        #expect(entries.map(\.outcome) == ["notInteractive", "matched", "notInteractive", "matched"])
        #expect(entries.map(\.repeats) == [1, 1, 7, 1])
    }

    @Test func `that is damaged is an error, not a crash`() async throws {
        let fixture = try Fixture()
        // Kept open: a store without its own tables is not opened.
        let database = try fixture.database()
        let log = AuditLog(database: database)
        try await log.append(entry(1))
        try await database.write { db in
            try db.execute(
                script: """
                    CREATE TABLE loose AS SELECT * FROM audit;
                    DROP TABLE audit;
                    ALTER TABLE loose RENAME TO audit;
                    UPDATE audit SET at = 'never';
                    """
            )
        }
        await #expect(throws: ServiceError.self) { try await log.entries(limit: 1) }
    }
}

@Suite struct `The texts of a prompt` {
    private func prompt(
        _ change: (inout EvaluationRequest) -> Void,
        hasPasscode: Bool = false
    ) -> Prompt {
        var request = Fixture.request()
        change(&request)
        return PromptTexts().prompt(
            for: request,
            .standard,
            at: .scripted(),
            hasPasscode: hasPasscode
        )
    }

    @Test func `have defaults`() {
        let plain = prompt { _ in }
        #expect(plain.title == "org.example.test")
        #expect(plain.cancelTitle == "Cancel")
        #expect(plain.fallbackTitle == "Use Password…")
        #expect(plain.readerKind == .mock)
    }

    @Test func `begin with the name of the program that asks, without what acts on a terminal`() {
        #expect(prompt { $0.application = ApplicationID(rawValue: "va\u{1B}[1mult\n") }.title == "va[1mult ")
        #expect(prompt { $0.application = ApplicationID(rawValue: "\u{7} ") }.title == "A program")
        let long = String(repeating: "x", count: 1000)
        #expect(prompt { $0.application = ApplicationID(rawValue: long) }.title.count == 60)
    }

    @Test(arguments: ["", " ", "\u{1B}", "\n"]) func `always have a way to cancel`(_ title: String) {
        #expect(prompt { $0.cancelTitle = title }.cancelTitle == "Cancel")
    }

    @Test func `are the request's where it brings some, cleaned`() {
        #expect(prompt { $0.cancelTitle = "No\u{7}" }.cancelTitle == "No")
        #expect(prompt { $0.fallbackTitle = "PIN\u{9B}" }.fallbackTitle == "PIN")
        #expect(prompt { $0.fallbackTitle = "" }.fallbackTitle == nil)
    }

    @Test func `offer no fallback under deviceOwner where no passcode is set`() {
        #expect(prompt { $0.policy = .deviceOwner }.fallbackTitle == nil)
        #expect(prompt({ $0.policy = .deviceOwner }, hasPasscode: true).fallbackTitle == "Use Password…")
    }
}
