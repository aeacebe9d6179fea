// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlStateStore
import Synchronization
import Testing

@testable import WhorlEnrollment
import WhorlService

/// Whoever changes the enrolled fingers needs the consent of their owner, and the store itself asks for it.
@Suite struct `The owner's consent` {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private var store: EnrollmentStore { fixture.store }

    private var plain: FingerEnroller { FingerEnroller(store: store, counter: TouchBook()) }

    private func consent(
        to change: OwnerConsent.Change,
        of profile: String = "ada",
        by proof: OwnerConsent.Proof = .finger
    ) async throws -> OwnerConsent {
        OwnerConsent(to: change, in: try await store.status(of: profile), by: proof)
    }

    /// Puts a finger into the store with this consent.
    private func add(_ finger: Finger, _ consent: OwnerConsent?) async -> ServiceError.Code? {
        let store = store
        return await failure {
            try await store.add(
                Template(bytes: Array(finger.rawValue.utf8)),
                as: finger,
                label: nil,
                profile: "ada",
                on: .test(),
                at: Date(timeIntervalSince1970: 1),
                consent: consent
            )
        }?.code
    }

    private func setPasscode() async throws {
        try await fixture.tamper("INSERT INTO vault_passcodes VALUES ('ada', x'', x'', 0, x'')")
    }

    private func fingers() async throws -> [Finger] { try await store.fingers(of: "ada").map(\.finger) }

    // MARK: - Enrolling

    @Test func `is not needed for the first finger where no passcode is set`() async throws {
        #expect(await add(.rightIndex, nil) == nil)
    }

    @Test func `is needed for the first finger where a passcode is set`() async throws {
        try await setPasscode()
        #expect(await add(.rightIndex, nil) == .ownerNeeded)
        #expect(await add(.rightIndex, try await consent(to: .add(.rightIndex), by: .passcode)) == nil)
    }

    // Docs/Security.md: A2a
    @Test(arguments: [ReaderInfo.Storage.host, .reader])
    func `is missed before the first stage of a second finger`(storage: ReaderInfo.Storage) async throws {
        try await fixture.add(.rightIndex, "one")
        let reader = TestReader(.test(storage: storage), Array(repeating: .finger("b"), count: 4))
        let plain = plain
        let error = await failure {
            try await plain.enroll(.leftIndex, profile: "ada", on: reader, consent: nil)
        }
        #expect(error?.code == .ownerNeeded)
        #expect(reader.touches == 0 && reader.stored.isEmpty)
        #expect(try await fingers() == [.rightIndex])
    }

    // Docs/Security.md: A2b
    @Test(arguments: [ReaderInfo.Storage.host, .reader])
    func `lets a second finger in, once`(storage: ReaderInfo.Storage) async throws {
        try await fixture.add(.rightIndex, "one")
        let consent = try await consent(to: .add(.leftIndex))
        let reader = TestReader(.test(storage: storage), Array(repeating: .finger("b"), count: 8))
        _ = try await plain.enroll(.leftIndex, profile: "ada", on: reader, consent: consent)
        #expect(try await fingers() == [.leftIndex, .rightIndex])
        let plain = plain
        _ = try await fixture.enroller.remove(
            .finger(.leftIndex, on: nil),
            profile: "ada",
            readers: [reader]
        )
        let again = await failure {
            try await plain.enroll(.leftIndex, profile: "ada", on: reader, consent: consent)
        }
        #expect(again?.code == .changedMeanwhile)
        #expect(reader.touches == 4)
    }

    // Docs/Security.md: A2a
    @Test func `of another profile, for another change or to another finger is none`() async throws {
        try await fixture.add(.rightIndex, "one")
        try await fixture.add(.rightIndex, "one", profile: "bob")
        for other in [
            try await consent(to: .add(.leftIndex), of: "bob"), try await consent(to: .add(.rightThumb)),
            try await consent(to: .remove(.all)), try await consent(to: .accept, by: .passcode),
        ] {
            #expect(await add(.leftIndex, other) == .ownerNeeded)
        }
        #expect(try await fingers() == [.rightIndex])
    }

    // Docs/Security.md: A2b
    @Test(arguments: [ReaderInfo.Storage.host, .reader])
    func `counts no more when somebody enrolls in between, and nothing is left`(storage: ReaderInfo.Storage)
        async throws
    {
        try await fixture.add(.rightIndex, "one")
        let consent = try await consent(to: .add(.leftIndex))
        let reader = TestReader(.test(storage: storage), Array(repeating: .finger("b"), count: 4))
        // Another process adds a finger while the stages go on.
        let other = EnrollmentStore(database: try StateDatabase(directory: fixture.home.state))
        let (done, mark) = AsyncStream.makeStream(of: Void.self)
        reader.state.withLock { state in
            state.atTouch[2] = {
                Task {
                    try await other.add(
                        Template(bytes: [7]),
                        as: .rightThumb,
                        label: nil,
                        profile: "ada",
                        on: .test(),
                        at: Date(timeIntervalSince1970: 2)
                    )
                    mark.finish()
                }
            }
            state.presentations[3] = .late("b")
        }
        let plain = plain
        let task = Task {
            await failure {
                try await plain.enroll(.leftIndex, profile: "ada", on: reader, consent: consent)
            }
        }
        for await _ in done {}
        while reader.touches < 4 { await Task.yield() }
        reader.state.withLock { $0.late?.finish() }
        #expect(await task.value?.code == .changedMeanwhile)
        #expect(Set(try await fingers()) == [.rightIndex, .rightThumb])
        #expect(reader.stored.isEmpty)
    }

