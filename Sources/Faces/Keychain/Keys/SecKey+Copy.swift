// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import SecretMemory

/// Gives the public half of a key; nothing is shown or asked for it.
///
/// - Parameter key: A private key, or a public one.
/// - Returns: The public key.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { SecKey(key.material.publicMaterial) }

/// Gives a key's bytes.
///
/// - Parameters:
///   - key: A public key, or a private key that lies in this process.
///   - error: Where to leave an error of `NSOSStatusErrorDomain`: `errSecUnimplemented` for a private key in the chip, which
///     never leaves it.
/// - Returns: Elliptic curves: ANSI X9.63, 65 bytes for a public key on P-256. RSA: PKCS#1 in DER. `nil` with an error. A
///   private key's bytes are ordinary memory from here on.
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

/// Gives what may be told of a key.
///
/// - Parameter key: The key.
/// - Returns: `kSecAttrKeyType`, `kSecAttrKeyClass`, `kSecAttrKeySizeInBits`, `kSecAttrApplicationLabel`, what it can do,
///   and what it was made with. The key's bytes are not among it.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? { key.described as NSDictionary }

/// Gives the size of what a key works on.
///
/// - Parameter key: The key.
/// - Returns: Bytes: of a coordinate for elliptic curves, of the modulus for RSA.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { (key.material.bitCount + 7) / 8 }

extension SecKey {
    /// SHA-1 of the public key, by which programs find both halves; or what the program chose instead.
    var applicationLabel: Data {
        attributes.applicationLabel ?? Data(Insecure.SHA1.hash(data: material.publicBytes))
    }

    /// What may be told of the key.
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
