// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSQLite
import WhorlStateStore
import Synchronization
import Testing
import WhorlService

struct FingerEnrollerTests {
    typealias Presentation = TestReader.Presentation

    private func enroll(
        _ fixture: Fixture,
        _ finger: Finger,
        on reader: TestReader,
        profile: String = "ada",
        timeout: Duration = .seconds(60),
        observer: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) async throws(ServiceError) -> EnrolledFinger {
        try await fixture.enroller.enroll(
            finger,
            profile: profile,
            on: reader,
            timeout: timeout,
            observer: observer
        )
    }

    /// Three stages and the confirming touch of one finger.
    private func presses(_ word: String) -> [Presentation] { Array(repeating: .finger(word), count: 4) }

    @Test(arguments: [ReaderInfo.Storage.host, .reader])
    func `a finger is enrolled with its stages and one confirming touch`(storage: ReaderInfo.Storage)
        async throws
    {
        let fixture = try Fixture()
        let reader = TestReader(.test(storage: storage), presses("index"))
        let seen = Mutex<[EnrollmentProgress]>([])
        let enrolled = try await enroll(fixture, .rightIndex, on: reader) { event in
            seen.withLock { $0.append(event) }
        }
        #expect(enrolled.finger == .rightIndex && enrolled.storage == storage)
        #expect(try await fixture.store.fingers(of: "ada") == [enrolled])
        let gallery = try await fixture.store.gallery(of: "ada", on: reader.info.id)
        #expect(gallery.map(\.id) == [enrolled.id])
        #expect(reader.stored.map(\.template) == (storage == .reader ? gallery.map(\.template) : []))
        #expect(reader.touches == 4 && !reader.isOpen)
        #expect(
            seen.withLock { $0 } == [
                .scan(.touch), .scan(.stage(completed: 1, total: 3)),
                .scan(.touch), .scan(.stage(completed: 2, total: 3)),
                .scan(.touch), .scan(.stage(completed: 3, total: 3)),
                .confirming(triesLeft: 3), .scan(.touch),
            ]
        )
    }

    @Test func `a finger of that name is refused before any touch, on this reader only`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(.test(), presses("index"))
        _ = try await enroll(fixture, .rightIndex, on: reader)
        let touches = reader.touches
        let error = await failure {
            try await enroll(fixture, .rightIndex, on: reader)
        }
        #expect(error == ServiceError(.fingerExists, details: [.finger: "right-index-finger"]))
        #expect(reader.touches == touches)
        _ = try await enroll(fixture, .rightIndex, on: TestReader(.test("test-1"), presses("index")))
    }

    @Test(arguments: [ReaderInfo.Storage.host, .reader])
    func `a finger that is enrolled under another name is named, and nothing is kept`(
        storage: ReaderInfo.Storage
    ) async throws {
        let fixture = try Fixture()
        let reader = TestReader(.test(storage: storage), presses("index") + presses("index"))
        let first = try await enroll(fixture, .rightIndex, on: reader)
        let kept = reader.stored
        let error = await failure {
            try await enroll(fixture, .leftThumb, on: reader)
        }
        #expect(error == ServiceError(.duplicate, details: [.finger: "right-index-finger"]))
        #expect(try await fixture.store.fingers(of: "ada") == [first])
        #expect(reader.stored == kept)
    }

    @Test func `another profile's finger is no duplicate`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(.test(), presses("index") + presses("index"))
        _ = try await enroll(fixture, .rightIndex, on: reader)
        _ = try await enroll(fixture, .rightIndex, on: reader, profile: "bob")
        #expect(try await fixture.store.fingers(of: "bob").count == 1)
    }

    /// Presentations after the stages, and what must come of it.
    static let confirmations: [(String, [Presentation], ServiceError?)] = [
        ("another finger once", [.finger("b"), .finger("a")], nil),
        ("another finger twice", [.finger("b"), .finger("c"), .finger("a")], nil),
        (
            "three times another finger", [.finger("b"), .finger("b"), .finger("b"), .finger("a")],
            ServiceError(.inconsistent)
        ),
        ("unreadable, then good", Array(repeating: .retry(.tooShort), count: 20) + [.finger("a")], nil),
        (
            "unreadable for ever", Array(repeating: .retry(.general), count: 100),
            ServiceError(.tooManyRetries)
        ),
        (
            "unreadable touches cost no try",
            [.finger("b"), .retry(.general), .finger("b"), .retry(.general), .finger("a")], nil
        ),
        (
            "the reader lies", [.lie],
            ServiceError(ReaderError(.untrustworthy, operation: "identify", cause: lie))
        ),
        ("unplugged", [.fails(.unplugged)], ServiceError(ReaderError(.unplugged, operation: "identify"))),
    ]
    static let lie = "a match with a print that it was not given"

    @Test(arguments: confirmations, [ReaderInfo.Storage.host, .reader])
    func `the confirming touch decides, and a failure leaves nothing`(
        row: (what: String, touches: [Presentation], error: ServiceError?),
        storage: ReaderInfo.Storage
    ) async throws {
        let fixture = try Fixture()
        let reader = TestReader(
            .test(storage: storage),
            Array(repeating: .finger("a"), count: 3) + row.touches
        )
        let error = await failure {
            try await enroll(fixture, .rightIndex, on: reader)
        }
        #expect(error == row.error)
        #expect(try await fixture.store.fingers(of: "ada").count == (row.error == nil ? 1 : 0))
        #expect(reader.stored.count == (row.error == nil && storage == .reader ? 1 : 0))
        #expect(try await rows(fixture) == (row.error == nil ? 1 : 0))
        #expect(!reader.isOpen)
    }

    @Test func `a reader that cannot identify verifies the new print alone`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(.test(features: [.verify]), presses("index"))
        _ = try await enroll(fixture, .rightIndex, on: reader)
        reader.script(.finger("x"), .finger("x"), .finger("x"), .finger("y"), .finger("y"), .finger("y"))
        let error = await failure {
            try await enroll(fixture, .leftThumb, on: reader)
        }
        #expect(error?.code == .inconsistent)
    }

    @Test func `retries between stages cost nothing, a storm of them ends`() async throws {
        let fixture = try Fixture()
        let storm = Array(repeating: Presentation.retry(.centerFinger), count: 20)
        let reader = TestReader(
            .test(),
            storm + [.finger("a")] + storm + [.finger("a"), .finger("a")] + presses("a")
        )
        _ = try await enroll(fixture, .rightIndex, on: reader)

        let endless = TestReader(.test(), Array(repeating: .retry(.tooFast), count: 10_000))
        let error = await failure {
            try await enroll(fixture, .leftThumb, on: endless)
        }
        #expect(error?.code == .tooManyRetries)
        #expect(try await fixture.store.fingers(of: "ada").count == 1)
    }

    /// At which touch nobody comes: in the stages, and at the confirmation.
    @Test(arguments: [0, 2, 3], [ReaderInfo.Storage.host, .reader])
    func `a touch that does not come ends the enrollment`(after count: Int, storage: ReaderInfo.Storage)
        async throws
    {
        let fixture = try Fixture()
        let reader = TestReader(.test(storage: storage), Array(repeating: .finger("a"), count: count))
        let error = await failure {
            try await enroll(fixture, .rightIndex, on: reader, timeout: .milliseconds(50))
        }
        #expect(error?.code == .timedOut)
        #expect(reader.stored.isEmpty && !reader.isOpen)
        #expect(try await rows(fixture) == 0)
    }

    @Test(arguments: [1, 3, 4], [ReaderInfo.Storage.host, .reader])
    func `cancelling at any touch leaves nothing`(touch: Int, storage: ReaderInfo.Storage) async throws {
        let fixture = try Fixture()
        let reader = TestReader(.test(storage: storage), Array(repeating: .finger("a"), count: touch - 1))
        let (reached, mark) = AsyncStream.makeStream(of: Void.self)
        reader.state.withLock { $0.atTouch[touch] = { mark.finish() } }
        let task = Task {
            await failure { try await enroll(fixture, .rightIndex, on: reader) }
        }
        for await _ in reached {}
        task.cancel()
        #expect(await task.value?.code == .appCancel)
        #expect(reader.stored.isEmpty && !reader.isOpen)
        #expect(try await rows(fixture) == 0)
    }

    @Test func `a reader that does not open is closed, and its error is told`() async throws {
        let fixture = try Fixture()
        let reader = TestReader()
        reader.failNext("open", .inUse)
        let error = await failure {
            try await enroll(fixture, .rightIndex, on: reader)
        }
        #expect(error == ServiceError(ReaderError(.inUse, operation: "open")))
    }

    /// All rows of prints, whatever their state.
    private func rows(_ fixture: Fixture) async throws -> Int {
        try await fixture.database.read { try $0.value(sql: "SELECT count(*) FROM prints") ?? -1 }
    }
}
