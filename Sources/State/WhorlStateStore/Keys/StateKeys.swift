// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import FoundationEssentials
package import WhorlSecretMemory
import WhorlSecretHash

/// The purpose of a key derived from the state key.
///
/// A key for one purpose does not reveal anything about the others.
package enum KeyPurpose: String, Sendable, CaseIterable {
    /// Encrypts templates (AES-256-GCM).
    case templates
    /// Authenticates the set of enrolled prints (HMAC-SHA-256).
    case manifest
    /// Computes the digest that a program sees as the domain state (HMAC-SHA-256).
    case domainState
    /// Authenticates the reuse window (HMAC-SHA-256).
    case reuse
    /// Authenticates the vault's items and other rows (HMAC-SHA-256).
    case vault
    /// Encrypts the keychain values (AES-256-GCM).
    case keychainValues
    /// Authenticates the keychain rows and computes the names of rows that must be unique (HMAC-SHA-256).
    case keychainRows
    /// Proves that a key and a database belong together. Used only by this module.
    case check
}

/// The keys derived from the state key, one for each purpose.
///
/// They are in locked memory while the database is open, and the state key itself is wiped once they have been derived.
/// Codes are computed in that memory. These keys are never passed to a cipher, because its library leaves the key
/// schedule in freed memory. Instead, each ciphertext has a separate key that cannot decrypt anything else.
package final class StateKeys: Sendable {
    /// The keys as consecutive ``SecretMAC`` values in the order of `KeyPurpose.allCases`.
    ///
    /// Together they fit in one page.
    private let bytes: SecretBytes

    /// Derives the keys from the state key with HKDF-SHA-256 (RFC 5869) without salt.
    ///
    /// The info contains the purpose and is part of the format of stored data.
    package init(stateKey: borrowing SecretBytes) {
        bytes = stateKey.withUnsafeBytes { stateKey in
            SecretBytes(count: SecretMAC.size * KeyPurpose.allCases.count) { room in
                for purpose in KeyPurpose.allCases {
                    let place = UnsafeMutableRawBufferPointer(rebasing: room[StateKeys.place(of: purpose)])
                    SecretMAC.derive(from: stateKey, info: "whorl state v1 \(purpose.rawValue)", into: place)
                }
            }
        }
    }

    /// Returns the HMAC-SHA-256 of a message (32 bytes).
    package func code(for message: Data, _ purpose: KeyPurpose) -> Data {
        with(purpose) { Data($0.code(for: message)) }
    }

    /// Returns whether `code` is the code for `message`, in a time that does not depend on where they first differ.
    package func isValid(_ code: Data, for message: Data, _ purpose: KeyPurpose) -> Bool {
        with(purpose) { mac in
            mac.code(for: message).withUnsafeBytes { constantTimeEqual(code.bytes, $0.bytes) }
        }
    }

    /// Returns the HMAC-SHA-256 of a message (32 bytes), computed with a separate key for each name.
    ///
    /// The key is derived from the key for the purpose with HKDF-SHA-256 without salt. `info` contains the name.
    package func code(for message: Data, _ purpose: KeyPurpose, info: String) -> Data {
        with(purpose) { parent in
            let own = SecretBytes(count: SecretMAC.size) { room in
                SecretMAC.derive(from: parent.key, info: info, into: room)
            }
            return own.withUnsafeBytes { Data(SecretMAC($0).code(for: message)) }
        }
    }

    /// Returns the key for one ciphertext, which is the HMAC-SHA-256 of its salt with the key for the purpose (32
    /// bytes).
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the encrypted data.
    ///   - salt: A random value that is stored with the ciphertext so that no two ciphertexts have the same key.
    /// - Returns: A key that wipes itself when it is freed.
    package func cipherKey(_ purpose: KeyPurpose, salt: Data) -> SymmetricKey {
        with(purpose) { SymmetricKey(data: $0.code(for: salt)) }
    }

    /// Returns the key for a purpose itself (32 bytes).
    ///
    /// For ciphertexts, use ``cipherKey(_:salt:)``.
    package func plainKey(_ purpose: KeyPurpose) -> SymmetricKey {
        with(purpose) { SymmetricKey(data: $0.key) }
    }

    /// A 32-byte check value that does not reveal anything about the state key and differs for every other state key.
    var check: Data { with(.check) { Data($0.key) } }

    private func with<Value>(_ purpose: KeyPurpose, _ body: (SecretMAC) -> Value) -> Value {
        bytes.withUnsafeBytes {
            body(SecretMAC(UnsafeRawBufferPointer(rebasing: $0[StateKeys.place(of: purpose)])))
        }
    }

    private static func place(of purpose: KeyPurpose) -> Range<Int> {
        let index = KeyPurpose.allCases.firstIndex(of: purpose) ?? 0  // a case is always among its cases
        return index * SecretMAC.size..<(index + 1) * SecretMAC.size
    }
}

