// SPDX-License-Identifier: Apache-2.0

public import Fingerprint
public import Foundation
public import StateStore

/// Whose fingers are enrolled, and the digest of their set.
///
/// Everything that it gives was checked against the manifest's MAC first: rows that were changed from outside
/// are ``EnrollmentError/Code/enrollmentTampered``, never a finger.
public final class EnrollmentStore: Sendable {
    package let database: StateDatabase
    let generations: any GenerationCounter

    /// Works on a database.
    public init(database: StateDatabase, generations: any GenerationCounter) {
        self.database = database
        self.generations = generations
    }

    /// The enrolled fingers of a profile, by finger and then by reader.
    public func fingers(of profile: String) async throws(EnrollmentError) -> [EnrolledFinger] { fatalError() }

    /// The templates that a reader can compare with, the most recently matched first, then the newest.
    ///
    /// - Throws: `enrollmentTampered`, also when a template cannot be decrypted; `enrollmentRolledBack`; `store`.
    public func gallery(
        of profile: String,
        on reader: ReaderID
    ) async throws(EnrollmentError) -> [GalleryEntry] { fatalError() }

    /// One enrolled finger of a profile; `nil` when there is none of this identity.
    public func finger(_ id: PrintID, of profile: String) async throws(EnrollmentError) -> EnrolledFinger? {
        fatalError()
    }

    /// What a program compares; `nil` when no finger is enrolled.
    ///
    /// - Parameter application: The name of the program.
    public func state(of profile: String, application: String) async throws(EnrollmentError) -> EnrollmentState? {
        fatalError()
    }

    /// What has changed since `digest`, which ``state(of:application:)`` gave for the same program.
    public func difference(
        of profile: String,
        application: String,
        since digest: Data
    ) async throws(EnrollmentError) -> EnrollmentDifference { fatalError() }

    /// Remembers a match, and the better template where the reader made one. The digest does not change.
    ///
    /// It is lost when the power fails within seconds; nothing depends on it. A print that was removed meanwhile
    /// is ignored.
    public func recordMatch(
        _ id: PrintID,
        updated: Template?,
        at date: Date
    ) async throws(EnrollmentError) { fatalError() }

    /// Gives a finger another label, or none. The digest does not change.
    ///
    /// - Parameter label: Free text; control characters are dropped, and only 100 characters are kept.
    /// - Throws: `noSuchFinger`, `store`.
    public func rename(
        _ id: PrintID,
        of profile: String,
        label: String?
    ) async throws(EnrollmentError) { fatalError() }
}
