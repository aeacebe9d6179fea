// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
public import KeychainServices
internal import LocalAuthentication
internal import WhorlSecretMemory

/// A key in the TPM for any use, which wraps a keychain key.
struct ChipKey: Sendable {
    private let key: SecKey
    /// The public key in ANSI X9.63 format (65 bytes).
    let publicKey: Data
    let dataRepresentation: Data

    /// Creates a new key.
    init(_ access: SecAccessControl, _ context: LAContext?) throws {
        self.init(try SecKey.inChip(access, context))
    }

    /// Restores a key from its data representation.
    init(_ dataRepresentation: Data, _ context: LAContext?) throws {
        self.init(try SecKey.inChip(dataRepresentation, context))
    }

    private init(_ made: EnclaveKey) {
        key = made.key
        publicKey = made.publicKey
        dataRepresentation = made.dataRepresentation
    }

    /// Returns the signature over a hash, as r and s concatenated (64 bytes).
    func signature(over hash: Data) throws -> Data {
        var error: Unmanaged<CFError>?
        let signature = SecKeyCreateSignature(key, .ecdsaSignatureRFC4754, hash as NSData, &error)
        return try unwrap(signature.map { Data(referencing: $0) }, error)
    }

    /// Returns the X coordinate of the product of this key and another party's public key.
    func sharedSecret(with other: Data) throws -> SecretBox {
        try key.sharedSecret(withX963: other)
    }

    private func unwrap(_ data: Data?, _ error: Unmanaged<CFError>?) throws -> Data {
        let error = error?.takeRetainedValue()
        guard let data else { throw error ?? NSError(status: errSecIO, "an unknown error occurred") }
        return data
    }
}

extension SecAccessControl {
    /// The default access control of keys in the TPM, which does not require authentication.
    public static var ofEnclaveKeys: SecAccessControl { .unguarded }
}

extension SharedSecret {
    /// Creates a shared secret of the library's type from an X coordinate computed by the TPM.
    ///
    /// The library can create a shared secret only through a key agreement. This initializer therefore performs a key
    /// agreement with a known result: for the private key 1 and any point, the result is the point's X coordinate.
    ///
    /// - Throws: An error if the bytes are not the X coordinate of a point on the curve.
    init(coordinate: SecretBox) throws {
        let one = try P256.KeyAgreement.PrivateKey(rawRepresentation: Data(count: 31) + [1])
        // Either of the two points with this X can be used.
        var point = coordinate.bytes.withUnsafeBytes { Data([2]) + $0 }
        defer { point.resetBytes(in: 0..<point.count) }
        self = try one.sharedSecretFromKeyAgreement(with: .init(compressedRepresentation: point))
    }
}