    @Test func `that was not needed when it was asked for is needed when the first finger came meanwhile`()
        async throws
    {
        #expect(try await store.status(of: "ada").need == .nothing)
        try await fixture.add(.rightIndex, "one")
        #expect(await add(.leftIndex, nil) == .ownerNeeded)
    }

    // MARK: - Removing

    @Test(arguments: [FingerSelection.finger(.rightIndex, on: nil), .all])
    func `is needed for removing fingers`(selection: FingerSelection) async throws {
        try await fixture.add(.rightIndex, "one")
        let plain = plain
        func remove(_ consent: OwnerConsent?) async -> ServiceError.Code? {
            await failure {
                try await plain.remove(selection, profile: "ada", readers: [], consent: consent)
            }?.code
        }
        #expect(await remove(nil) == .ownerNeeded)
        #expect(await remove(try await consent(to: .add(.rightIndex))) == .ownerNeeded)
        let early = try await consent(to: .remove(selection))
        try await fixture.add(.leftIndex, "two")
        #expect(await remove(early) == .changedMeanwhile)
        #expect(try await fingers().count == 2)
        #expect(await remove(try await consent(to: .remove(selection))) == nil)
    }

    // MARK: - Fingers that cannot be trusted

    private static let edits = [
        "UPDATE profiles SET manifest_mac = zeroblob(32)",
        "UPDATE prints SET enrolled_at = enrolled_at + 1",
    ]

    @Test(arguments: edits)
    func `is not needed for giving up fingers that cannot be trusted, where no passcode is set`(sql: String)
        async throws
    {
        try await fixture.add(.rightIndex, "one")
        try await fixture.tamper(sql)
        let removed = try await plain.remove(.all, profile: "ada", readers: [], consent: nil)
        #expect(removed.map(\.finger) == [.rightIndex])
        #expect(try await fingers().isEmpty)
    }

