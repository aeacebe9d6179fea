// SPDX-License-Identifier: Apache-2.0

internal import LoginAssertion

/// Checks passwords: so many tries, the same time for all, and never on the event loops.
final class PasswordGate: Sendable {
    /// Failures in a quarter of an hour: of one user from one address, of one user from anywhere, of one address.
    private let pairs = TryLimit(limit: 10, seconds: 900)
    private let users = TryLimit(limit: 30, seconds: 900)
    private let addresses = TryLimit(limit: 60, seconds: 900)
    private let accounts: Accounts
    private let workers: PasswordWorkers

    init(accounts: Accounts, threads: Int) {
        self.accounts = accounts
        workers = PasswordWorkers(threads: threads, waiting: 32)
    }

    /// Whether it is the user's password; an unknown user has none, after the same time.
    ///
    /// - Throws: ``Problem`` where there were too many tries or there are too many at once; the store's error.
    func check(_ password: String, of user: LoginName, from address: ClientAddress, at now: Int) async throws
        -> Bool
    {
        let charged = [
            (addresses, address.group), (pairs, "\(address.group)\n\(user.text)"), (users, user.text),
        ]
        for (limit, name) in charged {
            if let seconds = limit.charge(name, at: now) {
                throw Problem.tooManyRequests(retryAfter: seconds)
            }
        }
        do {
            let hash = try await accounts.passwordHash(of: user)
            let isRight = try await workers.run {
                password.utf8.count <= PasswordHash.longest && hash.matches(password)
            }
            if isRight { giveBack(charged) }
            return isRight
        } catch {
            // Nobody learned whether it was right.
            giveBack(charged)
            throw error
        }
    }

    private func giveBack(_ charged: [(TryLimit, String)]) {
        for (limit, name) in charged { limit.giveBack(name) }
    }
}
