// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSQLite
import WhorlStateStore
import Synchronization
import Testing
import WhorlService

/// Readers that keep the prints in themselves: the two storages stay the same, or become the same again.
struct ReaderStorageTests {
    private let info = ReaderInfo.test("chip-0", storage: .reader)

    private func enrolled(_ fixture: Fixture, _ finger: Finger, _ word: String, on reader: TestReader)
        async throws
    {
        reader.script(.finger(word), .finger(word), .finger(word), .finger(word))
        _ = try await fixture.enroller.enroll(finger, profile: "ada", on: reader)
    }

    private func states(_ fixture: Fixture) async throws -> [String] {
        try await fixture.database.read {
            try $0.values(sql: "SELECT state FROM prints ORDER BY state") as [String]
        }
    }

    private func stray(_ word: String, _ metadata: EnrollmentMetadata = EnrollmentMetadata()) -> StoredPrint {
        StoredPrint(template: Template(bytes: Array(word.utf8)), metadata: metadata)
    }

    @Test func `removing deletes from the reader`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(info)
        try await enrolled(fixture, .rightIndex, "a", on: reader)
        try await enrolled(fixture, .leftIndex, "b", on: reader)
        let removed = try await fixture.enroller.remove(
            .finger(.rightIndex, on: nil),
            profile: "ada",
            readers: [reader]
        )
        #expect(removed.map(\.finger) == [.rightIndex])
        #expect(reader.stored.count == 1 && !reader.isOpen)
        _ = try await fixture.enroller.remove(.all, profile: "ada", readers: [reader])
        #expect(reader.stored.isEmpty)
        #expect(try await states(fixture).isEmpty)
    }

    @Test func `nothing to remove is said, except for all`() async throws {
        let fixture = try Fixture()
        let enroller = fixture.enroller
        for selection in [FingerSelection.finger(.leftRing, on: nil), .print(PrintID())] {
            let error = await failure {
                try await enroller.remove(selection, profile: "ada", readers: [])
            }
            #expect(error?.code == .noSuchFinger)
        }
        #expect(try await enroller.remove(.all, profile: "ada", readers: []).isEmpty)
    }

    @Test
    func `a print in a reader that is not there is removed only by force, and then later from the reader`()
        async throws
    {
        let fixture = try Fixture()
        let reader = TestReader(info)
        try await enrolled(fixture, .rightIndex, "a", on: reader)
        let error = await failure {
            try await fixture.enroller.remove(.all, profile: "ada", readers: [])
        }
        #expect(error == ServiceError(.readerNotConnected, details: [.reader: info.id.rawValue]))
        #expect(try await fixture.store.fingers(of: "ada").count == 1)

        let removed = try await fixture.enroller.remove(.all, profile: "ada", readers: [], force: true)
        #expect(removed.count == 1)
        #expect(try await fixture.store.fingers(of: "ada").isEmpty)
        #expect(reader.stored.count == 1)
        let reconciled = try await fixture.enroller.reconcile(profile: "ada", on: reader)
        #expect(reconciled.finished == 1 && reconciled.strays.isEmpty)
        #expect(reader.stored.isEmpty)
        #expect(try await states(fixture).isEmpty)
    }

    @Test func `a removal that the reader did not finish is finished later, and the finger matches no more`()
        async throws
    {
        let fixture = try Fixture()
        let reader = TestReader(info)
        try await enrolled(fixture, .rightIndex, "a", on: reader)
        let digest = try await fixture.digest()
        reader.failNext("delete", .unplugged)
        let error = await failure {
            try await fixture.enroller.remove(.all, profile: "ada", readers: [reader])
        }
        #expect(error == ServiceError(ReaderError(.unplugged, operation: "delete")))
        #expect(try await fixture.store.gallery(of: "ada", on: info.id).isEmpty)
        #expect(try await fixture.digest() != digest)
        #expect(reader.stored.count == 1)
        // The next enrollment finishes it too.
        try await enrolled(fixture, .leftThumb, "b", on: reader)
        #expect(reader.stored.count == 1)
        #expect(try await states(fixture) == ["enrolled"])
    }

    @Test func `a print that was gone from the reader is removed all the same`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(info)
        try await enrolled(fixture, .rightIndex, "a", on: reader)
        reader.state.withLock { $0.stored = [] }
        #expect(try await fixture.enroller.remove(.all, profile: "ada", readers: [reader]).count == 1)
    }

    @Test func `a reader that stored the print and then failed keeps nothing`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(info)
        reader.script(.finger("a"), .finger("a"), .finger("a"))
        reader.failNext("enroll", .malfunction)
        let error = await failure {
            try await fixture.enroller.enroll(.rightIndex, profile: "ada", on: reader)
        }
        #expect(error == ServiceError(ReaderError(.malfunction, operation: "enroll")))
        #expect(reader.stored.isEmpty)
        #expect(try await states(fixture).isEmpty)
    }

    @Test func `a failed enrollment that could not be undone is undone later`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(info)
        reader.script(.finger("a"), .finger("a"), .finger("a"), .fails(.unplugged))
        reader.failNext("delete", .unplugged)
        let error = await failure {
            try await fixture.enroller.enroll(.rightIndex, profile: "ada", on: reader)
        }
        #expect(error == ServiceError(ReaderError(.unplugged, operation: "identify")))
        #expect(reader.stored.count == 1)
        #expect(try await states(fixture) == ["pending"])
        #expect(try await fixture.store.fingers(of: "ada").isEmpty)
        #expect(try await fixture.enroller.reconcile(profile: "ada", on: reader).finished == 1)
        #expect(reader.stored.isEmpty)
        #expect(try await states(fixture).isEmpty)
    }

    /// The process is gone after the reader has stored the print: the intent alone tells of it.
    private func interrupted(_ fixture: Fixture, _ reader: TestReader) async throws {
        reader.script(.finger("a"), .finger("a"), .finger("a"))
        reader.failNext("enroll", .unplugged)
        reader.failNext("list", .malfunction)
        // The first listing is the intent's own; the second one is the undoing's, and fails.
        reader.state.withLock { state in
            let list = state.failures.removeValue(forKey: "list")
            state.atTouch[state.touches + 1] = { [weak reader] in
                if let list { reader?.failNext("list", list) }
            }
        }
        _ = await failure {
            try await fixture.enroller.enroll(.rightIndex, profile: "ada", on: reader)
        }
        #expect(try await states(fixture).contains("pending"))
    }

    @Test func `what an interrupted enrollment left is deleted, and nothing else`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(info)
        try await enrolled(fixture, .leftThumb, "mine", on: reader)
        let before = stray("before", EnrollmentMetadata(finger: .rightIndex, userName: "ada"))
        reader.state.withLock { $0.stored.append(before) }
        try await interrupted(fixture, reader)
        // Another user or system has added prints since, and some readers keep no names with a print.
        let others = [
            stray("other finger", EnrollmentMetadata(finger: .leftRing, userName: "ada")),
            stray("other user", EnrollmentMetadata(userName: "bob")),
            stray(
                "other day",
                EnrollmentMetadata(userName: "ada", date: CalendarDate(year: 2001, month: 1, day: 1))
            ),
            stray("no user", EnrollmentMetadata(finger: .rightIndex)),
        ]
        reader.state.withLock { $0.stored += others }
        let mine = try await fixture.store.gallery(of: "ada", on: info.id).map(\.template)

        let reconciled = try await fixture.enroller.reconcile(profile: "ada", on: reader)
        #expect(reconciled.finished == 1)
        #expect(reconciled.strays == ([before] + others).map(\.metadata))
        #expect(reconciled.missing.isEmpty && reconciled.isListed)
        #expect(reader.stored.map(\.template) == mine + ([before] + others).map(\.template))
        #expect(try await states(fixture) == ["enrolled"])
        #expect(try await fixture.enroller.reconcile(profile: "ada", on: reader).finished == 0)
    }

    @Test func `an enrollment goes on after an interrupted one of the same finger`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(info)
        try await interrupted(fixture, reader)
        try await enrolled(fixture, .rightIndex, "a", on: reader)
        #expect(reader.stored.count == 1)
        #expect(try await states(fixture) == ["enrolled"])
    }

    @Test func `a print that the reader does not give up keeps nobody from enrolling`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(info)
        try await enrolled(fixture, .rightIndex, "a", on: reader)
        _ = try await fixture.enroller.remove(.all, profile: "ada", readers: [], force: true)
        reader.failNext("delete", .malfunction)
        try await enrolled(fixture, .leftThumb, "b", on: reader)
        #expect(try await states(fixture) == ["enrolled", "removing"])
        #expect(reader.stored.count == 2)
        #expect(try await fixture.enroller.reconcile(profile: "ada", on: reader).finished == 1)
        #expect(reader.stored.count == 1)
    }

    @Test func `a reader that cannot delete keeps a stray, and nothing waits for it`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(info)
        try await enrolled(fixture, .rightIndex, "a", on: reader)
        reader.failNext("delete", .unsupported)
        _ = try await fixture.enroller.remove(.all, profile: "ada", readers: [reader])
        #expect(try await states(fixture).isEmpty)
        #expect(try await fixture.enroller.reconcile(profile: "ada", on: reader).strays.count == 1)
    }

    @Test func `strays are named and left, missing prints are named`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(info)
        try await enrolled(fixture, .rightIndex, "a", on: reader)
        let other = stray("other", EnrollmentMetadata(finger: .rightIndex, userName: "ada"))
        reader.state.withLock { $0.stored = [other] }
        let reconciled = try await fixture.enroller.reconcile(profile: "ada", on: reader)
        #expect(reconciled.strays == [other.metadata])
        #expect(reconciled.missing.map(\.finger) == [.rightIndex])
        #expect(reader.stored == [other])
    }

    @Test func `an enrollment of this process is not taken for an interrupted one`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(info)
        reader.script(.finger("a"), .finger("a"), .finger("a"), .late("a"))
        let (reached, mark) = AsyncStream.makeStream(of: Void.self)
        reader.state.withLock { $0.atTouch[4] = { mark.finish() } }
        let task = Task {
            await failure {
                try await fixture.enroller.enroll(.rightIndex, profile: "ada", on: reader)
            }
        }
        for await _ in reached {}
        // The intent is written and the print is in the reader: this is what an interrupted enrollment looks like.
        #expect(try await states(fixture) == ["pending"])
        let reconciling = Task { try await fixture.enroller.reconcile(profile: "ada", on: reader) }
        let removing = Task { try await fixture.enroller.remove(.all, profile: "ada", readers: [reader]) }
        #expect(try await removing.value.isEmpty)
        #expect(reader.isOpen && reader.stored.count == 1)
        reader.state.withLock { $0.late?.finish() }
        #expect(await task.value == nil)
        let reconciled = try await reconciling.value
        #expect(reconciled.finished == 0 && reconciled.strays.isEmpty && reconciled.missing.isEmpty)
        #expect(try await states(fixture) == ["enrolled"])
    }

    @Test func `a reader without a list of its prints enrolls and removes`() async throws {
        let fixture = try Fixture()
        let plain = ReaderInfo.test(
            "chip-1",
            storage: .reader,
            features: [.identify, .verify, .storageDelete]
        )
        let reader = TestReader(plain)
        try await enrolled(fixture, .rightIndex, "a", on: reader)
        #expect(try await !fixture.enroller.reconcile(profile: "ada", on: reader).isListed)
        _ = try await fixture.enroller.remove(.all, profile: "ada", readers: [reader])
        #expect(reader.stored.isEmpty)
    }

    @Test func `a reader of images is not reconciled`() async throws {
        let fixture = try Fixture()
        let reader = TestReader(.test())
        #expect(try await !fixture.enroller.reconcile(profile: "ada", on: reader).isListed)
    }
}
