// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// Counts the changes to a profile's enrollment set, so that an older database is detected.
///
/// The store writes a new generation to the database first and then calls ``advance(_:to:)``. A crash in between leaves
/// the database ahead by one, which the store repairs on its next read. A database that is behind the counter, or ahead
/// by more than one, is an older or foreign one (`enrollmentRolledBack`). A change is therefore complete once both are
/// written, and an authenticated database is at most one ahead.
///
/// A hardware counter may start above zero: the first generation is then its first value plus one.
package protocol GenerationCounter: Sendable {
    /// Returns the counter's value for a profile.
    ///
    /// - Parameters:
    ///   - profile: The profile of the counter; a missing counter is created if `stored` is 0.
    ///   - stored: The generation in the database; 0 if the profile never had a print. A counter without its own
    ///     storage returns it.
    /// - Returns: The last value that the counter was advanced to, or its initial value.
    /// - Throws: An error if the counter cannot be read.
    func current(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64

    /// Increments the counter to `generation`; does nothing if it already has that value.
    func advance(_ profile: String, to generation: UInt64) async throws(ServiceError)

    /// Returns whether a counter outside the database counts a profile's set.
    ///
    /// The set's MAC records this from the next change on.
    ///
    /// - Throws: An error if that cannot be determined.
    func hasCounter(_ profile: String) async throws(ServiceError) -> Bool

    /// Returns the value to continue from when the owner gives up all fingers; a lost counter restarts at `stored`.
    ///
    /// - Throws: An error if the counter cannot be read.
    func restart(_ profile: String, stored: UInt64) async throws(ServiceError) -> UInt64
}

extension GenerationCounter {
    /// Returns `false`, because the database itself counts.
    package func hasCounter(_ profile: String) async throws(ServiceError) -> Bool { false }

    /// Returns the counter's current value, because this counter cannot be lost.
    package func restart(_ profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        try await current(of: profile, stored: stored)
    }
}

/// The generation stored in the database itself, for a system without a TPM.
///
/// It detects a changed generation, because the manifest's MAC covers it. It does not detect that the whole state
/// directory was replaced by an older one.
package struct SoftwareGeneration: GenerationCounter {
    /// Creates a counter; no setup is needed.
    package init() {}

    /// Returns `stored`, the database's own number.
    package func current(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        stored
    }

    /// Does nothing, because the database has already counted.
    package func advance(_ profile: String, to generation: UInt64) async throws(ServiceError) {}
}
