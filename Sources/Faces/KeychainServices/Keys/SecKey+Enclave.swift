// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext
package import SecretMemory
import WhorlService

/// A key in the chip, for the module that offers such keys under CryptoKit's names.
package struct EnclaveKey: Sendable {
    /// The key.
    package let key: SecKey
    /// The public key in ANSI X9.63, 65 bytes.
    package let publicKey: Data
    /// The encoding of the key that the caller stores.
    package let dataRepresentation: Data
}

extension SecKey {
    /// Makes a key in the chip without storing it.
    ///
    /// - Throws: The same errors as ``SecKeyCreateRandomKey(_:_:)``.
    package static func inChip(
        _ access: SecAccessControl,
        _ context: (any ContextHolder)?
    ) throws(NSError) -> EnclaveKey {
        try throwing { () throws(KeyFailure) in
            try access.checkForChip()
            let context = context.map(KeyContext.init)
            return try EnclaveKey(context.makeKey(access), access, context)
        }
    }

    /// Makes a key from the encoding that the caller stored.
    package static func inChip(
        _ dataRepresentation: Data,
        _ context: (any ContextHolder)?
    ) throws(NSError) -> EnclaveKey {
        try throwing { () throws(KeyFailure) in
            let context = context.map(KeyContext.init)
            guard let item = context.item(encoded: dataRepresentation),
                let material = KeyMaterial(sealed: item)
            else { throw .status(errSecDecode, "the bytes are no key of the chip") }
            return try EnclaveKey(material, nil, context)
        }
    }

    /// Returns the X coordinate of the product with another party's public key.
    ///
    /// - Parameter other: The other party's public key in ANSI X9.63.
    /// - Returns: 32 bytes.
    /// - Throws: An error of `LAErrorDomain` if the owner was not recognised, otherwise an error with a status.
    package func sharedSecret(withX963 other: Data) throws(NSError) -> SecretBox {
        try throwing { () throws(KeyFailure) in
            guard let point = ECPublicKey(x963: other) else {
                throw .status(errSecParam, "the public key is no point of the curve")
            }
            return try sharedSecret(with: point)
        }
    }
}

extension EnclaveKey {
    fileprivate init(
        _ material: KeyMaterial,
        _ access: SecAccessControl?,
        _ context: KeyContext?
    ) throws(KeyFailure) {
        guard case .enclave(let item, let point) = material else {
            throw .status(errSecInvalidKeyRef, "the key is not in the chip")
        }
        key = SecKey(material, KeyAttributes(accessControl: access), context: context)
        publicKey = point.x963
        dataRepresentation = item.encoded
    }
}

extension SecAccessControl {
    /// An access control that requires no authentication.
    package static let unguarded = SecAccessControl(
        protection: String(describing: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly),
        flags: []
    )

    /// - Throws: `errSecParam` for an access control that requires authentication but lacks `privateKeyUsage`.
    func checkForChip() throws(KeyFailure) {
        guard isConstrained, !flags.contains(.privateKeyUsage) else { return }
        throw .status(errSecParam, "an access control that guards a key in the chip needs privateKeyUsage")
    }
}
