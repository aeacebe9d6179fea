// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// Counts the changes of a profile's enrollment set, so that an older database is noticed.
///
/// The store writes a new generation to the database first and then calls ``advance(_:to:)``; a crash in between
/// leaves the database ahead by one, which the store repairs at its next read. A database that is behind the
/// counter, or ahead by more, is an older or a foreign one (`enrollmentRolledBack`). So a change counts as made
/// once both are written, and an authenticated database is at most one ahead.
///
/// A hardware counter may start above zero: the first generation is then its first value plus one.
package protocol GenerationCounter: Sendable {
    /// The counter's value for a profile.
    ///
    /// - Parameters:
    ///   - profile: The profile of the counter; a missing counter is made when `stored` is 0.
    ///   - stored: The generation in the database; 0 when the profile never had a print. A counter without
    ///     storage of its own returns it.
    /// - Returns: The last value that the counter was advanced to, or where it begins.
    /// - Throws: an error if the counter cannot be read.
    func current(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64

    /// Counts up by one, to `generation`; does nothing if the counter already has that value.
    func advance(_ profile: String, to generation: UInt64) async throws(ServiceError)

    /// Whether a counter outside of the database counts a profile's set; the set's MAC says so from its next change on.
    ///
    /// - Throws: an error if that cannot be determined.
    func hasCounter(_ profile: String) async throws(ServiceError) -> Bool

    /// The value to go on from when the owner gives all fingers up; a lost counter starts again at `stored`.
    ///
    /// - Throws: an error if the counter cannot be read.
    func restart(_ profile: String, stored: UInt64) async throws(ServiceError) -> UInt64
}

extension GenerationCounter {
    /// Returns `false`, since the database itself counts.
    package func hasCounter(_ profile: String) async throws(ServiceError) -> Bool { false }

    /// Returns the counter's present value, since this counter cannot be lost.
    package func restart(_ profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        try await current(of: profile, stored: stored)
    }
}

/// The generation that the database itself holds, for a system without a TPM.
///
/// It detects a changed generation (the manifest's MAC covers it). It does not detect that a whole older state
/// directory was put back.
package struct SoftwareGeneration: GenerationCounter {
    /// Creates a counter, which needs no setup.
    package init() {}

    /// Returns `stored`, the database's own number.
    package func current(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        stored
    }

    /// Does nothing, since the database has already counted.
    package func advance(_ profile: String, to generation: UInt64) async throws(ServiceError) {}
}
