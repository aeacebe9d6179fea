// SPDX-License-Identifier: Apache-2.0

public import Fingerprint
public import Foundation

/// One enrolled finger, without its template.
public struct EnrolledFinger: Sendable, Hashable, Identifiable {
    /// The print's identity.
    public let id: PrintID
    /// Which finger the person says it is.
    public let finger: Finger
    /// The person's own words; shown, never interpreted.
    public let label: String?
    /// The reader that it was enrolled with, the only one that can match it.
    public let reader: ReaderID
    /// The reader's name at the time.
    ///
    /// It may come from the device: clean it before it reaches a terminal.
    public let readerName: String
    /// Who keeps the template.
    public let storage: ReaderInfo.Storage
    /// When it was enrolled.
    public let enrolledAt: Date
    /// When it matched last; `nil` before the first match.
    public let lastMatchedAt: Date?

    package init(
        id: PrintID,
        finger: Finger,
        label: String?,
        reader: ReaderID,
        readerName: String,
        storage: ReaderInfo.Storage,
        enrolledAt: Date,
        lastMatchedAt: Date?
    ) {
        self.id = id
        self.finger = finger
        self.label = label
        self.reader = reader
        self.readerName = readerName
        self.storage = storage
        self.enrolledAt = enrolledAt
        self.lastMatchedAt = lastMatchedAt
    }
}

/// What a program compares to learn whether the set of enrolled fingers has changed.
public struct EnrollmentState: Sendable, Hashable {
    /// 32 bytes, HMAC-SHA-256; another program's digest of the same fingers is another one.
    public let digest: Data
    /// How often the set has changed.
    ///
    /// It never goes back, except where an edited database had used all numbers up: then the digest holds random bytes
    /// from there on. A set is told by its digest.
    public let generation: UInt64

    package init(digest: Data, generation: UInt64) {
        self.digest = digest
        self.generation = generation
    }
}

/// What has happened to the set of enrolled fingers since a digest was taken.
public struct EnrollmentDifference: Sendable, Hashable {
    /// Whether the digest is another one now.
    ///
    /// A set that was changed and changed back has changed.
    public let changed: Bool
    /// The fingers of prints that are new since then.
    public let added: [Finger]
    /// The fingers of prints that are gone since then.
    public let removed: [Finger]
    /// Whether the digest was one of ours for this program.
    ///
    /// When not, it has `changed` and nothing is listed.
    public let isKnown: Bool

    package init(changed: Bool, added: [Finger], removed: [Finger], isKnown: Bool) {
        self.changed = changed
        self.added = added
        self.removed = removed
        self.isKnown = isKnown
    }
}
