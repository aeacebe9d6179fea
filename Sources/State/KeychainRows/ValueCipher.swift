// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import StateStore
internal import WhorlSupport

/// Encrypts values that need no authentication: AES-256-GCM with a separate key for each value, bound to the item's
/// number, profile and attributes.
///
/// Programs pass and receive values as `Data`, as Apple's API defines; since they are in ordinary memory there, they
/// are in ordinary memory here too.
struct ValueCipher {
    private let cipher: SaltedCipher

    init(keys: StateKeys) { cipher = SaltedCipher(keys, .keychainValues) }

    func seal(_ value: Data, for id: Int64, of profile: String, _ record: Data) throws -> Data {
        try cipher.seal(value, authenticating: ValueCipher.context(id, profile, record))
    }

    /// Returns the decrypted value; `nil` if it was not sealed for this item.
    func open(_ sealed: Data, for id: Int64, of profile: String, _ record: Data) -> Data? {
        cipher.open(sealed, authenticating: ValueCipher.context(id, profile, record))
    }

    private static func context(_ id: Int64, _ profile: String, _ record: Data) -> Data {
        var bytes = ByteWriter("whorl keychain value v1")
        bytes.append(UInt64(bitPattern: id))
        bytes.append(sized: profile)
        bytes.append(sized: record)
        return bytes.data
    }
}
