// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// What a context remembers, behind its core's lock.
struct ContextState {
    /// What the program set.
    var settings = ContextSettings()
    /// What the last biometric success told.
    var domainState: Data?
    /// Nothing begins any more, and nothing is a success.
    var isInvalidated = false
    /// The evaluation that goes on.
    var running: Task<ContextCore.Outcome, Never>?
    /// What the program shows for itself; the PIN of a smart card is kept and told of, and used for nothing.
    var credentials: [CredentialKind: SecretBox] = [:]
    /// What ends each operation on a protected item that goes on.
    var releases: [Int: @Sendable () -> Void] = [:]
    /// How many operations have begun; the number of the latest.
    var releaseCount = 0
}
