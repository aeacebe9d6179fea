// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSQLite
import WhorlStateStore
import Testing
import WhorlService

struct EnrollmentStoreTests {
    @Test func `what was added is there, also after opening again`() async throws {
        let fixture = try Fixture()
        let added = try await fixture.add(.rightIndex, "one")
        let again = EnrollmentStore(
            database: try #require(try StateDatabase.openExisting(fixture.home.state)),
            generations: SoftwareGeneration()
        )
        #expect(try await again.fingers(of: "ada") == [added])
        #expect(try await again.finger(added.id, of: "ada") == added)
        #expect(try await again.finger(added.id, of: "bob") == nil)
        let gallery = try await again.gallery(of: "ada", on: added.reader)
        #expect(gallery == [GalleryEntry(id: added.id, template: Template(bytes: Array("one".utf8)))])
    }

    @Test func `nobody's fingers are nothing, and no error`() async throws {
        let fixture = try Fixture()
        #expect(try await fixture.store.fingers(of: "ada").isEmpty)
        #expect(try await fixture.digest() == nil)
    }

    @Test func `one reader has one print for a finger, another reader has its own`() async throws {
        let fixture = try Fixture()
        try await fixture.add(.rightIndex, "one")
        try await fixture.add(.rightIndex, "two", reader: .test("test-1"))
        try await fixture.add(.rightIndex, "three", profile: "bob")
        let error = await failure {
            try await fixture.store.add(
                Template(bytes: [1]),
                as: .rightIndex,
                label: nil,
                profile: "ada",
                on: .test(),
                at: Date()
            )
        }
        #expect(error == ServiceError(.fingerExists, details: [.finger: "right-index-finger"]))
        #expect(try await fixture.store.gallery(of: "ada", on: ReaderID(rawValue: "test-0")).count == 1)
        #expect(try await fixture.store.fingers(of: "ada").count == 2)
    }

