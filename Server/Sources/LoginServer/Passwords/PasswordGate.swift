// SPDX-License-Identifier: Apache-2.0

internal import LoginAssertion
internal import RelyingParty

/// Checks passwords: the number of tries is limited over all instances, every check takes the same time, and none runs
/// on the event loops.
struct PasswordGate: Sendable {
    private let relyingParty: RelyingParty
    private let accounts: Accounts
    private let limits: PasswordLimits
    /// The workers for tries that any client can make.
    private let workers: PasswordWorkers
    /// The workers for tries on a device that has proven its key: strangers do not wait in this line.
    private let deviceWorkers: PasswordWorkers

    init(relyingParty: RelyingParty, accounts: Accounts, limits: PasswordLimits, threads: Int) {
        self.relyingParty = relyingParty
        self.accounts = accounts
        self.limits = limits
        workers = PasswordWorkers(threads: threads, waiting: 32)
        deviceWorkers = PasswordWorkers(threads: 1, waiting: 16)
    }

    /// The number of passwords that are checked or wait for that.
    var underWay: Int { workers.busy + deviceWorkers.busy }

    /// Compares a password with the user's; for an unknown user it takes the same time and does not match.
    ///
    /// A try is counted before it is made, so that concurrent tries cannot exceed the limit, and is taken back if the
    /// password was right.
    ///
    /// - Parameters:
    ///   - password: The password that was sent.
    ///   - user: The user whose password it should be.
    ///   - device: The user's device that has proven its key, if any.
    ///   - address: The client's address.
    /// - Returns: The name of the user's password if the password is right, and `nil` otherwise.
    /// - Throws: ``Problem`` if there are too many checks at once; the relying party's error if there were too many
    ///   tries, and the store's.
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
