// SPDX-License-Identifier: Apache-2.0

internal import AuthenticationContext
package import SecretMemory
internal import Vault

/// A key in the chip, for the module that gives such keys CryptoKit's names.
package struct EnclaveKey: Sendable {
    /// The key.
    package let key: SecKey
    /// ANSI X9.63, 65 bytes.
    package let publicKey: Data
    /// What its keeper stores.
    package let dataRepresentation: Data
}

extension SecKey {
    /// Makes a key in the chip, which is stored by nobody.
    ///
    /// - Throws: as ``SecKeyCreateRandomKey(_:_:)``.
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

    /// Takes a key that its keeper stored.
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

    /// The X coordinate of the product with another's public key.
    ///
    /// - Parameter other: The other's, as ANSI X9.63.
    /// - Returns: 32 bytes.
    /// - Throws: why the owner was not recognised, or a status.
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
    /// Nothing must be shown.
    package static let unguarded = SecAccessControl(
        protection: String(describing: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly),
        flags: []
    )

    /// - Throws: `errSecParam` for one that guards a key in the chip and does not say so.
    func checkForChip() throws(KeyFailure) {
        guard isConstrained, !flags.contains(.privateKeyUsage) else { return }
        throw .status(errSecParam, "an access control that guards a key in the chip needs privateKeyUsage")
    }
}
