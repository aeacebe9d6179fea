// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import WhorlEnrollment
import WhorlFingerprint
import WhorlService

/// An enrollment that tells the person which part of the finger to show, and shows how well the finger is recognized.
@Suite struct `A guided enrollment` {
    private func enroll(
        _ presentations: [TestReader.Presentation],
        storage: ReaderInfo.Storage = .host,
        scanType: ReaderInfo.ScanType = .press,
        isGuided: Bool = true
    ) async throws -> (events: [EnrollmentProgress], fingers: [EnrolledFinger], reader: TestReader) {
        let fixture = try Fixture()
        let reader = TestReader(.test(storage: storage, scanType: scanType), presentations)
        let seen = Mutex<[EnrollmentProgress]>([])
        _ = try await fixture.enroller.enroll(
            .rightIndex,
            profile: "ada",
            on: reader,
            timeout: .seconds(60),
            isGuided: isGuided,
            observer: { event in seen.withLock { $0.append(event) } }
        )
        return (seen.withLock(\.self), try await fixture.store.fingers(of: "ada"), reader)
    }

    private func finger(_ count: Int) -> [TestReader.Presentation] {
        Array(repeating: .finger("index"), count: count)
    }

    @Test func `asks for another part of the finger each time, and for three test touches at the end`()
        async throws
    {
        let outcome = try await enroll(finger(7))
        #expect(
            outcome.events == [
                .area(.center), .scan(.touch), .scan(.stage(completed: 1, total: 3)),
                .area(.tip), .scan(.touch), .scan(.stage(completed: 2, total: 3)),
                .area(.left), .scan(.touch), .scan(.stage(completed: 3, total: 3)),
                .confirming(triesLeft: 3), .scan(.touch),
                .tested(recognized: 0, tested: 0, total: 3), .scan(.touch),
                .tested(recognized: 1, tested: 1, total: 3), .scan(.touch),
                .tested(recognized: 2, tested: 2, total: 3), .scan(.touch),
                .tested(recognized: 3, tested: 3, total: 3),
            ]
        )
        #expect(outcome.reader.touches == 7 && outcome.fingers.count == 1)
    }

    @Test func `names a part once, however often a press of it must be repeated`() async throws {
        let outcome = try await enroll([.retry(.tooFast)] + finger(7))
        #expect(
            outcome.events.prefix(5) == [
                .area(.center), .scan(.touch), .scan(.retry(.tooFast)), .scan(.touch),
                .scan(.stage(completed: 1, total: 3)),
            ]
        )
    }

    @Test func `asks for no part where the finger is drawn over the reader`() async throws {
        let outcome = try await enroll(finger(7), scanType: .swipe)
        #expect(!outcome.events.contains { if case .area = $0 { true } else { false } })
        #expect(outcome.events.last == .tested(recognized: 3, tested: 3, total: 3))
    }

    @Test func `asks for all presses once more where most were of one part, and keeps the better ones`()
        async throws
    {
        let alike: [TestReader.Presentation] = [.finger("index"), .alike("index"), .alike("index")]
        let outcome = try await enroll(alike + finger(7))
        #expect(outcome.events.filter { $0 == .again }.count == 1)
        #expect(outcome.events.filter { $0 == .scan(.alike) }.count == 2)
        #expect(outcome.reader.touches == 10)
        #expect(outcome.events.last == .tested(recognized: 3, tested: 3, total: 3))
        // It does not ask a third time.
        let stubborn = try await enroll(alike + alike + finger(4))
        #expect(stubborn.events.filter { $0 == .again }.count == 1 && stubborn.fingers.count == 1)
    }

    @Test func `does not ask again where the reader itself keeps the print`() async throws {
        let alike: [TestReader.Presentation] = [.finger("index"), .alike("index"), .alike("index")]
        let outcome = try await enroll(alike + finger(4), storage: .reader)
        #expect(!outcome.events.contains(.again) && outcome.reader.stored.count == 1)
    }

    @Test func `says how many test touches were recognized, and keeps the finger whatever they were`()
        async throws
    {
        let outcome = try await enroll(finger(4) + [.finger("thumb"), .finger("index"), .finger("thumb")])
        #expect(outcome.events.last == .tested(recognized: 1, tested: 3, total: 3))
        #expect(outcome.fingers.map(\.finger) == [.rightIndex])
    }

    @Test func `is a success where the reader fails at a test touch`() async throws {
        let outcome = try await enroll(finger(5) + [.fails(.unplugged)])
        #expect(
            outcome.events.last { if case .tested = $0 { true } else { false } }
                == .tested(recognized: 1, tested: 1, total: 3)
        )
        #expect(outcome.fingers.count == 1 && !outcome.reader.isOpen)
    }

    @Test func `that was not asked for tells nothing of parts, and ends with the confirming touch`()
        async throws
    {
        let alike: [TestReader.Presentation] = [.finger("index"), .alike("index"), .alike("index")]
        let outcome = try await enroll(alike + finger(1), isGuided: false)
        #expect(outcome.reader.touches == 4)
        #expect(
            outcome.events.allSatisfy {
                switch $0 {
                case .scan(.alike), .area, .again, .tested, .exercising: false
                default: true
                }
            }
        )
    }
}
