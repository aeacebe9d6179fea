// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import WhorlSQLite
import WhorlStateStore
package import WhorlFingerprint
package import WhorlService
import WhorlSupport

/// The complete record of one profile's enrolled prints in the database at one point in time.
struct Manifest: Sendable {
    /// The row of the profile, without the profile's prints.
    struct Head: Sendable, Equatable {
        /// The generation of the set, or 0 if the profile has never had a print.
        let generation: UInt64
        /// 16 random bytes from the last restart of the generations, or `nil` if there was no restart.
        let epoch: Data?
        /// The MAC of the set, or `nil` if there is no row for the profile.
        let mac: Data?
    }

    /// The last generation of an epoch.
    ///
    /// No set changes that often, so only an edited database contains a higher generation. Numbers up to this one are
    /// exact in JSON.
    static let lastGeneration: UInt64 = 1 << 53

    let profile: String
    let head: Head
    /// The prints that are enrolled.
    let prints: [PrintRow]
    /// Whether every row could be read.
    let isReadable: Bool

    var generation: UInt64 { head.generation }

    init(_ db: Database, profile: String) throws {
        let rows = try db.all(
            sql: "SELECT \(PrintRow.columns) FROM prints WHERE profile = ? AND state = 'enrolled'",
            arguments: [profile]
        ) { PrintRow($0) }
        self.init(
            profile: profile,
            head: try Head(db, profile: profile),
            prints: rows.compactMap { $0 },
            isReadable: rows.allSatisfy { $0 != nil }
        )
    }

    init(profile: String, head: Head, prints: [PrintRow], isReadable: Bool = true) {
        self.profile = profile
        self.head = head
        self.prints = prints.sorted { $0.id < $1.id }
        self.isReadable = isReadable
    }

    var set: EnrollmentSet {
        EnrollmentSet(generation: generation, epoch: head.epoch, members: prints.map(\.member))
    }

    /// Returns whether the rows, including the templates, are as this program wrote them.
    func isAuthentic(_ seal: TemplateCipher) -> Bool {
        guard isReadable else { return false }
        guard let mac = head.mac else { return prints.isEmpty }
        let isOurs =
            isCounted(seal.keys)
            || seal.keys.isValid(mac, for: authenticated(isCounted: false), .manifest)
        return isOurs && prints.allSatisfy(seal.opens)
    }

    /// Returns whether, according to the MAC, a counter outside the database counts the generations.
    ///
    /// If that counter is missing, the database is an older one, or the counter was removed.
    func isCounted(_ keys: StateKeys) -> Bool {
        head.mac.map { keys.isValid($0, for: authenticated(isCounted: true), .manifest) } ?? false
    }

    /// The bytes that the MAC covers.
    ///
    /// They consist of the set, its profile, whether a counter counts its changes, and everything that affects its use.
    /// Labels, the reader's name and match times are not covered, because they are used only for order and display.
    /// Templates are not covered, because they are sealed to their rows.
    private func authenticated(isCounted: Bool) -> Data {
        var bytes = ByteWriter(isCounted ? "whorl counted manifest v1" : "whorl manifest v1")
        bytes.append(sized: profile)
        bytes.append(sized: set.encoded)
        for print in prints {
            bytes.append(sized: print.storage.rawValue)
            bytes.append(print.enrolledAt.bitPattern)
            bytes.append(sized: print.access.rawValue)
        }
        return Data(bytes.bytes)
    }

    /// Writes the generation, the MAC and the history.
    ///
    /// The caller writes the rows of `prints`.
    ///
    /// - Parameters:
    ///   - db: The database.
    ///   - keys: The keys that the MAC is computed with.
    ///   - date: The time of the change, for a new profile.
    ///   - isCounted: Whether a counter outside the database counts the generations.
    /// - Throws: The error reported by SQLite.
    func save(_ db: Database, keys: StateKeys, at date: Date, isCounted: Bool) throws {
        // A generation never exceeds the last one of an epoch, which is far below the largest number.
        let generation = Int64(clamping: generation)
        if try Head(db, profile: profile).epoch != head.epoch {
            // Generations restart, so those of earlier epochs would be confused with the new ones.
            try db.execute(sql: "DELETE FROM enrollment_history WHERE profile = ?", arguments: [profile])
        }
        try db.execute(
            sql: """
                INSERT INTO profiles (name, generation, manifest_mac, created_at, epoch) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET generation = excluded.generation,
                    manifest_mac = excluded.manifest_mac, epoch = excluded.epoch
                """,
            arguments: [
                profile, generation, keys.code(for: authenticated(isCounted: isCounted), .manifest),
                date.timeIntervalSince1970, head.epoch,
            ]
        )
        try db.execute(
            sql: "INSERT OR REPLACE INTO enrollment_history (profile, generation, encoding) VALUES (?, ?, ?)",
            arguments: [profile, generation, set.encoded]
        )
    }
}