/// A computation of HMAC-SHA-256 (RFC 2104) that does not copy the key.
///
/// The library's `HMAC` copies the key and the two padded keys into ordinary memory and leaves them there, so they
/// appear in core files. Here the padded keys are part of the secret, which consists of the key (32 bytes) and the key
/// with the inner and with the outer padding (64 bytes each). ``SecretHash`` does not leave any traces of them.
struct SecretMAC {
    private static let keySize = 32
    /// The block size of SHA-256.
    private static let blockSize = 64
    /// The size of one key with its paddings, in bytes.
    static let size = keySize + 2 * blockSize

    private let bytes: UnsafeRawBufferPointer

    /// Creates a value that uses the output of ``derive(from:info:into:)``, which is ``size`` bytes long and which the
    /// caller must keep alive.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The key itself (32 bytes).
    var key: UnsafeRawBufferPointer { part(0, SecretMAC.keySize) }

    /// Returns the code for a message (32 bytes).
    func code(for message: Data) -> SHA256.Digest {
        message.withUnsafeBytes { SecretMAC.code(for: $0, inner: inner, outer: outer) }
    }

    /// Derives a key and its paddings with HKDF-SHA-256 (RFC 5869) without salt.
    ///
    /// - Parameters:
    ///   - parent: The key to derive from.
    ///   - info: The purpose of the new key.
    ///   - room: The memory for the result (``size`` bytes), which is overwritten.
    static func derive(
        from parent: UnsafeRawBufferPointer,
        info: String,
        into room: UnsafeMutableRawBufferPointer
    ) {
        let made = SecretMAC(UnsafeRawBufferPointer(room))
        // Extract: without a salt, this is the code with a key of zeros.
        pad(with: nil, room)
        keep(parent, made, in: room)
        // Expand: one block is enough.
        (Data(info.utf8) + [1]).withUnsafeBytes { keep($0, made, in: room) }
    }

    /// Computes the code for a message and stores it as the new key.
    private static func keep(
        _ message: UnsafeRawBufferPointer,
        _ old: SecretMAC,
        in room: UnsafeMutableRawBufferPointer
    ) {
        var digest = code(for: message, inner: old.inner, outer: old.outer)
        digest.withUnsafeBytes { pad(with: $0, room) }
        withUnsafeMutableBytes(of: &digest) { $0.wipe() }
    }

    /// Writes a key, or zeros if there is none, with its paddings.
    private static func pad(with key: UnsafeRawBufferPointer?, _ room: UnsafeMutableRawBufferPointer) {
        for index in 0..<keySize { room[index] = key?[index] ?? 0 }
        for index in 0..<blockSize {
            let byte = index < keySize ? room[index] : 0
            room[keySize + index] = byte ^ 0x36
            room[keySize + blockSize + index] = byte ^ 0x5C
        }
    }

    private static func code(
        for message: UnsafeRawBufferPointer,
        inner: UnsafeRawBufferPointer,
        outer: UnsafeRawBufferPointer
    ) -> SHA256.Digest {
        var first = SecretHash<SHA256>()
        first.update(inner)
        first.update(message)
        var digest = first.finalize()
        var second = SecretHash<SHA256>()
        second.update(outer)
        digest.withUnsafeBytes { second.update($0) }
        withUnsafeMutableBytes(of: &digest) { $0.wipe() }
        return second.finalize()
    }

    private var inner: UnsafeRawBufferPointer { part(SecretMAC.keySize, SecretMAC.blockSize) }

    private var outer: UnsafeRawBufferPointer {
        part(SecretMAC.keySize + SecretMAC.blockSize, SecretMAC.blockSize)
    }

    private func part(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
    }
}