    @Test func `a new label changes neither the set nor another finger`() async throws {
        let fixture = try Fixture()
        let print = try await fixture.add(.rightIndex, "one")
        let second = try await fixture.add(.rightIndex, "two", reader: .test("test-1"))
        let others = try await fixture.add(.rightIndex, "three", profile: "bob")
        let digest = try await fixture.digest()
        let labeled = try await fixture.store.label(.print(print.id), as: "the good\u{1b} hand\n", of: "ada")
        #expect(labeled.map(\.label) == ["the good hand"])
        #expect(try await fixture.store.finger(second.id, of: "ada")?.label == nil)
        let both = try await fixture.store.label(.finger(.rightIndex, on: nil), as: "mine", of: "ada")
        #expect(both.map(\.label) == ["mine", "mine"])
        #expect(try await fixture.store.fingers(of: "bob") == [others])
        #expect(try await fixture.store.label(.print(print.id), as: nil, of: "ada").map(\.label) == [nil])
        for selection in [FingerSelection.all, .print(others.id), .finger(.leftThumb, on: nil)] {
            await #expect(throws: ServiceError(.noSuchFinger)) {
                try await fixture.store.label(selection, as: "x", of: "ada")
            }
        }
        #expect(try await fixture.digest() == digest)
    }

    @Test func `templates are not in the files`() async throws {
        let fixture = try Fixture()
        let template = String(repeating: "THE-RIDGES-OF-A-FINGER", count: 20)
        let print = try await fixture.add(.rightIndex, template)
        try await fixture.store.recordMatch(
            print.id,
            updated: Template(bytes: Array(template.utf8)),
            at: Date()
        )
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.home.state.path) {
            let url = URL(fileURLWithPath: fixture.home.state.path + "/" + name)
            #expect(try Data(contentsOf: url).range(of: Data("RIDGES".utf8)) == nil, "\(name)")
        }
    }

    @Test func `the print that matched last comes first, then the newest`() async throws {
        let fixture = try Fixture()
        let old = try await fixture.add(.leftIndex, "old", at: 1)
        let middle = try await fixture.add(.leftMiddle, "middle", at: 2)
        let new = try await fixture.add(.leftRing, "new", at: 3)
        func order() async throws -> [PrintID] {
            try await fixture.store.gallery(of: "ada", on: old.reader).map(\.id)
        }
        #expect(try await order() == [new.id, middle.id, old.id])
        try await fixture.store.recordMatch(old.id, updated: nil, at: Date(timeIntervalSince1970: 10))
        #expect(try await order() == [old.id, new.id, middle.id])
        try await fixture.store.recordMatch(middle.id, updated: nil, at: Date(timeIntervalSince1970: 11))
        #expect(try await order() == [middle.id, old.id, new.id])
        let matched = try await fixture.store.finger(middle.id, of: "ada")
        #expect(matched?.lastMatchedAt == Date(timeIntervalSince1970: 11))
    }

    @Test func `a label is cleaned`() async throws {
        let fixture = try Fixture()
        let print = try await fixture.store.add(
            Template(bytes: [1]),
            as: .rightIndex,
            label: "the\u{7} one\u{1B}",
            profile: "ada",
            on: .test(),
            at: Date()
        )
        #expect(print.label == "the one")
        #expect(try await fixture.store.fingers(of: "ada").first?.label == "the one")
    }

    @Test func `a better template is used and does not change the digest`() async throws {
        let fixture = try Fixture()
        let print = try await fixture.add(.rightIndex, "one")
        let before = try await fixture.digest()
        let better = Template(bytes: Array("better".utf8))
        try await fixture.store.recordMatch(print.id, updated: better, at: Date())
        #expect(try await fixture.store.gallery(of: "ada", on: print.reader).map(\.template) == [better])
        #expect(try await fixture.digest() == before)
        try await fixture.store.recordMatch(PrintID(), updated: better, at: Date())
    }

    @Test func `a match does not make a changed template sound again`() async throws {
        let fixture = try Fixture()
        let print = try await fixture.add(.rightIndex, "one")
        try await fixture.tamper("UPDATE prints SET template = zeroblob(60)")
        try await fixture.store.recordMatch(print.id, updated: Template(bytes: [1]), at: Date())
        let error = await failure {
            try await fixture.store.gallery(of: "ada", on: print.reader)
        }
        #expect(error?.code == .enrollmentTampered)
    }

    @Test func `the digest is the program's own, 32 bytes, and the same each time`() async throws {
        let fixture = try Fixture()
        try await fixture.add(.rightIndex, "one")
        let digest = try #require(try await fixture.digest("app"))
        #expect(digest.count == 32)
        #expect(try await fixture.digest("app") == digest)
        #expect(try await fixture.digest("other") != digest)
        #expect(try await fixture.digest(profile: "bob") == nil)
    }

    @Test func `every change of the set changes the digest, and none brings an old one back`() async throws {
        let fixture = try Fixture()
        let enroller = fixture.enroller
        var seen: [Data] = []
        func note() async throws {
            let digest = try #require(try await fixture.digest())
            #expect(!seen.contains(digest))
            seen.append(digest)
        }
        try await fixture.add(.rightIndex, "one")
        try await note()
        try await fixture.add(.leftIndex, "two")
        try await note()
        _ = try await enroller.remove(.finger(.leftIndex, on: nil), profile: "ada", readers: [])
        try await note()
        _ = try await enroller.remove(.all, profile: "ada", readers: [])
        #expect(try await fixture.digest() == nil)
        try await fixture.add(.rightIndex, "one")
        try await note()
        #expect(try await fixture.store.state(of: "ada", application: "app")?.generation == 5)
    }

    @Test func `the difference names what came and what went`() async throws {
        let fixture = try Fixture()
        try await fixture.add(.rightIndex, "one")
        let digest = try #require(try await fixture.digest())
        func difference(_ application: String = "app", _ since: Data) async throws -> EnrollmentDifference {
            try await fixture.store.difference(of: "ada", application: application, since: since)
        }
        let same = EnrollmentDifference(changed: false, added: [], removed: [], isKnown: true)
        #expect(try await difference("app", digest) == same)

        try await fixture.add(.leftThumb, "two")
        _ = try await fixture.enroller.remove(.finger(.rightIndex, on: nil), profile: "ada", readers: [])
        let changed = EnrollmentDifference(
            changed: true,
            added: [.leftThumb],
            removed: [.rightIndex],
            isKnown: true
        )
        #expect(try await difference("app", digest) == changed)

        // The same finger enrolled again is another print.
        try await fixture.add(.rightIndex, "one")
        let again = try await difference("app", digest)
        #expect(again.added == [.leftThumb, .rightIndex] && again.removed == [.rightIndex])

        _ = try await fixture.enroller.remove(.all, profile: "ada", readers: [])
        let none = EnrollmentDifference(changed: true, added: [], removed: [.rightIndex], isKnown: true)
        #expect(try await difference("app", digest) == none)

        let unknown = EnrollmentDifference(changed: true, added: [], removed: [], isKnown: false)
        #expect(try await difference("other", digest) == unknown)
        #expect(try await difference("app", Data(count: 32)) == unknown)
        #expect(try await difference("app", Data()) == unknown)
    }

    @Test func `a set that was changed and changed back has changed, though nothing is to be named`()
        async throws
    {
        let fixture = try Fixture()
        try await fixture.add(.rightIndex, "one")
        let digest = try #require(try await fixture.digest())
        try await fixture.add(.leftThumb, "two")
        _ = try await fixture.enroller.remove(.finger(.leftThumb, on: nil), profile: "ada", readers: [])
        let difference = try await fixture.store.difference(of: "ada", application: "app", since: digest)
        #expect(difference == EnrollmentDifference(changed: true, added: [], removed: [], isKnown: true))
    }

    @Test func `two stores that change one set at once lose nothing`() async throws {
        let fixture = try Fixture()
        let second = EnrollmentStore(
            database: try StateDatabase(directory: fixture.home.state),
            generations: SoftwareGeneration()
        )
        let fingers = Finger.allCases
        try await withThrowingTaskGroup { group in
            for (number, finger) in fingers.enumerated() {
                let store = number % 2 == 0 ? fixture.store : second
                group.addTask {
                    _ = try await store.add(
                        Template(bytes: [UInt8(number)]),
                        as: finger,
                        label: nil,
                        profile: "ada",
                        on: .test(),
                        at: Date()
                    )
                }
            }
            try await group.waitForAll()
        }
        #expect(try await fixture.store.fingers(of: "ada").map(\.finger) == fingers)
        #expect(try await second.state(of: "ada", application: "app")?.generation == 10)
    }

    @Test func `of two enrollments of one finger at once one is kept`() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        let outcomes = await withTaskGroup(of: ServiceError?.self) { group in
            for number in 0..<4 {
                group.addTask {
                    await failure {
                        try await store.add(
                            Template(bytes: [UInt8(number)]),
                            as: .rightIndex,
                            label: nil,
                            profile: "ada",
                            on: .test(),
                            at: Date()
                        )
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == nil }.count == 1)
        let taken = ServiceError(.fingerExists, details: [.finger: "right-index-finger"])
        #expect(outcomes.filter { $0 == taken }.count == 3)
    }

    @Test func `a full database loses nothing and says so`() async throws {
        let fixture = try Fixture()
        try await fixture.add(.rightIndex, "one")
        let digest = try await fixture.digest()
        try await fixture.database.write { db in
            let pages = try db.value(sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages + 1)")
        }
        let error = await failure {
            try await fixture.store.add(
                Template(bytes: Array(repeating: 1, count: 20_000)),
                as: .leftThumb,
                label: nil,
                profile: "ada",
                on: .test(),
                at: Date()
            )
        }
        #expect(error?.code == .diskFull)
        #expect(try await fixture.store.fingers(of: "ada").map(\.finger) == [.rightIndex])
        #expect(try await fixture.digest() == digest)
    }
}
