// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlStateStore
import Testing
import WhorlService

// Docs/Security.md: S18, S53
@Suite struct `The reuse window` {
    /// What happens after a match, and whether a request with a window of 60 seconds then needs a touch.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isReused: Bool
        let change: @Sendable (Fixture) async throws -> Void

        init(_ title: String, isReused: Bool, _ change: @escaping @Sendable (Fixture) async throws -> Void) {
            testDescription = title
            self.isReused = isReused
            self.change = change
        }
    }

    static let cases = [
        Case("nothing", isReused: true) { _ in },
        Case("59 seconds", isReused: true) { $0.clock.advance(.seconds(59)) },
        Case("60 seconds", isReused: false) { $0.clock.advance(.seconds(60)) },
        Case("the wall clock is set back", isReused: true) { $0.clock.setWall(by: .seconds(-5000)) },
        Case("60 seconds, and the wall clock is set back", isReused: false) {
            $0.clock.advance(.seconds(60))
            $0.clock.setWall(by: .seconds(-5000))
        },
        Case("a restart", isReused: false) { $0.clock.reboot() },
        Case("a finger is added", isReused: false) { try await $0.enroll(.leftThumb) },
        Case("a finger is added and removed", isReused: false) { fixture in
            try await fixture.enroll(.leftThumb)
            try await fixture.remove(.leftThumb)
        },
        Case("a failure", isReused: true) { fixture in
            fixture.reader.add([.noMatch, .failure(.unplugged)])
            _ = await fixture.evaluate()
        },
        Case("a lock that has ended", isReused: false) { fixture in
            // Time stands still meanwhile, and the passcode's way out keeps the window's seconds untouched.
            fixture.reader.add(Array(repeating: .noMatch, count: 5))
            _ = await fixture.evaluate()
            _ = await fixture.evaluate()
            try await fixture.execute("UPDATE attempts SET failures = 0")
        },
        Case("a made-up later time", isReused: false) { fixture in
            try await fixture.execute("UPDATE reuse SET payload = CAST(payload || x'00' AS BLOB)")
        },
        Case("another key", isReused: false) { fixture in
            try await fixture.execute("UPDATE reuse SET mac = zeroblob(32)")
        },
        Case("garbage", isReused: false) { fixture in
            try await fixture.execute("UPDATE reuse SET payload = x'', mac = x''")
        },
    ]

    @Test(arguments: cases) func `after a match and`(_ example: Case) async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        _ = try await #require(fixture.evaluate().success)
        try await example.change(fixture)
        let scans = fixture.reader.counts.scans
        let request = Fixture.request(reuse: .seconds(60), interactionAllowed: false)
        let result = await fixture.evaluate(request)
        #expect(fixture.reader.counts.scans == scans)
        if example.isReused {
            #expect(result.success?.isReused == true)
            #expect(result.success?.finger == .rightIndex)
            #expect(result.success?.readerKind == .mock)
            #expect(try await fixture.log().last == "evaluation reused")
        } else {
            #expect(result.code == .notInteractive)
        }
    }

    @Test func `is closed for a request that does not ask for it`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        _ = try await #require(fixture.evaluate().success)
        #expect(await fixture.evaluate(Fixture.request(interactionAllowed: false)).code == .notInteractive)
        let negative = Fixture.request(reuse: .seconds(-1), interactionAllowed: false)
        #expect(await fixture.evaluate(negative).code == .notInteractive)
    }

    @Test func `is 300 seconds at most`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        _ = try await #require(fixture.evaluate().success)
        let request = Fixture.request(reuse: .seconds(100_000), interactionAllowed: false)
        fixture.clock.advance(.seconds(299))
        #expect(await fixture.evaluate(request).success != nil)
        fixture.clock.advance(.seconds(1))
        #expect(await fixture.evaluate(request).code == .notInteractive)
    }

    @Test func `is not prolonged by being used`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        _ = try await #require(fixture.evaluate().success)
        let request = Fixture.request(reuse: .seconds(60), interactionAllowed: false)
        fixture.clock.advance(.seconds(40))
        #expect(await fixture.evaluate(request).success != nil)
        fixture.clock.advance(.seconds(40))
        #expect(await fixture.evaluate(request).code == .notInteractive)
    }

    @Test func `holds for the reader of the match alone`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let other = ScriptedReader([], info: .scripted(id: "scripted-1"))
        try await fixture.enroll(.leftThumb, on: await other.info)
        _ = try await #require(fixture.evaluate().success)
        let request = Fixture.request(reuse: .seconds(60), interactionAllowed: false)
        #expect(
            await fixture.evaluate(request, engine: fixture.engine(reader: other)).code == .notInteractive
        )
        #expect(await fixture.evaluate(request).success != nil)
    }

    @Test func `goes before everything that a prompt needs, and after a preflight`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        _ = try await #require(fixture.evaluate().success)
        let request = Fixture.request(reuse: .seconds(60))
        let presenter = ScriptedPresenter(interactive: false)
        #expect(await fixture.evaluate(request, presenter: presenter).success?.isReused == true)
        #expect(presenter.prompts.isEmpty)
        try await fixture.engine().setOptedOut(true, for: Fixture.application)
        #expect(await fixture.evaluate(request).code == .biometryOptedOut)
    }

    @Test(arguments: [
        ("UPDATE prints SET template = zeroblob(length(template))", false),
        ("UPDATE prints SET enrolled_at = enrolled_at + 1", false),
        ("UPDATE profiles SET manifest_mac = zeroblob(32)", false),
        ("DELETE FROM prints", false),
        ("UPDATE prints SET label = 'x'", true),
    ])
    func `looks at the prints when it answers, not before`(_ edit: String, _ isReused: Bool) async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        _ = try await #require(fixture.evaluate().success)
        let fingers = try await fixture.store().snapshot(of: fixture.profile)
        var made = EvaluationBookkeeping(
            database: try fixture.database(),
            profile: fixture.profile,
            application: Fixture.application,
            reader: await fixture.reader.info,
            reason: "",
            lockEndsByTime: true,
            time: fixture.clock.time
        )
        made.stay = ""
        let bookkeeping = made
        #expect(try await bookkeeping.reusableMatch(of: fingers, within: .seconds(60))?.finger == .rightIndex)
        try await fixture.execute(edit)
        let match = try await bookkeeping.reusableMatch(of: fingers, within: .seconds(60))
        #expect((match != nil) == isReused)
    }

    @Test func `is not opened by another profile's match`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        _ = try await #require(fixture.evaluate().success)
        try await fixture.execute("UPDATE reuse SET profile = 'thief'")
        let database = try fixture.database()
        let window = ReuseWindow(keys: database.keys)
        let moved = try #require(try await database.read { try window.match(of: "thief", in: $0) })
        #expect(
            !moved.holds(
                for: "thief",
                generation: moved.generation,
                reader: .scripted(),
                in: "",
                at: fixture.clock.time.now(),
                window: .seconds(60)
            )
        )
    }

    @Test(arguments: [
        ("", 5, false), ("boot", 4, false), ("boot", 5, true), ("boot", 60_004, true),
        ("boot", 60_005, false),
    ])
    func `is open from the match on, in a boot that has a name`(
        _ bootID: String,
        _ sinceBoot: Int64,
        _ isOpen: Bool
    ) {
        let reader = ReaderInfo.scripted()
        let match = ReusableMatch(
            print: PrintID(),
            finger: .leftThumb,
            profile: "owner",
            generation: 1,
            reader: reader,
            in: "2",
            at: Moment(bootID: bootID, sinceBoot: 5, wall: 5)
        )
        let now = Moment(bootID: bootID, sinceBoot: sinceBoot, wall: 5)
        func holds(in place: String, _ now: Moment) -> Bool {
            match.holds(
                for: "owner",
                generation: 1,
                reader: reader,
                in: place,
                at: now,
                window: .seconds(60)
            )
        }
        #expect(holds(in: "2", now) == isOpen)
        #expect(!holds(in: "3", now) && !holds(in: "", now))
        let awake = Moment(bootID: bootID, sinceBoot: sinceBoot, wall: 5, asleep: 51)
        #expect(!holds(in: "2", awake))
    }

    @Test func `is closed by a sleep of the machine, and in another stay in a login session`() async throws {
        for (stay, sleep, isReused) in [("2", 0, true), ("3", 0, false), ("2", 1, false)] {
            let fixture = try await Fixture.enrolled([.match(0), .match(0)])
            var request = Fixture.request(reuse: .seconds(60))
            request.asker = Asker(user: 1000, session: "2")
            request.stay = "2"
            _ = try #require(await fixture.evaluate(request).success)
            if sleep > 0 { fixture.clock.sleep(.seconds(sleep)) }
            request.stay = stay
            #expect(try await #require(fixture.evaluate(request).success).isReused == isReused)
        }
    }

    @Test func `is neither opened nor taken for a program of whose stay nothing is known`() async throws {
        let fixture = try await Fixture.enrolled([.match(0), .match(0), .match(0)])
        var unknown = Fixture.request(reuse: .seconds(60))
        unknown.asker = Asker(user: 1000)
        _ = try #require(await fixture.evaluate(unknown).success)
        let known = Fixture.request(reuse: .seconds(60))
        #expect(try await #require(fixture.evaluate(known).success).isReused == false)
        #expect(try await #require(fixture.evaluate(unknown).success).isReused == false)
        #expect(try await #require(fixture.evaluate(known).success).isReused)
    }
}
