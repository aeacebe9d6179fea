// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSQLite
import WhorlStateStore
import Synchronization
import Testing
import WhorlService

/// A directory of a test's own, which is gone when the test ends.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let made = FileManager.default.temporaryDirectory.path + "/whorl-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: made, withIntermediateDirectories: false)
        path = made
    }

    /// A state directory in it.
    var state: StateDirectory { StateDirectory(path: path + "/state") }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A store of a test's own.
struct Fixture {
    let home: TemporaryDirectory
    let database: StateDatabase
    let store: EnrollmentStore

    init(generations: any GenerationCounter = SoftwareGeneration()) throws {
        home = try TemporaryDirectory()
        database = try StateDatabase(directory: home.state)
        store = EnrollmentStore(database: database, generations: generations)
    }

    var enroller: AgreedEnroller { AgreedEnroller(store) }

    /// Puts a finger into the store, without a reader.
    @discardableResult
    func add(
        _ finger: Finger,
        _ template: String,
        profile: String = "ada",
        reader: ReaderInfo = .test(),
        at seconds: Double = 1_000
    ) async throws -> EnrolledFinger {
        try await store.add(
            Template(bytes: Array(template.utf8)),
            as: finger,
            label: nil,
            profile: profile,
            on: reader,
            at: Date(timeIntervalSince1970: seconds)
        )
    }

    func digest(_ application: String = "app", profile: String = "ada") async throws -> Data? {
        try await store.state(of: profile, application: application)?.digest
    }

    /// Changes the database as somebody could who can write the file.
    func tamper(_ sql: String, _ arguments: [String] = []) async throws {
        try await database.write { db in
            try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
            if arguments.isEmpty {
                try db.execute(script: sql)
            } else {
                try db.execute(sql: sql, arguments: arguments)
            }
        }
    }
}

extension ReaderInfo {
    static func test(
        _ id: String = "test-0",
        storage: Storage = .host,
        scanType: ScanType = .press,
        features: ReaderFeatures = [.identify, .verify, .storageList, .storageDelete],
        access: ReaderAccess.State = .pretended
    ) -> ReaderInfo {
        ReaderInfo(
            id: ReaderID(rawValue: id),
            driver: "test",
            name: "Test reader",
            kind: .mock,
            scanType: scanType,
            features: features,
            enrollStages: 3,
            storage: storage,
            strength: .none,
            access: ReaderAccess(access)
        )
    }
}

/// The error of a call that must fail.
func failure(_ body: () async throws -> some Any) async -> ServiceError? {
    do {
        _ = try await body()
        return nil
    } catch let error as ServiceError {
        return error
    } catch {
        Issue.record("\(error)")
        return nil
    }
}