extension Manifest.Head {
    /// The head of a new profile.
    static let none = Manifest.Head(generation: 0, epoch: nil, mac: nil)

    init(_ db: Database, profile: String) throws {
        let head = try db.first(
            sql: "SELECT generation, manifest_mac, epoch FROM profiles WHERE name = ?",
            arguments: [profile]
        ) { row in
            Manifest.Head(
                // The table's own check prevents negative numbers, and a damaged one fails the MAC.
                generation: (row[0] as Int64?).flatMap(UInt64.init(exactly:)) ?? 0,
                epoch: row[2],
                // A row whose MAC cannot be read is different from a missing row.
                mac: row[1] ?? Data()
            )
        }
        self = head ?? .none
    }
}

/// One profile's enrolled fingers at one point in time, after they have been validated.
///
/// The manifest's MAC is correct, every template can be decrypted, and the generation is that of the counter. The
/// snapshot is based on a single read of the database. To act on it later, use your own transaction to check whether it
/// is still current (``isEnrolled(_:in:)``, ``isSound(in:)``), which detects changes since the read.
package struct EnrollmentSnapshot: Sendable {
    let manifest: Manifest
    let seal: TemplateCipher

    /// The number of changes to the set up to this point.
    package var generation: UInt64 { manifest.generation }

    /// The enrolled fingers, sorted by finger and then by reader.
    package var fingers: [EnrolledFinger] {
        manifest.prints.map(\.enrolledFinger)
            .sorted { ($0.finger.number, $0.reader.rawValue) < ($1.finger.number, $1.reader.rawValue) }
    }

    /// Returns the finger of a print, or `nil` if the set does not contain the print.
    package func finger(of print: PrintID) -> Finger? { manifest.prints.first { $0.id == print }?.finger }

    /// Returns the state that a program compares, or `nil` if no finger is enrolled.
    package func state(for application: String) -> EnrollmentState? {
        guard !manifest.prints.isEmpty else { return nil }
        let digest = manifest.set.digest(application: application, keys: seal.keys)
        return EnrollmentState(digest: digest, generation: generation)
    }

    /// Returns the templates that a reader can compare with, those matched most recently first, followed by the newest.
    ///
    /// They are decrypted in this call and belong to the caller.
    package func gallery(on reader: ReaderID) -> [GalleryEntry] {
        let never = -Double.infinity
        return manifest.prints.filter { $0.reader == reader }
            .sorted {
                ($0.lastMatchedAt ?? never, $0.enrolledAt) > ($1.lastMatchedAt ?? never, $1.enrolledAt)
            }
            // Each one was decrypted when the snapshot was taken, from the same bytes.
            .compactMap { row in seal.open(row).map { GalleryEntry(id: row.id, template: $0) } }
    }

    /// Returns whether, in the caller's transaction, the set is unchanged and every print is still valid.
    ///
    /// This reads all prints and decrypts every template.
    package func isSound(in db: Database) throws -> Bool {
        let now = try Manifest(db, profile: manifest.profile)
        return now.head == manifest.head && now.isAuthentic(seal)
    }

    /// Returns whether, in the caller's transaction, the set is unchanged and a print is still enrolled.
    ///
    /// This checks only the generation and MAC of the set and an index of enrolled prints, and does not read any row
    /// with a template. Only ``isSound(in:)`` detects edited templates.
    package func isEnrolled(_ print: PrintID, in db: Database) throws -> Bool {
        guard let known = manifest.prints.first(where: { $0.id == print }) else { return false }
        return try db.value(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM profiles JOIN prints INDEXED BY one_print_per_finger ON prints.profile = profiles.name
                    WHERE profiles.name = ? AND generation = ? AND manifest_mac = ? AND epoch IS ?
                        AND reader = ? AND finger = ? AND state = 'enrolled' AND id = ?
                )
                """,
            arguments: [
                manifest.profile, Int64(clamping: manifest.generation), manifest.head.mac,
                manifest.head.epoch,
                known.reader.rawValue, Int64(known.finger.number), print.description,
            ]
        ) ?? false
    }
}