    // Docs/Security.md: S13
    @Test(arguments: edits)
    func `is the passcode's alone where fingers cannot be trusted`(sql: String) async throws {
        try await fixture.add(.rightIndex, "one")
        try await setPasscode()
        try await fixture.tamper(sql)
        let plain = plain
        for proof in [nil, OwnerConsent.Proof.finger] {
            var consents: [OwnerConsent.Change: OwnerConsent] = [:]
            for change in [OwnerConsent.Change.remove(.all), .accept] {
                if let proof { consents[change] = try await consent(to: change, by: proof) }
            }
            let (removal, acceptance) = (consents[.remove(.all)], consents[.accept])
            #expect(
                await failure {
                    try await plain.remove(.all, profile: "ada", readers: [], consent: removal)
                }?.code == .ownerNeeded
            )
            #expect(
                await failure {
                    try await plain.accept(profile: "ada", consent: acceptance)
                }?.code == .ownerNeeded
            )
        }
        let accepted = try await plain.accept(
            profile: "ada",
            consent: try await consent(to: .accept, by: .passcode)
        )
        #expect(accepted?.kept.map(\.finger) == [.rightIndex])
        #expect(try await fingers() == [.rightIndex])
    }

    @Test func `to edited fingers keeps those that were sealed here, and brings no digest back`() async throws
    {
        try await fixture.add(.rightIndex, "one")
        try await fixture.add(.leftIndex, "two")
        try await fixture.add(.leftThumb, "three")
        try await fixture.add(.rightIndex, "bob's", profile: "bob")
        let before = try #require(try await fixture.digest())
        try await setPasscode()
        // One is gone, one was swapped with another user's.
        try await fixture.tamper("DELETE FROM prints WHERE profile = 'ada' AND finger = 2")
        try await fixture.tamper(
            "UPDATE prints SET template = (SELECT template FROM prints WHERE profile = 'bob') WHERE finger = 1"
        )
        let accepted = try await plain.accept(
            profile: "ada",
            consent: try await consent(to: .accept, by: .passcode)
        )
        #expect(
            accepted?.kept.map(\.finger) == [.rightIndex] && accepted?.removed.map(\.finger) == [.leftThumb]
        )
        #expect(try await fingers() == [.rightIndex])
        let after = try #require(try await fixture.digest())
        #expect(after != before)
        let difference = try await store.difference(of: "ada", application: "app", since: before)
        #expect(difference.changed && !difference.isKnown)
        #expect(try await store.fingers(of: "bob").count == 1)
    }

    @Test func `to an older state goes on from the counter, in an epoch of its own`() async throws {
        let counter = OutsideCounter()
        let fixture = try Fixture(generations: counter)
        try await fixture.add(.rightIndex, "one")
        let digest = try await fixture.digest()
        // The counter has counted a change that this database does not know.
        for generation in [102, 103] { try await counter.advance("ada", to: UInt64(generation)) }
        try await fixture.tamper("INSERT INTO vault_passcodes VALUES ('ada', x'', x'', 0, x'')")
        let status = try await fixture.store.status(of: "ada")
        #expect(status.fault?.code == .enrollmentRolledBack && status.need == .passcode)
        let enroller = FingerEnroller(store: fixture.store, counter: TouchBook())
        let accepted = try await enroller.accept(
            profile: "ada",
            consent: OwnerConsent(to: .accept, in: status, by: .passcode)
        )
        #expect(accepted?.kept.map(\.finger) == [.rightIndex])
        #expect(counter.value("ada") == 104)
        #expect(try await fixture.store.state(of: "ada", application: "a")?.generation == 104)
        #expect(try await fixture.digest() != digest)
    }

    @Test func `to changed fingers does not count when they are changed once more`() async throws {
        try await fixture.add(.rightIndex, "one")
        try await fixture.add(.leftIndex, "two")
        try await setPasscode()
        try await fixture.tamper(Self.edits[0])
        let consent = try await consent(to: .accept, by: .passcode)
        try await fixture.tamper("DELETE FROM prints WHERE finger = 7")
        let plain = plain
        #expect(
            await failure {
                try await plain.accept(profile: "ada", consent: consent)
            }?.code == .changedMeanwhile
        )
    }

    @Test func `is nothing to ask for where the fingers are in order`() async throws {
        try await fixture.add(.rightIndex, "one")
        let digest = try await fixture.digest()
        #expect(try await plain.acceptable(profile: "ada") == nil)
        let consent = try await consent(to: .accept, by: .passcode)
        #expect(try await plain.accept(profile: "ada", consent: consent) == nil)
        #expect(try await fixture.digest() == digest)
    }
}

/// The last touch of an enrollment is compared with every enrolled finger: it costs what a touch of an evaluation costs.
@Suite struct `The confirming touch` {
    /// Enrolls a second finger, `b`, with these touches behind the stages.
    private func enroll(
        _ touches: [TestReader.Presentation],
        limit: Int = 5,
        first: Bool = false
    ) async throws -> (error: ServiceError?, seen: [String]) {
        let fixture = try Fixture()
        if !first { try await fixture.add(.rightIndex, "a#0") }
        let book = TouchBook(limit: limit)
        let enroller = AgreedEnroller(fixture.store, counter: book)
        let reader = TestReader(.test(), Array(repeating: .finger("b"), count: 3) + touches)
        let error = await failure {
            try await enroller.enroll(.leftIndex, profile: "ada", on: reader)
        }
        return (error, book.seen.withLock(\.self))
    }

    @Test func `is charged before its scan, and a match takes that back and nothing else`() async throws {
        let outcome = try await enroll([.finger("b")])
        #expect(outcome.error == nil && outcome.seen == ["reserve", "release"])
    }

    @Test func `stays charged for each touch that matches no print`() async throws {
        let outcome = try await enroll([.finger("x"), .retry(.general), .finger("y"), .finger("b")])
        #expect(outcome.error == nil)
        #expect(outcome.seen == ["reserve", "charge", "reserve", "charge", "reserve", "release"])
    }

    @Test func `of an enrolled finger is a duplicate, and costs nothing`() async throws {
        let outcome = try await enroll([.finger("a")])
        #expect(outcome.error == ServiceError(.duplicate, details: [.finger: "right-index-finger"]))
        #expect(outcome.seen == ["reserve", "release"])
    }

    @Test func `ends the enrollment when it was the last try`() async throws {
        let outcome = try await enroll([.finger("x"), .finger("y"), .finger("b")], limit: 2)
        #expect(outcome.error?.code == .biometryLockout)
        #expect(outcome.seen == ["reserve", "charge", "reserve", "charge"])
    }

    @Test func `that comes to no answer costs nothing`() async throws {
        let outcome = try await enroll([.fails(.unplugged)])
        #expect(outcome.seen == ["reserve", "release"])
    }

    @Test func `of the first finger says nothing about another, and costs nothing`() async throws {
        let outcome = try await enroll([.finger("x"), .finger("b")], first: true)
        #expect(outcome.error == nil && outcome.seen.isEmpty)
    }
}
