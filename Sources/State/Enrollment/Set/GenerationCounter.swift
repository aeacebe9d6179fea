// SPDX-License-Identifier: Apache-2.0

/// Counts the changes of a profile's enrollment set, so that an older database is noticed.
///
/// The store writes a new generation to the database first and then calls ``advance(_:to:)``; a crash in between
/// leaves the database ahead by one, which the store mends when it reads next. A database that is behind the
/// counter, or ahead by more, is an older or a foreign one (`enrollmentRolledBack`). So a change counts as made
/// once both are written, and an authenticated database is never more than one ahead.
///
/// A hardware counter that starts above zero fits: the first generation is then its first value plus one.
public protocol GenerationCounter: Sendable {
    /// The counter's value for a profile.
    ///
    /// - Parameters:
    ///   - profile: Whose counter; one that is not there is made when `stored` is 0.
    ///   - stored: The generation in the database; 0 when the profile never had a print. A counter that has no
    ///     place of its own gives it back.
    /// - Returns: The last value that the counter was advanced to, or where it begins.
    /// - Throws: what keeps the counter from being asked.
    func current(of profile: String, stored: UInt64) async throws(EnrollmentError) -> UInt64

    /// Counts up by one, to `generation`; does nothing when that is the value already.
    func advance(_ profile: String, to generation: UInt64) async throws(EnrollmentError)

    /// Whether a counter outside of the database counts a profile's set; the set's MAC says so from its next change on.
    ///
    /// - Throws: what keeps that from being known.
    func hasCounter(_ profile: String) async throws(EnrollmentError) -> Bool

    /// The value to go on from when the owner gives all fingers up; a counter that was lost begins anew at `stored`.
    ///
    /// - Throws: what keeps the counter from being asked.
    func restart(_ profile: String, stored: UInt64) async throws(EnrollmentError) -> UInt64
}

extension GenerationCounter {
    /// `false`: the database itself counts.
    public func hasCounter(_ profile: String) async throws(EnrollmentError) -> Bool { false }

    /// The counter's value: one that cannot be lost goes on.
    public func restart(_ profile: String, stored: UInt64) async throws(EnrollmentError) -> UInt64 {
        try await current(of: profile, stored: stored)
    }
}

/// The generation that the database itself holds, for a system without a TPM.
///
/// It notices a changed generation (the manifest's MAC covers it). It does not notice that a whole older state
/// directory was put back.
public struct SoftwareGeneration: GenerationCounter {
    /// There is nothing to set up.
    public init() {}

    /// The database's own number.
    public func current(of profile: String, stored: UInt64) async throws(EnrollmentError) -> UInt64 { stored }

    /// The database has counted already.
    public func advance(_ profile: String, to generation: UInt64) async throws(EnrollmentError) {}
}
