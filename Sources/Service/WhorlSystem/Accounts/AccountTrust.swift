// SPDX-License-Identifier: Apache-2.0

package import WhorlStateStore
import Synchronization
import WhorlEnrollment
package import WhorlService
package import WhorlSupport

/// Records for a service whether a state folder still belongs to its account, and whether the account was renamed.
///
/// In a program's own process, the user owns the folder, so there is nothing to check.
package final class AccountTrust: Sendable {
    private let folder: StateDirectory?
    private let account: Mutex<SystemAccount?>
    private let renamed = Mutex(false)

    /// Creates the trust for a folder that is not tied to an account.
    package init() {
        folder = nil
        account = Mutex(nil)
    }

    /// Creates the trust for an account's folder.
    package init(_ account: SystemAccount, in folder: StateDirectory) {
        self.folder = folder
        self.account = Mutex(account)
    }

    /// Whether the account's name differs from the last confirmed one, so that its fingers are not trusted.
    var isRenamed: Bool { renamed.withLock(\.self) }

    /// Records the account's current entry in the user database.
    package func note(_ account: SystemAccount, isRenamed: Bool) {
        self.account.withLock { $0 = account }
        renamed.withLock { $0 = isRenamed }
    }

    /// Marks a newly created folder as belonging to the account.
    func begin() throws(ServiceError) {
        guard let folder, let account = account.withLock(\.self), try AccountMark.read(in: folder) == nil
        else { return }
        try AccountMark(account).write(in: folder)
    }

    /// Records that the state belongs to this user, who entered the passcode or was confirmed by root.
    package func confirm() throws(ServiceError) {
        guard let folder, let account = account.withLock(\.self) else { return }
        let mark = try AccountMark.read(in: folder)?.confirmed(as: account) ?? AccountMark(account)
        try mark.write(in: folder)
        renamed.withLock { $0 = false }
    }
}

/// The generation counter of a profile, which does not trust the fingers of a renamed account.
struct AccountGenerations: GenerationCounter {
    let counter: any GenerationCounter
    let trust: AccountTrust

    func current(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        guard !trust.isRenamed else { throw ServiceError(.accountRenamed) }
        return try await counter.current(of: profile, stored: stored)
    }

    func advance(_ profile: String, to generation: UInt64) async throws(ServiceError) {
        try await counter.advance(profile, to: generation)
    }

    func hasCounter(_ profile: String) async throws(ServiceError) -> Bool {
        try await counter.hasCounter(profile)
    }

    /// Returns the counter's value after the owner has accepted the fingers with the passcode or removed all of them.
    func restart(_ profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        let generation = try await counter.restart(profile, stored: stored)
        try trust.confirm()
        return generation
    }
}
