// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint
public import FoundationEssentials

/// One enrolled finger, without its template.
public struct EnrolledFinger: Sendable, Hashable, Identifiable, Codable {
    /// The print's identity.
    public let id: PrintID
    /// The finger that the person named at enrollment.
    public let finger: Finger
    /// The person's own words; shown, never interpreted.
    public let label: String?
    /// The reader that the finger was enrolled with, and the only one that can match it.
    public let reader: ReaderID
    /// The reader's name at the time.
    ///
    /// It may come from the device: clean it before it reaches a terminal.
    public let readerName: String
    /// The place where the template is kept.
    public let storage: ReaderInfo.Storage
    /// The time of the enrollment.
    public let enrolledAt: Date
    /// The time of the last match; `nil` before the first match.
    public let lastMatchedAt: Date?
    /// The access to the reader at the enrollment.
    ///
    /// In a reader that matches on its chip, the service trusts only a print that was enrolled while the reader was closed.
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

/// The state of a profile's fingers that a program compares to learn whether the set has changed.
public struct EnrollmentState: Sendable, Hashable, Codable {
    /// The HMAC-SHA-256 of the set, 32 bytes; it differs for each program.
    public let digest: Data
    /// The number of changes of the set.
    ///
    /// It never goes back, except after an edited database had used all numbers up: from then on the digest holds
    /// random bytes. Only the digest identifies a set.
    public let generation: UInt64

    package init(digest: Data, generation: UInt64) {
        self.digest = digest
        self.generation = generation
    }
}

/// The changes of the set of enrolled fingers since a digest was taken.
public struct EnrollmentDifference: Sendable, Hashable, Codable {
    /// Whether the present digest is a different one.
    ///
    /// It is `true` also for a set that was changed and changed back.
    public let changed: Bool
    /// The fingers of prints that were added since then.
    public let added: [Finger]
    /// The fingers of prints that were removed since then.
    public let removed: [Finger]
    /// Whether the digest is one that the store gave to this program.
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
