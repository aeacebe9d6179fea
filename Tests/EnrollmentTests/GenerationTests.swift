// SPDX-License-Identifier: Apache-2.0

import Enrollment
import Fingerprint
import Foundation
import StateStore
import Synchronization
import Testing

/// A counter outside the database, as a TPM has one: it starts anywhere and only counts up.
final class OutsideCounter: GenerationCounter {
    private let values = Mutex<[String: UInt64]>([:])
    /// Stands for a crash between the database's commit and the count.
    let isBroken = Mutex(false)

    func current(of profile: String, stored: UInt64) async throws(EnrollmentError) -> UInt64 {
        values.withLock { values in
            if values[profile] == nil, stored == 0 { values[profile] = 100 }
            return values[profile] ?? 0
        }
    }

    func advance(_ profile: String, to generation: UInt64) async throws(EnrollmentError) {
        if isBroken.withLock({ $0 }) { throw EnrollmentError(.enrollmentRolledBack, cause: "broken") }
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

    @Test func `a crash between commit and count is mended`() async throws {
        let counter = OutsideCounter()
        let fixture = try Fixture(generations: counter)
        try await fixture.add(.rightIndex, "one")
        counter.isBroken.withLock { $0 = true }
        await #expect(throws: EnrollmentError.self) { try await fixture.add(.leftIndex, "two") }
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
        let code = await failure { () throws(EnrollmentError) in try await old.fingers(of: "ada") }
        #expect(code == .enrollmentRolledBack)

        _ = try await FingerEnroller(store: old).remove(.all, profile: "ada", readers: [])
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
