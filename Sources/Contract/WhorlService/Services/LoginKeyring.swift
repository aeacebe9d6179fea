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
    /// The keyring has its own password, which a touch, the passcode or a typed login releases.
    case ownPassword = "ownPassword"
    /// The keyring has its own password, which a login with the current password does not release.
    ///
    /// The login password was changed by an administrator, or is not the one that was given.
    case ownPasswordWithoutLogin = "ownPasswordWithoutLogin"
    /// The keyring has its own password, which was lost when the vault was reset; only a recovery sheet has it.
    case ownPasswordLost = "ownPasswordLost"
}

/// A password for the keyring that a login may use.
package enum KeyringKey: Sendable {
    /// The login password, which the keyring also has.
    case loginPassword(SecretBox)
    /// The keyring's own password.
    case ownPassword(SecretBox)
}

/// The result of a login that has verified a typed password.
package enum TypedPassword: Sendable {
    /// The keyring does not need it.
    case ignored
    /// The password was sealed for later logins by touch.
    case sealed
    /// The password released the keyring's own password.
    case released(SecretBox)
}

/// The access to the keyring that is available only to logins.
package protocol LoginKeyring: Sendable {
    /// Seals the owner's login password if the keyring is on and needs it, or releases the keyring's own password.
    ///
    /// If the login password does not release the keyring's own password, its copy for logins is deleted.
    ///
    /// - Parameters:
    ///   - password: The password, which the login has verified.
    ///   - day: The day when the password was last changed, in days since 1970-01-01, if the login knows it.
    ///   - isLogin: Returns whether the login begins a session, which can unlock the keyring.
    /// - Returns: What the password was used for.
    /// - Throws: `noChip`, a storage error and others, if it could not be used.
    func typed(
        _ password: SecretBox,
        changedOn day: Int?,
        isLogin: @Sendable () async -> Bool
    ) async throws(ServiceError) -> TypedPassword

    /// Returns the sealed password to a login whose touch has matched.
    ///
    /// - Parameters:
    ///   - login: The request in whose session the finger matched; the match can be used once.
    ///   - day: The day when the password was last changed; a login password that was sealed earlier is discarded.
    /// - Returns: The password; `nil` if no password is sealed.
    /// - Throws: The TPM's error, such as `enrollmentChanged` after a finger was added.
    func release(
        after login: EvaluationRequest,
        changedOn day: Int?
    ) async throws(ServiceError) -> KeyringKey?

    /// Discards the sealed login password after it was changed; the keyring stays on.
    ///
    /// The keyring's own password is sealed under the new login password. If the old one is missing or wrong, its copy
    /// for logins is deleted.
    ///
    /// - Parameters:
    ///   - old: The login password before the change, if the login knows it.
    ///   - new: The login password after the change, if the login knows it.
    /// - Throws: A storage error, or the TPM's error.
    func changed(from old: SecretBox?, to new: SecretBox?) async throws(ServiceError)
}
