// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import Foundation
package import SecretMemory

/// The keys that are derived from the state key, one for each purpose.
///
/// They are in locked memory while the database is open; the state key itself is wiped once they are derived. Codes are
/// computed in that memory. None of these keys is given to a cipher, whose library leaves a key's schedule in freed
/// memory: each ciphertext has its own key, which opens nothing else.
package final class StateKeys: Sendable {
    /// The keys, one ``SecretMAC`` after the other, in the order of `KeyPurpose.allCases`; all of them fit into one
    /// page.
    private let bytes: SecretBytes

    /// Derives the keys from the state key with HKDF-SHA-256 (RFC 5869) without salt; the info names the purpose and is
    /// part of the format of stored data.
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

    /// Returns the HMAC-SHA-256 of a message, 32 bytes, with a key for one name: HKDF-SHA-256 without salt of the key
    /// for the purpose, where `info` contains the name.
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
    ///   - salt: A random value that is stored beside the ciphertext, so that no two ciphertexts have the same key.
    /// - Returns: A key that wipes itself when it is freed.
    package func cipherKey(_ purpose: KeyPurpose, salt: Data) -> SymmetricKey {
        with(purpose) { SymmetricKey(data: $0.code(for: salt)) }
    }

    /// Returns the key for a purpose itself, 32 bytes, for data from before each ciphertext had its own key.
    package func plainKey(_ purpose: KeyPurpose) -> SymmetricKey {
        with(purpose) { SymmetricKey(data: $0.key) }
    }

    /// A check value of 32 bytes, which reveals nothing about the state key and differs for every other one.
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
