// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// Counts the changes to a profile's enrollment set so that an older database can be detected.
///
/// The store first writes a new generation to the database and then calls ``advance(_:to:)``. A crash in between leaves
/// the database ahead by one, which the store repairs on its next read. A database that is behind the counter, or ahead
/// of it by more than one, is an older or foreign one (`enrollmentRolledBack`). A change is therefore complete once
/// both are written, and an authenticated database is ahead by one at most.
///
/// A hardware counter may start above zero. The first generation is then its first value plus one.
package protocol GenerationCounter: Sendable {
    /// Returns the counter's value for a profile.
    ///
    /// - Parameters:
    ///   - profile: The profile of the counter. A missing counter is created if `stored` is 0.
    ///   - stored: The generation in the database, or 0 if the profile has never had a print. A counter without its own
    ///     storage returns this value.
    /// - Returns: The last value that the counter was advanced to, or its initial value.
    /// - Throws: An error if the counter cannot be read.
    func current(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64

    /// Increments the counter to `generation`, or does nothing if it already has that value.
    func advance(_ profile: String, to generation: UInt64) async throws(ServiceError)

    /// Returns whether a counter outside the database counts the changes to a profile's set.
    ///
    /// The set's MAC includes this information from the next change on.
    ///
    /// - Throws: An error if this cannot be determined.
    func hasCounter(_ profile: String) async throws(ServiceError) -> Bool

    /// Returns the value to continue from when the owner gives up all fingers. A lost counter restarts at `stored`.
    ///
    /// - Throws: An error if the counter cannot be read.
    func restart(_ profile: String, stored: UInt64) async throws(ServiceError) -> UInt64
}

extension GenerationCounter {
    /// Returns `false`, because the database itself counts the changes.
    package func hasCounter(_ profile: String) async throws(ServiceError) -> Bool { false }

    /// Returns the counter's current value, because this counter cannot be lost.
    package func restart(_ profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        try await current(of: profile, stored: stored)
    }
}

/// The generation stored in the database itself, for a system without a TPM.
///
/// A changed generation is detected, because the manifest's MAC covers it. It is not detected if the whole state
/// directory is replaced by an older one.
package struct SoftwareGeneration: GenerationCounter {
    /// Creates a counter, which does not require any setup.
    package init() {}

    /// Returns `stored`, which is the database's own number.
    package func current(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        stored
    }

    /// Does nothing, because the database has already counted the change.
    package func advance(_ profile: String, to generation: UInt64) async throws(ServiceError) {}
}
