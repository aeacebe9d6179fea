// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import MockReader
import Testing

/// Prints that the mock keeps itself, and readers that come and go.
@Suite(.timeLimit(.minutes(10)))
struct StorageTests {
    @Test func `prints in a file are there for the next process`() async throws {
        try await withTemporaryFile { path in
            let script = "stages=1, storage=reader, storage-file=\(path)"
            let metadata = EnrollmentMetadata(
                finger: .leftRing,
                userName: "A\tn%n\n=-",
                date: CalendarDate(year: 2026, month: 2, day: 3)
            )
            let first = try await opened(script + ", touch left-thumb")
            let template = try await first.enroll(metadata, whenBusy: .fail) { _ in }

            let second = try await opened(script + ", touch left-thumb*2")
            let entry = GalleryEntry(id: PrintID(), template: template)
            #expect(try await identify(second, [entry]) == .match(entry.id, updated: nil))
            let other = try await enroll(second)
            #expect(!second.isSamePrint(other, template))

            let third = try await opened(script)
            let stored = try await third.storedPrints(whenBusy: .fail)
            #expect(stored.map(\.metadata) == [metadata, EnrollmentMetadata()])
            // The listing leaves something out: bytes are no identity.
            #expect(stored.map(\.template) != [template, other])
            #expect(third.isSamePrint(stored[0].template, template))
            try await third.delete(template, whenBusy: .fail)
            #expect(try await first.storedPrints(whenBusy: .fail).map(\.template) == [stored[1].template])
        }
    }

    /// A mark joins the character before it, also where that is a separator of the file.
    @Test(arguments: ["\u{301}", "a%\u{301}", "%\u{301}41;\u{301}", "\t\u{301}\n\u{301}", "\u{600}"])
    func `any user name comes back from the file`(name: String) async throws {
        try await withTemporaryFile { path in
            let script = "stages=1, storage=reader, storage-file=\(path), match"
            let metadata = EnrollmentMetadata(finger: .leftRing, userName: name)
            _ = try await opened(script).enroll(metadata, whenBusy: .fail) { _ in }
            let stored = try await opened(script).storedPrints(whenBusy: .fail)
            #expect(stored.map(\.metadata) == [metadata])
        }
    }

    @Test func `a print that is not in the reader matches nothing`() async throws {
        let other = try await opened("stages=1, storage=reader, match")
        let entry = GalleryEntry(id: PrintID(), template: try await enroll(other))
        let reader = try await opened("storage=reader, match")
        #expect(try await identify(reader, [entry]) == .noMatch)
        await expectError(.printNotFound) {
            try await reader.verify(entry.template, whenBusy: .fail) { _ in }
        }
    }

    @Test func `a reader that checks for duplicates refuses a finger that it has`() async throws {
        let features = "features=storage+storage-list+duplicates-check"
        let reader = try await opened("stages=1, storage=reader, \(features), match*2, touch left-thumb")
        try await enroll(reader)
        await expectError(.duplicate) { try await enroll(reader) }
        try await enroll(reader)
        #expect(try await reader.storedPrints(whenBusy: .fail).count == 2)
    }

    @Test(arguments: [
        "", "garbage", "whorl mock storage 1\nmock:left-thumb#0\t-\t-\t-\n", "whorl mock storage 2\n",
        "whorl mock storage 1\nmock:left-thumb#9223372036854775807\t-\t-\t-\n",
        "whorl mock storage 1\nmock:left-thumb#1~9223372036854775807\t-\t-\t-\n",
    ])
    func `a storage file that is none is an error and stays as it is`(text: String) async throws {
        try await withTemporaryFile(text) { path in
            let reader = try MockReader(script: "storage=reader, storage-file=\(path), match*5")
            await expectError(.malfunction) { try await reader.open() }
            let after = try String(contentsOfFile: path, encoding: .utf8)
            #expect(after == text)
        }
    }

    @Test func `a storage file that cannot be written keeps nothing`() async throws {
        let reader = try await opened(
            "stages=1, storage=reader, storage-file=/nonexistent/folder/file, match"
        )
        await expectError(.malfunction) { try await enroll(reader) }
        #expect(try await reader.storedPrints(whenBusy: .fail).isEmpty)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct SourceTests {
    @Test func `a script without a reader gives an empty list`() async throws {
        let source = try MockReaderSource(script: "connected=no")
        #expect(source.readers().isEmpty)
        await expectError(.unplugged) { try await source.mocks[0].open() }
    }

    @Test func `readers come and go in their order, the same object each time`() async throws {
        let source = try MockReaderSource(script: "stages=1, unplug, delay:1ms, plug, match")
        let reader = source.mocks[0]
        var changes = source.changes().makeAsyncIterator()
        try await reader.open()
        await expectError(.unplugged) { try await enroll(reader) }
        #expect(await changes.next() == .removed(reader.info.id))
        #expect(await changes.next() == .added(reader.info))
        #expect(source.readers().first === reader)
        await expectError(.notOpen) { try await enroll(reader) }
        try await reader.open()
        try await enroll(reader)
    }

    @Test func `a reader that is not there at first is plugged in by its script`() async throws {
        let source = try MockReaderSource(script: "connected=no, delay:50ms, plug, match")
        var changes = source.changes().makeAsyncIterator()
        #expect(source.readers().isEmpty)
        #expect(await changes.next() == .added(source.mocks[0].info))
    }

    @Test func `two readers are two entries`() async throws {
        let source = MockReaderSource([
            try MockReader(script: "id=mock-0,match"), try MockReader(script: "id=mock-1,match"),
        ])
        source.mocks[0].unplug()
        #expect(source.readers().count == 1)
        source.mocks[0].plug()
        #expect(source.readers().count == 2)
    }

    @Test func `what a mock says about itself is that it is one`() throws {
        let info = try MockReader(script: "storage=reader,stages=7,match").info
        #expect(info.kind == .mock)
        #expect(info.strength == .none)
        #expect(info.enrollStages == 7)
        #expect(info.storage == .reader)
        #expect(info.features.contains(.storageDelete))
        #expect(!info.features.contains(.capture))
    }
}
