// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing

@testable import RelyingParty

/// The stores of this target's tests.
///
/// The server's package runs the same tests on PostgreSQL, with a file of its own in
/// the place of this one.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite

    var testDescription: String { rawValue }

    /// The store of tests that look at something else.
    static let usual = StoreKind.sqlite
    /// Each store that a test of a store runs on.
    static let all = allCases
}

/// A place of a test's own for a store, which may be opened several times.
final class StoreHome: Sendable {
    let directory: String

    init(_ kind: StoreKind) throws {
        directory = FileManager.default.temporaryDirectory.path + "/whorl-login-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    var path: String { directory + "/login.sqlite" }

    func open(ifMissing: MissingDatabase = .create) async throws -> any RelyingPartyStore {
        try SQLiteRelyingPartyStore(path: path, ifMissing: ifMissing)
    }
}

extension Bank {
    /// The number of rows of each table.
    func rows() async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        let queue = try DatabaseQueue(path: home.path)
        for table in ["used_nonces", "tries", "devices", "audit", "documents"] {
            counts[table] = try await queue.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)")
            }
        }
        return counts
    }
}
