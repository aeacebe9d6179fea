// SPDX-License-Identifier: Apache-2.0

/// The account whose state a service stores under a user ID, and the account that currently has that user ID.
package struct StoredAccount: Sendable, Hashable, Codable {
    /// The relation between the two accounts.
    package enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// The account is the same.
        case same = "same"
        /// The name changed; the fingers are not trusted until the passcode is entered or root confirms.
        case renamed = "renamed"
        /// The user ID may belong to another account now, which has no access until root decides.
        case other = "other"
        /// The user ID does not belong to any account.
        case missing = "missing"
        /// The user database is not responding.
        case unknown = "unknown"
    }

    package let number: UInt32
    /// The account name when the state was created or last confirmed; `nil` if unknown.
    package let name: String?
    /// The name of the account that currently has the user ID; `nil` if there is no such account or its name is
    /// unknown.
    package let current: String?
    package let state: State

    package init(number: UInt32, name: String?, current: String?, state: State) {
        self.number = number
        self.name = name
        self.current = current
        self.state = state
    }
}
