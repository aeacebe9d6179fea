// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSQLite
import Glibc
import WhorlStateStore
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

    /// A state directory in it that is not there yet.
    var state: StateDirectory { StateDirectory(path: path + "/state") }

    func file(_ name: String) -> String { path + "/state/" + name }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Every file of a directory with its bytes.
func contents(of directory: String) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
        found[name] = try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name))
    }
    return found
}

func mode(_ path: String) -> UInt32 {
    var found = stat()
    return lstat(path, &found) == 0 ? found.st_mode & 0o7777 : 0
}

/// The error of an attempt to open a directory.
func openingError(_ directory: StateDirectory) -> ServiceError? {
    do {
        _ = try StateDatabase(directory: directory)
        return nil
    } catch {
        return error
    }
}

extension StateDatabase {
    func log(_ event: String, durability: Durability = .full) async throws(ServiceError) {
        try await write(durability) { db in
            try db.execute(
                sql: """
                    INSERT INTO audit (at, profile, application, event, outcome) VALUES (0, 'p', 'a', ?, 'ok')
                    """,
                arguments: [event]
            )
        }
    }

    func events() async throws(ServiceError) -> [String] {
        try await read { try $0.values(sql: "SELECT event FROM audit ORDER BY id") as [String] }
    }
}
