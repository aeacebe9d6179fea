// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import MockReader
import Synchronization
import Testing

/// What the steps of a script do to the operations that reach them.
@Suite(.timeLimit(.minutes(10)))
struct PlayingTests {
    @Test func `a later process matches the stored template of the same finger only`() async throws {
        let enrolling = try await opened("stages=2, touch right-index-finger*2")
        let template = try await enrolling.enroll(EnrollmentMetadata(), whenBusy: .fail) { _ in }

        let later = try await opened("touch left-thumb, touch right-index-finger, no-match, match")
        #expect(try await later.verify(template, whenBusy: .fail) { _ in } == .noMatch)
        #expect(try await later.verify(template, whenBusy: .fail) { _ in } == .match(updated: nil))
        #expect(try await later.verify(template, whenBusy: .fail) { _ in } == .noMatch)
        #expect(try await later.verify(template, whenBusy: .fail) { _ in } == .match(updated: nil))
        #expect(later.remainingSteps.isEmpty)
    }

    @Test func `match is the first of the gallery, or the finger that an enrollment names`() async throws {
        let reader = try await opened("stages=1, match*2, match, touch left-thumb, match")
        let thumb = try await reader.enroll(EnrollmentMetadata(finger: .leftThumb), whenBusy: .fail) { _ in }
        let index = try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail) { _ in }
        let gallery = [index, thumb].map { GalleryEntry(id: PrintID(), template: $0) }
        #expect(try await identify(reader, gallery) == .match(gallery[0].id, updated: nil))
        #expect(try await identify(reader, gallery) == .match(gallery[1].id, updated: nil))
        #expect(try await identify(reader, []) == .noMatch)
    }

    @Test func `of two prints of one finger the gallery's first one is named`() async throws {
        let reader = try await opened("stages=1, match*2, touch right-index-finger*2")
        let gallery = [try await enroll(reader), try await enroll(reader)]
            .map { GalleryEntry(id: PrintID(), template: $0) }
        #expect(try await identify(reader, gallery) == .match(gallery[0].id, updated: nil))
        #expect(try await identify(reader, gallery.reversed()) == .match(gallery[1].id, updated: nil))
    }

    @Test func `somebody else's finger can be enrolled, and never matches`() async throws {
        let reader = try await opened("stages=1, no-match*2, match")
        let gallery = [GalleryEntry(id: PrintID(), template: try await enroll(reader))]
        #expect(try await identify(reader, gallery) == .noMatch)
        #expect(try await identify(reader, gallery) == .noMatch)
    }

    @Test func `the template is of the first press, whatever the others are`() async throws {
        let reader = try await opened(
            "stages=2, touch left-thumb, touch right-thumb, touch left-thumb, touch right-thumb"
        )
        let template = try await enroll(reader)
        #expect(try await reader.verify(template, whenBusy: .fail) { _ in } == .match(updated: nil))
        #expect(try await reader.verify(template, whenBusy: .fail) { _ in } == .noMatch)
    }

    @Test func `an enrollment tells each press in its order`() async throws {
        let reader = try await opened("stages=2, match, retry:center-finger, match")
        let events = Mutex<[ScanEvent]>([])
        _ = try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail) { event in
            events.withLock { $0.append(event) }
        }
        let seen = events.withLock { $0 }
        #expect(
            seen == [
                .touch, .finger(present: true), .stage(completed: 1, total: 2), .finger(present: false),
                .touch, .finger(present: true), .retry(.centerFinger), .finger(present: false),
                .touch, .finger(present: true), .stage(completed: 2, total: 2), .finger(present: false),
            ]
        )
    }

    @Test(arguments: [MockLie.index, .stranger])
    func `a lying reader names a print outside of the gallery`(lie: MockLie) async throws {
        let reader = try await opened("stages=1, match, lie:\(lie.rawValue)*2")
        let entry = GalleryEntry(id: PrintID(), template: try await enroll(reader))
        guard case .match(let id, _) = try await identify(reader, [entry]) else {
            Issue.record("no match")
            return
        }
        #expect(id != entry.id)
        await expectError(.untrustworthy) {
            try await reader.verify(entry.template, whenBusy: .fail) { _ in }
        }
    }

    @Test(
        arguments: [
            ("storage-full", .storageFull), ("duplicate", .duplicate), ("malfunction", .malfunction),
            ("too-hot", .tooHot), ("permission-denied", .permissionDenied), ("busy", .inUse),
            ("unplug", .unplugged),
            ("lie:index", .untrustworthy),
        ] as [(String, ReaderError.Code)]
    )
    func `a fault ends the enrollment that reaches it`(step: String, expected: ReaderError.Code) async throws
    {
        let reader = try await opened(
            "stages=3, storage=reader, features=storage+storage-list, match, \(step), plug"
        )
        await expectError(expected) { try await enroll(reader) }
        if expected == .unplugged { try await reader.open() }
        #expect(try await reader.storedPrints(whenBusy: .fail).isEmpty)
    }

    @Test(
        arguments: [("busy", .inUse), ("permission-denied", .permissionDenied)]
            as [(String, ReaderError.Code)]
    )
    func `opening reaches the faults that belong to it`(step: String, expected: ReaderError.Code) async throws
    {
        let reader = try MockReader(script: "\(step)*2, match")
        for _ in 0..<2 { await expectError(expected) { try await reader.open() } }
        try await reader.open()
        #expect(reader.remainingSteps == [.touch(.expected)])
    }

    @Test func `a hot reader has cooled at the next touch`() async throws {
        let reader = try await opened("too-hot, match")
        #expect(reader.temperature == .cold)
        await expectError(.tooHot) { try await identify(reader, []) }
        #expect(reader.temperature == .hot)
        _ = try await identify(reader, [])
        #expect(reader.temperature == .cold)
    }

    @Test func `a delay passes before the next step`() async throws {
        let reader = try await opened("delay:60ms, no-match")
        let elapsed = try await ContinuousClock().measure { _ = try await identify(reader, []) }
        #expect(elapsed >= .milliseconds(60))
    }

    @Test(arguments: ["hang, no-match", "delay:3600s, no-match"])
    func `cancelling ends a step that waits, and the script goes on behind it`(script: String) async throws {
        let reader = try await opened(script)
        let waiting = Task { try await identify(reader, []) }
        // A delay that has not begun would be left to the next operation.
        while !reader.fingerStatus.needed || reader.remainingSteps.first == .delay(.seconds(3600)) {
            await Task.yield()
        }
        waiting.cancel()
        await expectError(.cancelled) { try await waiting.value }
        #expect(try await identify(reader, []) == .noMatch)
    }

    @Test func `unplugging ends a step that hangs`() async throws {
        let reader = try await opened("hang")
        let waiting = Task { try await identify(reader, []) }
        while !reader.fingerStatus.needed { await Task.yield() }
        reader.unplug()
        await expectError(.unplugged) { try await waiting.value }
        await expectError(.unplugged) { try await reader.open() }
        try await reader.close()
    }

    @Test(arguments: [("match", true), ("no-match", false)])
    func `after the script every touch is as chosen`(then: String, matches: Bool) async throws {
        let reader = try await opened("stages=4, then=\(then), match*4")
        let entry = GalleryEntry(id: PrintID(), template: try await enroll(reader))
        for _ in 0..<3 {
            #expect(
                try await identify(reader, [entry]) == (matches ? .match(entry.id, updated: nil) : .noMatch)
            )
        }
    }

    @Test func `a suspended reader takes no step until it is resumed`() async throws {
        let reader = try await opened("delay:1ms")
        let waiting = Task { try await identify(reader, []) }
        while !reader.fingerStatus.needed { await Task.yield() }
        try reader.suspend()
        reader.play(.touch(.unknown))
        await expectError(.suspended) { _ = try await waiting.value }
        await expectError(.suspended) { _ = try await identify(reader, []) }
        #expect(reader.remainingSteps.contains(.touch(.unknown)))
        try reader.resume()
        #expect(try await identify(reader, []) == .noMatch)
    }

    @Test func `an operation does not go on when the reader was suspended and resumed at once`() async throws
    {
        let reader = try await opened("stages=1")
        let waiting = Task { try await identify(reader, []) }
        while !reader.fingerStatus.needed { await Task.yield() }
        try reader.suspend()
        try reader.resume()
        reader.play(.touch(.unknown))
        await expectError(.suspended) { _ = try await waiting.value }
        #expect(try await identify(reader, []) == .noMatch)
    }

    @Test func `a reader that improves templates gives another one of the same enrollment`() async throws {
        let reader = try await opened("features=verify+update-print, stages=1, match*2")
        let template = try await enroll(reader)
        guard
            case .match(let updated?) = try await reader.verify(template, whenBusy: .fail, observer: { _ in })
        else {
            Issue.record("no updated template")
            return
        }
        #expect(updated != template)
        #expect(reader.isSamePrint(updated, template))
    }

    @Test func `pictures are the same for the same finger and differ for another`() async throws {
        let reader = try await opened("touch left-thumb*2, retry:general, touch left-index-finger, no-match")
        var pictures: [[UInt8]] = []
        for _ in 0..<4 { pictures.append(try await reader.capture(whenBusy: .fail) { _ in }.pixels) }
        #expect(pictures[0] == pictures[1])
        #expect(Set(pictures).count == 3)
    }
}

/// A reader with a script, open.
func opened(_ script: String) async throws -> MockReader {
    let reader = try MockReader(script: script)
    try await reader.open()
    return reader
}

/// An enrollment without a name.
@discardableResult
func enroll(_ reader: MockReader) async throws -> Template {
    try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail) { _ in }
}

/// One identification.
@discardableResult
func identify(_ reader: MockReader, _ gallery: [GalleryEntry]) async throws -> IdentifyResult {
    try await reader.identify(among: gallery, whenBusy: .fail) { _ in }
}

/// Expects that `body` ends with a reader's error of this kind.
func expectError(
    _ code: ReaderError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> some Any
) async {
    let error = await #expect(throws: ReaderError.self, sourceLocation: sourceLocation) {
        _ = try await body()
    }
    #expect(error?.code == code, sourceLocation: sourceLocation)
}
