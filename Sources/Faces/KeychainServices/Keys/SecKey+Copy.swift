// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import SecretMemory

/// Returns the public half of a key, without asking the owner.
///
/// - Parameter key: A private or public key.
/// - Returns: The public key.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { SecKey(key.material.publicMaterial) }

/// Returns a key's bytes.
///
/// - Parameters:
///   - key: A public key, or a private key in this process.
///   - error: Receives an error of `NSOSStatusErrorDomain`: `errSecUnimplemented` for a private key in the chip, which
///     never leaves it.
/// - Returns: Elliptic curves: ANSI X9.63, 65 bytes for a public key on P-256. RSA: PKCS#1 in DER. `nil` with an error.
///   The returned bytes of a private key are in ordinary memory.
@discardableResult
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(KeyFailure) -> Data in
        switch key.material {
        case .publicEC, .publicRSA: return key.material.publicBytes
        case .privateEC(let key): return key.x963.bytes.withUnsafeBytes { Data($0) }
        case .privateRSA(let key): return key.pkcs1.bytes.withUnsafeBytes { Data($0) }
        case .enclave: throw .status(errSecUnimplemented, "the key never leaves the chip")
        }
    }.map { $0 as NSData }
}

/// Returns a key's public attributes.
///
/// - Parameter key: The key.
/// - Returns: `kSecAttrKeyType`, `kSecAttrKeyClass`, `kSecAttrKeySizeInBits`, `kSecAttrApplicationLabel`, the
///   operations that it supports, and the attributes that it was made with. The key's bytes are not included.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? { key.described as NSDictionary }

/// Returns the block size of a key.
///
/// - Parameter key: The key.
/// - Returns: The size in bytes: of a coordinate for elliptic curves, of the modulus for RSA.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { (key.material.bitCount + 7) / 8 }

extension SecKey {
    /// The identifier by which programs find both halves: SHA-1 of the public key, or one that the program chose.
    var applicationLabel: Data {
        attributes.applicationLabel ?? Data(Insecure.SHA1.hash(data: material.publicBytes))
    }

    /// The key's public attributes.
    var described: [String: Any] {
        let isPrivate = material.keyClass == .private
        let kind = material.isRSA ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom
        let half = isPrivate ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic
        var told: [CFString: Any] = [
            kSecAttrKeyType: kind,
            kSecAttrKeyClass: half,
            kSecAttrKeySizeInBits: material.bitCount,
            kSecAttrEffectiveKeySize: material.bitCount,
            kSecAttrApplicationLabel: applicationLabel,
            kSecAttrIsPermanent: attributes.isPermanent,
            kSecAttrIsSensitive: material.isInChip,
            kSecAttrIsExtractable: !material.isInChip,
            kSecAttrCanSign: isPrivate,
            kSecAttrCanVerify: !isPrivate,
            kSecAttrCanEncrypt: !isPrivate,
            kSecAttrCanDecrypt: isPrivate,
            kSecAttrCanDerive: isPrivate && !material.isRSA,
            kSecAttrCanWrap: !isPrivate,
            kSecAttrCanUnwrap: isPrivate,
        ]
        if material.isInChip { told[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave }
        told[kSecAttrLabel] = attributes.label
        told[kSecAttrApplicationTag] = attributes.applicationTag
        told[kSecAttrAccessControl] = attributes.accessControl
        return Dictionary(uniqueKeysWithValues: told.map { (String(describing: $0.key), $0.value) })
    }
}
