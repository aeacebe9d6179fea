// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
package import GRDB
import StateStore
package import WhorlService

/// One profile's enrolled fingers at one moment, found sound: the manifest's MAC fits, every template opens, and the
/// generation is the counter's.
///
/// It is one read of the database. A caller that decides something later checks in its own transaction whether the
/// snapshot still holds (``isEnrolled(_:in:)``, ``isSound(in:)``); changes since the read are noticed there.
package struct EnrollmentSnapshot: Sendable {
    let manifest: Manifest
    let seal: TemplateCipher

    /// The number of changes of the set up to this moment.
    package var generation: UInt64 { manifest.generation }

    /// The enrolled fingers, by finger and then by reader.
    package var fingers: [EnrolledFinger] {
        manifest.prints.map(\.enrolledFinger)
            .sorted { ($0.finger.number, $0.reader.rawValue) < ($1.finger.number, $1.reader.rawValue) }
    }

    /// The finger of a print; `nil` when the set has no such print.
    package func finger(of print: PrintID) -> Finger? { manifest.prints.first { $0.id == print }?.finger }

    /// Returns the state that a program compares; `nil` when no finger is enrolled.
    package func state(for application: String) -> EnrollmentState? {
        guard !manifest.prints.isEmpty else { return nil }
        let digest = manifest.set.digest(application: application, keys: seal.keys)
        return EnrollmentState(digest: digest, generation: generation)
    }

    /// The templates that a reader can compare with, the most recently matched first, then the newest.
    ///
    /// They are decrypted in this call, and belong to the caller.
    package func gallery(on reader: ReaderID) -> [GalleryEntry] {
        let never = -Double.infinity
        return manifest.prints.filter { $0.reader == reader }
            .sorted {
                ($0.lastMatchedAt ?? never, $0.enrolledAt) > ($1.lastMatchedAt ?? never, $1.enrolledAt)
            }
            // Each was opened when the snapshot was taken, from the same bytes.
            .compactMap { row in seal.open(row).map { GalleryEntry(id: row.id, template: $0) } }
    }

    /// Whether the set is still this one, and every print of it as sound as it was, in the caller's transaction.
    ///
    /// It reads all prints and opens every template.
    package func isSound(in db: Database) throws -> Bool {
        let now = try Manifest(db, profile: manifest.profile)
        return now.head == manifest.head && now.isAuthentic(seal)
    }

    /// Whether the set is still this one, and a print of it enrolled, in the caller's transaction.
    ///
    /// It checks only the set's generation and MAC, and an index of enrolled prints: no row with a template is
    /// read. Only ``isSound(in:)`` finds edited templates.
    package func isEnrolled(_ print: PrintID, in db: Database) throws -> Bool {
        guard let known = manifest.prints.first(where: { $0.id == print }) else { return false }
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM profiles JOIN prints INDEXED BY one_print_per_finger ON prints.profile = profiles.name
                    WHERE profiles.name = ? AND generation = ? AND manifest_mac = ? AND epoch IS ?
                        AND reader = ? AND finger = ? AND state = 'enrolled' AND id = ?
                )
                """
        )
        let arguments: StatementArguments = [
            manifest.profile, Int64(clamping: manifest.generation), manifest.head.mac, manifest.head.epoch,
            known.reader.rawValue, Int64(known.finger.number), print.description,
        ]
        return try Bool.fetchOne(statement, arguments: arguments) ?? false
    }
}
