// SPDX-License-Identifier: Apache-2.0

package import WhorlSecretMemory

/// The state of the keyring.
public enum KeyringStatus: String, Sendable, Hashable, Codable, CaseIterable {
    /// A touch at the login hands no password over.
    case off = "off"
    /// It is on, and no password is sealed: none was typed since, or it was changed.
    case waiting = "waiting"
    /// It is on, and fingers were added or removed since the password was sealed; the next typed one is sealed again.
    case enrollmentChanged = "enrollmentChanged"
    /// A touch at the login hands the password over.
    case ready = "ready"
}

/// The login's side of the keyring, which only the service's access of logins has.
package protocol LoginKeyring: Sendable {
    /// Seals the password with which the owner has logged in, if the keyring is on and has none that still opens.
    ///
    /// - Parameters:
    ///   - password: The password, which the login has checked.
    ///   - day: The day of its last change, in days since 1970-01-01, if the login knows it.
    /// - Returns: Whether the password was sealed.
    /// - Throws: `noChip`, a storage error and others, if it could not be sealed.
    func keep(_ password: SecretBox, changedOn day: Int?) async throws(ServiceError) -> Bool

    /// Returns the sealed password to a login whose touch has matched.
    ///
    /// - Parameters:
    ///   - login: The request in whose session the finger matched; that match counts once.
    ///   - day: The day of the password's last change; a password that was sealed before it is forgotten.
    /// - Returns: The password; `nil` where none is sealed.
    /// - Throws: the chip's refusal, such as `enrollmentChanged` after a finger was added.
    func release(after login: EvaluationRequest, changedOn day: Int?) async throws(ServiceError) -> SecretBox?

    /// Forgets the sealed password, which was changed; the keyring stays on.
    ///
    /// - Throws: a storage error.
    func forget() async throws(ServiceError)
}
