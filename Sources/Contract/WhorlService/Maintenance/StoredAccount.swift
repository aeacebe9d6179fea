// SPDX-License-Identifier: Apache-2.0

/// The account whose state a service stores under a number, and the account that has the number now.
package struct StoredAccount: Sendable, Hashable, Codable {
    /// The relation between the two.
    package enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// The account is the same.
        case same = "same"
        /// The name changed; the fingers are not trusted until the passcode is entered or root confirms.
        case renamed = "renamed"
        /// Another account may have the number now; it gets nothing until root decides.
        case other = "other"
        /// No account has the number.
        case missing = "missing"
        /// The user database does not answer.
        case unknown = "unknown"
    }

    package let number: UInt32
    /// The name when the state was made or last confirmed; `nil` if it is not known.
    package let name: String?
    /// The name of the account that has the number now; `nil` if there is none, or it is not known.
    package let current: String?
    package let state: State

    package init(number: UInt32, name: String?, current: String?, state: State) {
        self.number = number
        self.name = name
        self.current = current
        self.state = state
    }
}
