// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSQLite
import WhorlStateStore
import Testing
import WhorlService

// Docs/Security.md: A3, S18, S21
/// Somebody who can write the database, but has not its key, changes rows.
struct TamperTests {
    /// A statement that changes the set of the profile `ada`, who has the fingers `right-index` (print 7) and
    /// `left-thumb` (print 1); `bob` has `right-index` too.
    static let edits: [(String, String)] = [
        ("another finger", "UPDATE prints SET finger = 8 WHERE profile = 'ada' AND finger = 7"),
        ("another reader", "UPDATE prints SET reader = 'test-1' WHERE profile = 'ada' AND finger = 7"),
        ("another keeper", "UPDATE prints SET storage = 'reader' WHERE profile = 'ada' AND finger = 7"),
        ("another time", "UPDATE prints SET enrolled_at = 5 WHERE profile = 'ada' AND finger = 7"),
        (
            "another digest",
            "UPDATE prints SET template_digest = zeroblob(32) WHERE profile = 'ada' AND finger = 7"
        ),
        ("another id", "UPDATE prints SET id = '00000000000000000000000000000000' WHERE finger = 1"),
        ("an id that is none", "UPDATE prints SET id = 'x' WHERE finger = 1"),
        ("a deleted row", "DELETE FROM prints WHERE profile = 'ada' AND finger = 1"),
        ("a hidden row", "UPDATE prints SET state = 'removing' WHERE profile = 'ada' AND finger = 1"),
        ("another's row", "UPDATE prints SET profile = 'ada', finger = 2 WHERE profile = 'bob'"),
        (
            "a copied row",
            """
            INSERT INTO prints SELECT '00000000000000000000000000000001', 'ada', 3, label, reader, reader_name,
                storage, template, template_digest, enrolled_at, last_matched_at, state, access
            FROM prints WHERE profile = 'bob'
            """
        ),
        (
            "swapped rows",
            """
            UPDATE prints SET profile = 'nobody' WHERE profile = 'bob';
            UPDATE prints SET profile = 'bob' WHERE profile = 'ada' AND finger = 7;
            UPDATE prints SET profile = 'ada' WHERE profile = 'nobody'
            """
        ),
        ("an older generation", "UPDATE profiles SET generation = generation - 1 WHERE name = 'ada'"),
        ("generation 0", "UPDATE profiles SET generation = 0 WHERE name = 'ada'"),
        ("a newer generation", "UPDATE profiles SET generation = generation + 1 WHERE name = 'ada'"),
        ("another MAC", "UPDATE profiles SET manifest_mac = zeroblob(32) WHERE name = 'ada'"),
        ("an empty MAC", "UPDATE profiles SET manifest_mac = x'' WHERE name = 'ada'"),
        (
            "another's MAC",
            "UPDATE profiles SET manifest_mac = (SELECT manifest_mac FROM profiles WHERE name = 'bob')"
        ),
    ]

    private func fixture() async throws -> Fixture {
        let fixture = try Fixture()
        try await fixture.add(.rightIndex, "ada's index", profile: "ada")
        try await fixture.add(.leftThumb, "ada's thumb", profile: "ada")
        try await fixture.add(.rightIndex, "bob's index", profile: "bob")
        return fixture
    }

    // Docs/Security.md: A3
    @Test(arguments: edits)
    func `every edit is found, and biometry is refused`(what: String, sql: String) async throws {
        let fixture = try await fixture()
        let digest = try #require(try await fixture.digest())
        try await fixture.tamper(sql)
        let answers = await answers(of: fixture, since: digest)
        #expect(answers == Array(repeating: .enrollmentTampered, count: answers.count))
    }

    /// What a store says to every question about `ada`.
    private func answers(of fixture: Fixture, since digest: Data) async -> [ServiceError.Code?] {
        let store = fixture.store
        return [
            await failure {
                try await store.gallery(of: "ada", on: ReaderID(rawValue: "test-0"))
            },
            await failure {
                try await store.gallery(of: "ada", on: ReaderID(rawValue: "another"))
            },
            await failure { try await store.fingers(of: "ada") },
            await failure { try await store.state(of: "ada", application: "app") },
            await failure {
                try await store.difference(of: "ada", application: "app", since: digest)
            },
            await failure {
                try await store.add(
                    Template(bytes: [1]),
                    as: .rightThumb,
                    label: nil,
                    profile: "ada",
                    on: .test(),
                    at: Date()
                )
            },
        ].map { $0?.code }
    }

