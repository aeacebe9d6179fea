// SPDX-License-Identifier: Apache-2.0

import Fingerprint
import Foundation
import GRDB
import StateStore

/// All that the database holds about one profile's enrolled prints, at one moment.
struct Manifest: Sendable {
    let profile: String
    /// 0 when the profile never had a print.
    let generation: UInt64
    /// `nil` when there is no row for the profile.
    let mac: Data?
    /// Enrolled prints only.
    let prints: [PrintRow]
    /// Whether every row could be read.
    let isReadable: Bool

    init(_ db: Database, profile: String) throws {
        let row = try Row.fetchOne(
            db,
            sql: "SELECT generation, manifest_mac FROM profiles WHERE name = ?",
            arguments: [profile]
        )
        let columns = row.map(Columns.init)
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT * FROM prints WHERE profile = ? AND state = 'enrolled'",
            arguments: [profile]
        )
        self.init(
            profile: profile,
            // The table's own check keeps it from being negative, and a damaged one fails the MAC.
            generation: (columns?["generation"] as Int64?).flatMap(UInt64.init(exactly:)) ?? 0,
            mac: columns?["manifest_mac"],
            prints: rows.compactMap(PrintRow.init),
            isReadable: rows.allSatisfy { PrintRow($0) != nil }
        )
    }

    init(profile: String, generation: UInt64, mac: Data?, prints: [PrintRow], isReadable: Bool = true) {
        self.profile = profile
        self.generation = generation
        self.mac = mac
        self.prints = prints.sorted { $0.id < $1.id }
        self.isReadable = isReadable
    }

    var set: EnrollmentSet { EnrollmentSet(generation: generation, members: prints.map(\.member)) }

    /// Whether the rows are as this program wrote them.
    func isAuthentic(_ keys: StateKeys) -> Bool {
        guard isReadable else { return false }
        guard let mac else { return prints.isEmpty }
        return keys.isValid(mac, for: authenticated, .manifest)
    }

    /// What the MAC covers: the set, whose it is, and what else decides how a print is used.
    ///
    /// Not covered: labels, the reader's name and match times, which only order and describe.
    private var authenticated: Data {
        var bytes = ByteWriter(Data("whorl manifest v1".utf8))
        bytes.append(sized: Data(profile.utf8))
        bytes.append(sized: set.encoded)
        for print in prints {
            bytes.append(sized: Data(print.storage.rawValue.utf8))
            bytes.append(print.enrolledAt.bitPattern)
        }
        return bytes.data
    }

    /// Writes the generation, the MAC and the history; the rows of `prints` are written by the caller.
    func save(_ db: Database, keys: StateKeys, at date: Date) throws {
        let generation = Int64(clamping: generation)
        try db.execute(
            sql: """
                INSERT INTO profiles (name, generation, manifest_mac, created_at) VALUES (?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET
                    generation = excluded.generation, manifest_mac = excluded.manifest_mac
                """,
            arguments: [
                profile, generation, keys.code(for: authenticated, .manifest), date.timeIntervalSince1970,
            ]
        )
        try db.execute(
            sql: "INSERT OR REPLACE INTO enrollment_history (profile, generation, encoding) VALUES (?, ?, ?)",
            arguments: [profile, generation, set.encoded]
        )
    }
}
