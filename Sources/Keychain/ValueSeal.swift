// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import StateStore

/// Encrypts values that nobody has to show anything for: AES-256-GCM, with a key of each value's own, bound to the
/// item's number, profile and attributes.
///
/// A value comes from the program as `Data` and goes to it as `Data`, as Apple's API has it; it lies in ordinary memory
/// there, and so it does here.
struct ValueSeal {
    let keys: StateKeys

    private static let saltSize = 16
    /// What GCM ends with.
    static let tagSize = 16

    func seal(_ value: Data, for id: Int64, of profile: String, _ record: Data) throws -> Data {
        let salt = SymmetricKey(size: SymmetricKeySize(bitCount: 8 * ValueSeal.saltSize))
            .withUnsafeBytes { Data($0) }
        let key = keys.cipherKey(.keychainValues, salt: salt)
        let context = ValueSeal.context(id, profile, record)
        let box = try AES.GCM.seal(value, using: key, authenticating: context)
        // With the nonce of 12 bytes that GCM makes itself, the combined form is always there.
        guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
        return salt + combined
    }

    /// The value; `nil` when it is not what was sealed for this item.
    func open(_ sealed: Data, for id: Int64, of profile: String, _ record: Data) -> Data? {
        guard sealed.count > ValueSeal.saltSize,
            let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst(ValueSeal.saltSize))
        else { return nil }
        let key = keys.cipherKey(.keychainValues, salt: sealed.prefix(ValueSeal.saltSize))
        return try? AES.GCM.open(
            box,
            using: key,
            authenticating: ValueSeal.context(id, profile, record)
        )
    }

    private static func context(_ id: Int64, _ profile: String, _ record: Data) -> Data {
        var bytes = RecordWriter("whorl keychain value v1")
        bytes.append(UInt64(bitPattern: id))
        bytes.append(sized: profile)
        bytes.append(sized: record)
        return bytes.data
    }
}