    @Test(arguments: edits)
    func `removing all makes the set sound again, and no old digest comes back`(
        what: String,
        sql: String
    ) async throws {
        let fixture = try await fixture()
        let old = try #require(try await fixture.digest())
        try await fixture.tamper(sql)
        _ = try await fixture.enroller.remove(.all, profile: "ada", readers: [], force: true)
        #expect(try await fixture.store.fingers(of: "ada").isEmpty)
        try await fixture.add(.rightIndex, "ada's index")
        #expect(try await fixture.digest() != old)
        #expect(try await fixture.store.gallery(of: "ada", on: ReaderID(rawValue: "test-0")).count == 1)
    }

    @Test(arguments: [
        "UPDATE prints SET template = zeroblob(80) WHERE finger = 7",
        "UPDATE prints SET template = x'' WHERE finger = 7",
        "UPDATE prints SET template = (SELECT template FROM prints WHERE finger = 1) WHERE finger = 7",
        """
        UPDATE prints SET template = (SELECT template FROM prints WHERE profile = 'bob') WHERE profile = 'ada'
        """,
        "UPDATE prints SET template = zeroblob(20000000) WHERE finger = 7",
    ])
    func `a template that is not the print's own is found, whatever is asked`(sql: String) async throws {
        let fixture = try await fixture()
        let digest = try #require(try await fixture.digest())
        try await fixture.tamper(sql)
        let answers = await answers(of: fixture, since: digest)
        #expect(answers == Array(repeating: .enrollmentTampered, count: answers.count))
    }

    @Test func `a label or a name of any size and kind is bounded and cleaned when it is read`() async throws
    {
        let fixture = try await fixture()
        let long = String(repeating: "x\u{301}", count: 1_000_000)
        for text in [long, "\u{1B}[2Jred\u{7}\nline\u{202E}", "\0"] {
            try await fixture.tamper("UPDATE prints SET label = ?, reader_name = ?", [text, text])
            for finger in try await fixture.store.fingers(of: "ada") {
                for shown in [finger.label ?? "", finger.readerName] {
                    #expect(shown.count <= 100)
                    #expect(shown.unicodeScalars.count <= 800)
                    #expect(!shown.unicodeScalars.contains { $0.value < 32 || $0 == "\u{202E}" })
                }
            }
        }
    }

    @Test func `a print without its profile is found`() async throws {
        let fixture = try await fixture()
        let raw = try DatabaseQueue(path: fixture.home.state.path + "/whorl.sqlite", busyTimeout: 0)
        try raw.access { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.execute(sql: "DELETE FROM profiles WHERE name = 'ada'")
        }
        let error = await failure { try await fixture.store.fingers(of: "ada") }
        #expect(error?.code == .enrollmentTampered)
    }

    @Test func `columns of another type end nothing but the trust`() async throws {
        let fixture = try await fixture()
        let raw = try DatabaseQueue(path: fixture.home.state.path + "/whorl.sqlite", busyTimeout: 0)
        try raw.access { db in
            try db.execute(script: "PRAGMA foreign_keys = OFF; ALTER TABLE prints RENAME TO old")
            try db.execute(sql: "CREATE TABLE prints AS SELECT * FROM old")
            try db.execute(
                sql: "UPDATE prints SET id = x'FF', reader = 3.5, enrolled_at = 'x', finger = NULL"
            )
        }
        let error = await failure { try await fixture.store.fingers(of: "ada") }
        #expect(error?.code == .enrollmentTampered)
    }

    @Test func `labels and match times may be edited, others are untouched by it`() async throws {
        let fixture = try await fixture()
        let digest = try await fixture.digest()
        try await fixture.tamper("UPDATE prints SET label = 'x', last_matched_at = 3, reader_name = 'y'")
        #expect(try await fixture.digest() == digest)
    }

    @Test func `what is done to one profile does not touch another's`() async throws {
        let fixture = try await fixture()
        try await fixture.tamper("UPDATE profiles SET manifest_mac = x'' WHERE name = 'ada'")
        #expect(try await fixture.store.gallery(of: "bob", on: ReaderID(rawValue: "test-0")).count == 1)
    }
}
