// SPDX-License-Identifier: Apache-2.0

public import Keychain
internal import LocalAuthentication
internal import SecretMemory

/// A key in the chip, whatever it is for: the keychain's key, which does the work.
struct ChipKey: Sendable {
    private let key: SecKey
    /// ANSI X9.63, 65 bytes.
    let publicKey: Data
    let dataRepresentation: Data

    /// Makes one.
    init(_ access: SecAccessControl, _ context: LAContext?) throws {
        self.init(try SecKey.inChip(access, context))
    }

    /// Takes one that was stored.
    init(_ dataRepresentation: Data, _ context: LAContext?) throws {
        self.init(try SecKey.inChip(dataRepresentation, context))
    }

    private init(_ made: EnclaveKey) {
        key = made.key
        publicKey = made.publicKey
        dataRepresentation = made.dataRepresentation
    }

    /// Signs a hash; r and s, 64 bytes.
    func signature(over hash: Data) throws -> Data {
        var error: Unmanaged<CFError>?
        let signature = SecKeyCreateSignature(key, .ecdsaSignatureRFC4754, hash as NSData, &error)
        return try unwrap(signature.map { Data(referencing: $0) }, error)
    }

    /// The X coordinate of the product with another's public key.
    func sharedSecret(with other: Data) throws -> SecretBox {
        try key.sharedSecret(withX963: other)
    }

    private func unwrap(_ data: Data?, _ error: Unmanaged<CFError>?) throws -> Data {
        let error = error?.takeRetainedValue()
        guard let data else { throw error ?? NSError(status: errSecIO, "the key gave nothing") }
        return data
    }
}

extension SecAccessControl {
    /// What keys of the chip have when a program says nothing: nothing must be shown.
    public static var ofEnclaveKeys: SecAccessControl { .unguarded }
}
