// SPDX-License-Identifier: Apache-2.0

package import SecretMemory
package import WhorlService

/// The purpose of a key derived from the state key.
///
/// A key of one purpose reveals nothing about the others.
package enum KeyPurpose: String, Sendable, CaseIterable {
    /// Encrypts templates (AES-256-GCM).
    case templates
    /// Authenticates the set of enrolled prints (HMAC-SHA-256).
    case manifest
    /// Makes the digest that a program sees as the domain state (HMAC-SHA-256).
    case domainState
    /// Authenticates the reuse window (HMAC-SHA-256).
    case reuse
    /// Authenticates the vault's items and its other rows (HMAC-SHA-256).
    case vault
    /// Encrypts the keychain's values (AES-256-GCM).
    case keychainValues
    /// Authenticates the keychain's rows, and names the rows that must be unique (HMAC-SHA-256).
    case keychainRows
    /// Proves that a key and a database belong together; used only by this module.
    case check
}

/// A place that stores the state key: a file, or the seal of a TPM.
package protocol StateKeySource: Sendable {
    /// The path of the key, for messages.
    var path: String { get }

    /// Returns whether a key was created; it may be damaged.
    ///
    /// - Throws: `tooOpen`, `notWritable`.
    func exists() throws(StateError) -> Bool

    /// Returns the key, 32 bytes; `nil` if it never existed or is gone.
    ///
    /// - Throws: `tooOpen`, `keyDamaged`, `notWritable`.
    func load() throws(StateError) -> SecretBytes?

    /// Creates the key if it does not exist, and returns the stored one: two processes that create at the same time get
    /// the same key, which is on the disk when this returns.
    ///
    /// - Throws: also `diskFull`.
    func loadOrCreate() throws(StateError) -> SecretBytes
}
