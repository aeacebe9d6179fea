// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlStateStore
import Synchronization
import Testing

@testable import WhorlEnrollment
import WhorlService

// Docs/Security.md: S20
/// A counter outside the database, as a TPM has one: it starts anywhere and only counts up.
final class OutsideCounter: GenerationCounter {
    private let values = Mutex<[String: UInt64]>([:])
    /// Stands for a crash between the database's commit and the count.
    let isBroken = Mutex(false)

    func current(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        values.withLock { values in
            if values[profile] == nil, stored == 0 { values[profile] = 100 }
            return values[profile] ?? 0
        }
    }

    func advance(_ profile: String, to generation: UInt64) async throws(ServiceError) {
        if isBroken.withLock({ $0 }) { throw ServiceError(.enrollmentRolledBack, cause: "broken") }
        values.withLock { values in
            if values[profile] == generation { return }
            values[profile, default: 0] += 1
        }
    }

    func value(_ profile: String) -> UInt64? { values.withLock { $0[profile] } }
}

struct GenerationTests {
    @Test func `generations follow the counter`() async throws {
        let counter = OutsideCounter()
        let fixture = try Fixture(generations: counter)
        try await fixture.add(.rightIndex, "one")
        #expect(try await fixture.store.state(of: "ada", application: "a")?.generation == 101)
        try await fixture.add(.leftIndex, "two")
        #expect(counter.value("ada") == 102)
    }

    /// Only an edited database holds such numbers.
    @Test(arguments: [
        "UPDATE enrollment_history SET generation = 9223372036854775807 WHERE generation = 1",
        "UPDATE enrollment_history SET generation = 9223372036854775806 WHERE generation = 1",
        "UPDATE profiles SET generation = 9223372036854775807",
    ])
    func `used-up generations begin anew in an epoch, and no digest comes back`(sql: String) async throws {
        let fixture = try Fixture()
        var digests: Set<Data> = []
        try await fixture.add(.rightIndex, "one")
        digests.insert(try #require(try await fixture.digest()))
        for round in 1...3 {
            try await fixture.tamper(round == 2 ? "SELECT 1" : sql)
            _ = try await fixture.enroller.remove(.all, profile: "ada", readers: [])
            #expect(try await fixture.digest() == nil)
            for finger in [Finger.rightIndex, .leftIndex] {
                try await fixture.add(finger, "one")
                digests.insert(try #require(try await fixture.digest()))
            }
            #expect(try await fixture.store.fingers(of: "ada").count == 2)
            #expect(digests.count == 1 + 2 * round)
        }
        #expect(try await fixture.store.state(of: "ada", application: "app")?.generation ?? 0 < 20)
    }

    @Test func `two epochs with the same prints have different digests`() {
        let epochs = [nil, Data(repeating: 1, count: 16), Data(repeating: 2, count: 16)]
        let sets = epochs.map { EnrollmentSet(generation: 5, epoch: $0, members: []) }
        #expect(Set(sets.map(\.encoded)).count == 3)
        for set in sets { #expect(EnrollmentSet(encoded: set.encoded) == set) }
        #expect(EnrollmentSet(encoded: sets[1].encoded.prefix(20)) == nil)
    }

    @Test func `an edited epoch is found`() async throws {
        let fixture = try Fixture()
        try await fixture.add(.rightIndex, "one")
        try await fixture.tamper("UPDATE profiles SET epoch = zeroblob(16)")
        let store = fixture.store
        let error = await failure { try await store.fingers(of: "ada") }
        #expect(error?.code == .enrollmentTampered)
    }

    @Test func `a counter outside the database is believed more than an edited one`() async throws {
        let counter = OutsideCounter()
        let fixture = try Fixture(generations: counter)
        try await fixture.add(.rightIndex, "one")
        try await fixture.tamper("UPDATE enrollment_history SET generation = 9223372036854775807")
        _ = try await fixture.enroller.remove(.all, profile: "ada", readers: [])
        try await fixture.add(.rightIndex, "one")
        #expect(try await fixture.store.state(of: "ada", application: "app")?.generation == 103)
    }

    @Test func `a crash between commit and count is mended`() async throws {
        let counter = OutsideCounter()
        let fixture = try Fixture(generations: counter)
        try await fixture.add(.rightIndex, "one")
        counter.isBroken.withLock { $0 = true }
        await #expect(throws: ServiceError.self) { try await fixture.add(.leftIndex, "two") }
        counter.isBroken.withLock { $0 = false }
        #expect(counter.value("ada") == 101)
        #expect(try await fixture.store.fingers(of: "ada").count == 2)
        #expect(counter.value("ada") == 102)
    }

    @Test func `yesterday's database is refused, and removing all goes on from the counter`() async throws {
        let counter = OutsideCounter()
        let fixture = try Fixture(generations: counter)
        try await fixture.add(.rightIndex, "one")
        let digest = try await fixture.digest()
        let backup = try TemporaryDirectory()
        try copy(fixture.home.state.path, to: backup.state.path)
        try await fixture.add(.leftIndex, "two")

        let old = EnrollmentStore(database: try StateDatabase(directory: backup.state), generations: counter)
        let error = await failure { try await old.fingers(of: "ada") }
        #expect(error?.code == .enrollmentRolledBack)

        _ = try await AgreedEnroller(old).remove(.all, profile: "ada", readers: [])
        _ = try await old.add(
            Template(bytes: [1]),
            as: .rightIndex,
            label: nil,
            profile: "ada",
            on: .test(),
            at: Date()
        )
        let state = try await old.state(of: "ada", application: "app")
        #expect(state?.generation == 104)
        #expect(state?.digest != digest)
    }

    /// The database and its log, as a backup tool copies them.
    private func copy(_ source: String, to target: String) throws {
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: target)
        for name in try FileManager.default.contentsOfDirectory(atPath: source) where !name.hasSuffix("-shm")
        {
            try FileManager.default.copyItem(atPath: source + "/" + name, toPath: target + "/" + name)
        }
    }
}
