// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import FoundationEssentials
package import WhorlSecretMemory
import WhorlSecretHash

/// The purpose of a key derived from the state key.
///
/// A key of one purpose reveals nothing about the others.
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
    /// Authenticates the keychain rows, and names the rows that must be unique (HMAC-SHA-256).
    case keychainRows
    /// Proves that a key and a database belong together; used only by this module.
    case check
}

/// The keys derived from the state key, one for each purpose.
///
/// They are in locked memory while the database is open; the state key itself is wiped once they are derived. Codes are
/// computed in that memory. None of these keys is passed to a cipher, because its library leaves the key schedule in
/// freed memory. Instead, each ciphertext has a separate key, which decrypts nothing else.
package final class StateKeys: Sendable {
    /// The keys, one ``SecretMAC`` after the other in the order of `KeyPurpose.allCases`.
    ///
    /// Together they fit into one page.
    private let bytes: SecretBytes

    /// Derives the keys from the state key with HKDF-SHA-256 (RFC 5869) without salt.
    ///
    /// The info names the purpose and is part of the format of stored data.
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

    /// Returns the HMAC-SHA-256 of a message, 32 bytes.
    package func code(for message: Data, _ purpose: KeyPurpose) -> Data {
        with(purpose) { Data($0.code(for: message)) }
    }

    /// Returns whether `code` is the code of `message`, in a time that does not depend on the first difference.
    package func isValid(_ code: Data, for message: Data, _ purpose: KeyPurpose) -> Bool {
        with(purpose) { mac in
            mac.code(for: message).withUnsafeBytes { constantTimeEqual(code.bytes, $0.bytes) }
        }
    }

    /// Returns the HMAC-SHA-256 of a message, 32 bytes, with a separate key for each name.
    ///
    /// The key is derived from the key for the purpose with HKDF-SHA-256 without salt; `info` contains the name.
    package func code(for message: Data, _ purpose: KeyPurpose, info: String) -> Data {
        with(purpose) { parent in
            let own = SecretBytes(count: SecretMAC.size) { room in
                SecretMAC.derive(from: parent.key, info: info, into: room)
            }
            return own.withUnsafeBytes { Data(SecretMAC($0).code(for: message)) }
        }
    }

    /// Returns the key of one ciphertext, 32 bytes: HMAC-SHA-256 of its salt, with the key for the purpose.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the encrypted data.
    ///   - salt: A random value that is stored with the ciphertext, so that no two ciphertexts have the same key.
    /// - Returns: A key that wipes itself when it is freed.
    package func cipherKey(_ purpose: KeyPurpose, salt: Data) -> SymmetricKey {
        with(purpose) { SymmetricKey(data: $0.code(for: salt)) }
    }

    /// Returns the key for a purpose itself, 32 bytes; for ciphertexts, use ``cipherKey(_:salt:)``.
    package func plainKey(_ purpose: KeyPurpose) -> SymmetricKey {
        with(purpose) { SymmetricKey(data: $0.key) }
    }

    /// A check value of 32 bytes that reveals nothing about the state key and differs for every other one.
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

/// HMAC-SHA-256 (RFC 2104) with a key that is not copied.
///
/// The library's `HMAC` copies the key and the two padded keys into ordinary memory and leaves them there, so that they
/// appear in core files. Here the padded keys are part of the secret: the key (32 bytes), then the key with the inner
/// and with the outer padding (64 bytes each). ``SecretHash`` leaves no traces of them.
struct SecretMAC {
    private static let keySize = 32
    /// The block size of SHA-256.
    private static let blockSize = 64
    /// The size of one key with its paddings, in bytes.
    static let size = keySize + 2 * blockSize

    private let bytes: UnsafeRawBufferPointer

    /// Uses the output of ``derive(from:info:into:)``, ``size`` bytes that the caller keeps alive.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The key itself, 32 bytes.
    var key: UnsafeRawBufferPointer { part(0, SecretMAC.keySize) }

    /// Returns the code of a message, 32 bytes.
    func code(for message: Data) -> SHA256.Digest {
        message.withUnsafeBytes { SecretMAC.code(for: $0, inner: inner, outer: outer) }
    }

    /// Derives a key and its paddings with HKDF-SHA-256 (RFC 5869) without salt.
    ///
    /// - Parameters:
    ///   - parent: The key to derive from.
    ///   - info: The purpose of the new key.
    ///   - room: ``size`` bytes, which are overwritten.
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

    /// Computes the code of a message, and stores it as the new key.
    private static func keep(
        _ message: UnsafeRawBufferPointer,
        _ old: SecretMAC,
        in room: UnsafeMutableRawBufferPointer
    ) {
        var digest = code(for: message, inner: old.inner, outer: old.outer)
        digest.withUnsafeBytes { pad(with: $0, room) }
        withUnsafeMutableBytes(of: &digest) { $0.wipe() }
    }

    /// Writes a key, or zeros, with its paddings.
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
