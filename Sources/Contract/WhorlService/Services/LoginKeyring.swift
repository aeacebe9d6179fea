// SPDX-License-Identifier: Apache-2.0

package import WhorlSecretMemory

/// The state of the keyring.
public enum KeyringStatus: String, Sendable, Hashable, Codable, CaseIterable {
    /// The keyring is off: a login by touch does not unlock it.
    case off = "off"
    /// The keyring is on, but no password is sealed: no password has been typed since the keyring was turned on, or the
    /// password was changed.
    case waiting = "waiting"
    /// The keyring is on, but fingers were added or removed since the password was sealed.
    ///
    /// The next password that is typed is sealed again.
    case enrollmentChanged = "enrollmentChanged"
    /// The keyring is on, and a login by touch unlocks it.
    case ready = "ready"
}

/// The access to the keyring that is available only to logins.
package protocol LoginKeyring: Sendable {
    /// Seals the owner's login password if the keyring is on and does not already have a usable password.
    ///
    /// - Parameters:
    ///   - password: The password, which the login has verified.
    ///   - day: The day when the password was last changed, in days since 1970-01-01, if the login knows it.
    /// - Returns: Whether the password was sealed.
    /// - Throws: `noChip`, a storage error and others, if it could not be sealed.
    func keep(_ password: SecretBox, changedOn day: Int?) async throws(ServiceError) -> Bool

    /// Returns the sealed password to a login whose touch has matched.
    ///
    /// - Parameters:
    ///   - login: The request in whose session the finger matched; the match can be used once.
    ///   - day: The day when the password was last changed; a password that was sealed earlier is discarded.
    /// - Returns: The password; `nil` if no password is sealed.
    /// - Throws: The TPM's error, such as `enrollmentChanged` after a finger was added.
    func release(after login: EvaluationRequest, changedOn day: Int?) async throws(ServiceError) -> SecretBox?

    /// Discards the sealed password after the login password was changed; the keyring stays on.
    ///
    /// - Throws: A storage error.
    func forget() async throws(ServiceError)
}
