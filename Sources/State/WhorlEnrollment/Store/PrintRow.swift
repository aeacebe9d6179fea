// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSQLite
import WhorlStateStore
import WhorlFingerprint
import WhorlService
import WhorlSupport

/// One row of the table `prints` with valid values in all columns.
struct PrintRow: Sendable, Hashable {
    enum State: String, Sendable {
        /// An enrollment on a reader that stores prints has begun.
        case pending
        /// The print is enrolled.
        case enrolled
        /// The print is no longer enrolled, but its reader still has to delete it.
        case removing
    }

    let id: PrintID
    let profile: String
    let finger: Finger
    var label: String?
    let reader: ReaderID
    let readerName: String
    let storage: ReaderInfo.Storage
    /// The ciphertext (AES-GCM) of the template, or of an ``Intent`` while the print is `pending`.
    var sealed: Data?
    /// The SHA-256 digest of the template as it was enrolled (32 bytes), or empty data while the print is `pending`.
    let templateDigest: Data
    /// The time of the enrollment, in seconds since 1970.
    let enrolledAt: Double
    var lastMatchedAt: Double?
    let state: State
    /// The access to the reader when the print was enrolled.
    var access = ReaderAccess.State.unknown

    /// Whether the reader itself stores the print.
    var isOnReader: Bool { storage == .reader }

    var member: EnrollmentSet.Member {
        EnrollmentSet.Member(id: id, finger: finger, reader: reader, templateDigest: templateDigest)
    }

    var enrolledFinger: EnrolledFinger {
        EnrolledFinger(
            id: id,
            finger: finger,
            label: label,
            reader: reader,
            readerName: readerName,
            storage: storage,
            enrolledAt: Date(timeIntervalSince1970: enrolledAt),
            lastMatchedAt: lastMatchedAt.map(Date.init(timeIntervalSince1970:)),
            access: access
        )
    }
}

extension PrintRow {
    /// The columns in a query.
    ///
    /// A database that was tampered with may contain texts and templates of any size. The manifest's MAC does not cover
    /// the label or the reader's name, so only the beginning of each is read. A template that is larger than those of
    /// any reader is read as missing and cannot be decrypted.
    static let columns = """
        id, profile, finger, substr(label, 1, \(FingerLabel.limit * 8)) AS label, reader,
        substr(reader_name, 1, \(FingerLabel.limit * 8)) AS reader_name, storage,
        CASE WHEN length(template) <= \(1 << 22) THEN template END AS template,
        template_digest, enrolled_at, last_matched_at, state, access
        """

    /// Reads a row, or returns `nil` if a column contains a value that this module never writes.
    ///
    /// A database that was tampered with may contain anything, including values that the table's definition forbids.
    init?(_ column: borrowing Row) {
        guard let id = (column["id"] as String?).flatMap({ PrintID($0) }),
            let profile = column["profile"] as String?,
            let number = column["finger"] as Int64?,
            let finger = UInt8(exactly: number).flatMap(Finger.init(number:)),
            let reader = column["reader"] as String?,
            let readerName = column["reader_name"] as String?,
            let storage = (column["storage"] as String?).flatMap(ReaderInfo.Storage.init(rawValue:)),
            let enrolledAt = column["enrolled_at"] as Double?,
            let state = (column["state"] as String?).flatMap(State.init(rawValue:)),
            let access = (column["access"] as String?).flatMap(ReaderAccess.State.init(rawValue:))
        else { return nil }
        self.init(
            id: id,
            profile: profile,
            finger: finger,
            label: FingerLabel.clean(column["label"]),
            reader: ReaderID(rawValue: reader),
            readerName: FingerLabel.clean(readerName) ?? "",
            storage: storage,
            sealed: column["template"],
            templateDigest: column["template_digest"] ?? Data(),
            enrolledAt: enrolledAt,
            lastMatchedAt: column["last_matched_at"],
            state: state,
            access: access
        )
    }

    func insert(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO prints (id, profile, finger, label, reader, reader_name, storage, template,
                    template_digest, enrolled_at, last_matched_at, state, access)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                id.description, profile, Int64(finger.number), label, reader.rawValue, readerName,
                storage.rawValue, sealed, templateDigest.isEmpty ? nil : templateDigest, enrolledAt,
                lastMatchedAt, state.rawValue, access.rawValue,
            ]
        )
    }
}

/// The user's own label for a finger.
///
/// Labels are stored and shown, but never interpreted.
enum FingerLabel {
    /// The maximum number of characters that are stored.
    static let limit = 100

    /// Returns the text on one line without control characters and invisible format characters, or `nil` if nothing is
    /// left.
    static func clean(_ text: String?) -> String? {
        guard let text else { return nil }
        var kept = String.UnicodeScalarView()
        // One character can consist of any number of scalars, so limit their number too.
        for scalar in text.unicodeScalars.prefix(limit * 8) {
            if scalar.properties.isWhitespace {
                kept.append(" ")
            } else if !DisplayText.isHidden(scalar) {
                kept.append(scalar)
            }
        }
        let words = String(kept).split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        return words.isEmpty ? nil : String(words.prefix(limit))
    }
}
