// SPDX-License-Identifier: Apache-2.0

internal import LoginAssertion
internal import RelyingParty

/// Checks passwords, with a limit for attempts across all instances.
///
/// Every check takes the same time, and none runs on the event loops.
struct PasswordGate: Sendable {
    private let relyingParty: RelyingParty
    private let accounts: Accounts
    private let limits: PasswordLimits
    /// The workers for attempts that any client can make.
    private let workers: PasswordWorkers
    /// The workers for attempts on a device that has proven its key, which do not have to wait for others.
    private let deviceWorkers: PasswordWorkers

    init(relyingParty: RelyingParty, accounts: Accounts, limits: PasswordLimits, threads: Int) {
        self.relyingParty = relyingParty
        self.accounts = accounts
        self.limits = limits
        workers = PasswordWorkers(threads: threads, waiting: 32)
        deviceWorkers = PasswordWorkers(threads: 1, waiting: 16)
    }

    /// The number of passwords being checked or waiting.
    var underWay: Int { workers.busy + deviceWorkers.busy }

    /// Compares a password with the user's; for an unknown user it takes the same time and does not match.
    ///
    /// An attempt is counted before it is made, so that concurrent attempts cannot exceed the limit, and is refunded if
    /// the password was correct.
    ///
    /// - Parameters:
    ///   - password: The received password.
    ///   - user: The user to compare it for.
    ///   - device: The user's device that has proven its key, if any.
    ///   - address: The client's address.
    /// - Returns: The ID of the user's password if it is correct, and otherwise `nil`.
    /// - Throws: ``Problem`` if too many checks are running; the relying party's error if there were too many attempts,
    ///   and the store's.
    func check(
        _ password: String,
        of user: LoginName,
        on device: LoginName? = nil,
        from address: ClientAddress
    ) async throws -> String? {
        let buckets =
            if let device {
                limits.buckets(of: user, on: device)
            } else {
                limits.buckets(of: user, from: address)
            }
        try await relyingParty.countTries(buckets)
        let expected = try await accounts.expected(of: user)
        let isRight = try await (device == nil ? workers : deviceWorkers).run {
            expected.hash.matches(password)
        }
        guard isRight, let credential = expected.credential else { return nil }
        try await relyingParty.refundTries(buckets)
        return credential
    }
}
