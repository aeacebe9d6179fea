// SPDX-License-Identifier: Apache-2.0

internal import StateStore
internal import WhorlSupport

/// Encrypts values that nobody has to show anything for: AES-256-GCM, with a key of each value's own, bound to the
/// item's number, profile and attributes.
///
/// A value comes from the program as `Data` and goes to it as `Data`, as Apple's API has it; it lies in ordinary memory
/// there, and so it does here.
struct ValueSeal {
    private let cipher: SaltedCipher

    init(keys: StateKeys) { cipher = SaltedCipher(keys, .keychainValues) }

    func seal(_ value: Data, for id: Int64, of profile: String, _ record: Data) throws -> Data {
        try cipher.seal(value, authenticating: ValueSeal.context(id, profile, record))
    }

    /// The value; `nil` when it is not what was sealed for this item.
    func open(_ sealed: Data, for id: Int64, of profile: String, _ record: Data) -> Data? {
        cipher.open(sealed, authenticating: ValueSeal.context(id, profile, record))
    }

    private static func context(_ id: Int64, _ profile: String, _ record: Data) -> Data {
        var bytes = ByteWriter("whorl keychain value v1")
        bytes.append(UInt64(bitPattern: id))
        bytes.append(sized: profile)
        bytes.append(sized: record)
        return bytes.data
    }
}
