// SPDX-License-Identifier: Apache-2.0

internal import LoginAssertion
internal import RelyingParty

/// Checks passwords: so many tries at all instances together, the same time for all, and never on the event loops.
struct PasswordGate: Sendable {
    private let relyingParty: RelyingParty
    private let accounts: Accounts
    private let limits: PasswordLimits
    /// For tries that anybody can make.
    private let workers: PasswordWorkers
    /// For those on a device that has shown its key: strangers do not stand in this line.
    private let deviceWorkers: PasswordWorkers

    init(relyingParty: RelyingParty, accounts: Accounts, limits: PasswordLimits, threads: Int) {
        self.relyingParty = relyingParty
        self.accounts = accounts
        self.limits = limits
        workers = PasswordWorkers(threads: threads, waiting: 32)
        deviceWorkers = PasswordWorkers(threads: 1, waiting: 16)
    }

    /// Compares a password with the user's; an unknown user has none, after the same time.
    ///
    /// A try is counted before it is made, so that many at once are not more than there may be, and taken back where it was
    /// right.
    ///
    /// - Parameters:
    ///   - password: What was sent.
    ///   - user: Whose it should be.
    ///   - device: The user's device that has shown its key, if any.
    ///   - address: From where it comes.
    /// - Returns: The name of the user's password where it is this one, and else `nil`.
    /// - Throws: ``Problem`` where there are too many at once; the relying party's error where there were too many
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
            password.utf8.count <= PasswordHash.longest && expected.hash.matches(password)
        }
        guard isRight, let credential = expected.credential else { return nil }
        try await relyingParty.refundTries(buckets)
        return credential
    }
}
