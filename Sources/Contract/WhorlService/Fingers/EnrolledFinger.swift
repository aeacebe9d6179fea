// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint
public import FoundationEssentials

/// One enrolled finger, without its template.
public struct EnrolledFinger: Sendable, Hashable, Identifiable, Codable {
    /// The identity of the print.
    public let id: PrintID
    /// The finger that the user selected during enrollment.
    public let finger: Finger
    /// A label that the user chose, for display only.
    public let label: String?
    /// The reader that the finger was enrolled on, and the only one that can match it.
    public let reader: ReaderID
    /// The name of the reader at enrollment.
    ///
    /// It may come from the device, so clean it before printing it to a terminal.
    public let readerName: String
    /// The location of the template.
    public let storage: ReaderInfo.Storage
    /// The time of the enrollment.
    public let enrolledAt: Date
    /// The time of the last match; `nil` before the first match.
    public let lastMatchedAt: Date?
    /// The accessibility of the reader to other programs at enrollment.
    ///
    /// For a reader that matches on its chip, the service trusts a print only if the reader was closed to other
    /// programs when the finger was enrolled.
    public let access: ReaderAccess.State

    package init(
        id: PrintID,
        finger: Finger,
        label: String?,
        reader: ReaderID,
        readerName: String,
        storage: ReaderInfo.Storage,
        enrolledAt: Date,
        lastMatchedAt: Date?,
        access: ReaderAccess.State
    ) {
        self.id = id
        self.finger = finger
        self.label = label
        self.reader = reader
        self.readerName = readerName
        self.storage = storage
        self.enrolledAt = enrolledAt
        self.lastMatchedAt = lastMatchedAt
        self.access = access
    }
}

/// The state of a profile's fingers; a program compares it with an earlier one to detect changes to the set.
public struct EnrollmentState: Sendable, Hashable, Codable {
    /// The HMAC-SHA-256 of the set, 32 bytes, different for each program.
    public let digest: Data
    /// The number of changes to the set.
    ///
    /// It never decreases, unless the numbers are used up, which happens only in an edited database. From then on, the
    /// digest includes random bytes. Only the digest identifies a set.
    public let generation: UInt64

    package init(digest: Data, generation: UInt64) {
        self.digest = digest
        self.generation = generation
    }
}

/// The changes to the set of enrolled fingers since a digest was taken.
public struct EnrollmentDifference: Sendable, Hashable, Codable {
    /// Whether the current digest differs from the earlier one.
    ///
    /// This is also `true` for a set that was changed and then changed back.
    public let changed: Bool
    /// The fingers whose prints were added since the digest was taken.
    public let added: [Finger]
    /// The fingers whose prints were removed since the digest was taken.
    public let removed: [Finger]
    /// Whether the earlier digest is one that the store returned to this program.
    ///
    /// If not, `changed` is `true`, and `added` and `removed` are empty.
    public let isKnown: Bool

    package init(changed: Bool, added: [Finger], removed: [Finger], isKnown: Bool) {
        self.changed = changed
        self.added = added
        self.removed = removed
        self.isKnown = isKnown
    }
}
