// SPDX-License-Identifier: Apache-2.0

package import SecretMemory

/// What a key derived from the state key is for.
///
/// Keys of different purposes tell nothing of each other.
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
    /// Authenticates the keychain's rows, and names what must be there only once (HMAC-SHA-256).
    case keychainRows
    /// Proves that a key and a database belong together; used by this module alone.
    case check
}

/// Where the state key is kept: in a file, or sealed by a TPM.
package protocol StateKeySource: Sendable {
    /// Where the key lies, for messages.
    var path: String { get }

    /// Whether a key was made; it may be damaged.
    ///
    /// - Throws: `tooOpen`, `notWritable`.
    func exists() throws(StateError) -> Bool

    /// The key, 32 bytes; `nil` when there never was one or it is gone.
    ///
    /// - Throws: `tooOpen`, `keyDamaged`, `notWritable`.
    func load() throws(StateError) -> SecretBytes?

    /// Makes the key when there is none, and gives the one that is there in the end: of two processes that
    /// create at the same time, both get the same key. It is on the disk when this returns.
    ///
    /// - Throws: also `diskFull`.
    func loadOrCreate() throws(StateError) -> SecretBytes
}
