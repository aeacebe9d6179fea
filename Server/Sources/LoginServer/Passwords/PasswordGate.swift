// SPDX-License-Identifier: Apache-2.0

internal import LoginAssertion
internal import RelyingParty

/// Checks passwords: so many tries at all instances together, the same time for all, and never on the event loops.
struct PasswordGate: Sendable {
    private typealias Limit = RelyingParty.Configuration.Limit

    /// Tries in a quarter of an hour, good ones too: of one user from one address, of one user, of one address.
    ///
    /// Who tries one user from one place spends the smallest, and leaves the user's own to the user.
    private static let pair = Limit(count: 10, seconds: 900)
    private static let user = Limit(count: 40, seconds: 900)
    private static let address = Limit(count: 100, seconds: 900)

    private let relyingParty: RelyingParty
    private let accounts: Accounts
    private let workers: PasswordWorkers

    init(relyingParty: RelyingParty, accounts: Accounts, threads: Int) {
        self.relyingParty = relyingParty
        self.accounts = accounts
        workers = PasswordWorkers(threads: threads, waiting: 32)
    }

    /// Compares a password with the user's; an unknown user has none, after the same time.
    ///
    /// - Returns: The name of the user's password where it is this one, and else `nil`.
    /// - Throws: ``Problem`` where there are too many at once; the relying party's error where there were too many
    ///   tries, and the store's.
    func check(_ password: String, of user: LoginName, from address: ClientAddress) async throws -> String? {
        try await relyingParty.countTry("password", from: address.text, limit: Self.address)
        let from = address.network ?? address.text
        try await relyingParty.countTry("password from \(from)", by: user, limit: Self.pair)
        try await relyingParty.countTry("password", by: user, limit: Self.user)
        let expected = try await accounts.expected(of: user)
        let isRight = try await workers.run {
            password.utf8.count <= PasswordHash.longest && expected.hash.matches(password)
        }
        return isRight ? expected.credential : nil
    }
}
