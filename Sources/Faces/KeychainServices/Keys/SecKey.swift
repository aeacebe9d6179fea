// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import WhorlSecretMemory
internal import WhorlService

/// A public key, or a private key in this process or in the TPM.
///
/// Keys created with `kSecAttrTokenIDSecureEnclave` are in the TPM. Their private half never leaves the TPM, which uses
/// it only after the authentication that the access control requires. Functions that use such a key may show a prompt,
/// but they block only the calling thread.
///
/// Two keys are equal if they are the same key, regardless of their labels.
public final class SecKey: NSObject, Sendable {
    let material: KeyMaterial
    let attributes: KeyAttributes
    /// The program's context, in which operations run.
    ///
    /// If this is `nil`, each operation uses a new context.
    let context: KeyContext?

    init(_ material: KeyMaterial, _ attributes: KeyAttributes = KeyAttributes(), context: KeyContext? = nil) {
        self.material = material
        self.attributes = attributes
        self.context = context
        super.init()
    }

    /// Returns whether the other object is the same key, comparing private keys in this process in constant time.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecKey else { return false }
        return other === self || other.material.isSame(as: material)
    }

    /// Hashes the public half.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(material.keyClass)
        hasher.combine(material.publicMaterial.publicBytes)
        return hasher.finalize()
    }

    /// A human-readable description of the kind and size of the key, without any part of the key itself.
    public override var description: String {
        "<SecKey: \(material.isInChip ? "enclave " : "")\(material.keyClass) key, "
            + "\(material.isRSA ? "RSA" : "EC") \(material.bitCount)>"
    }
}

/// The material of a key.
enum KeyMaterial: Sendable {
    case publicEC(ECPublicKey)
    case publicRSA(RSAPublicKey)
    case privateEC(ECPrivateKey)
    case privateRSA(RSAPrivateKey)
    /// A private key in the TPM, with its public half.
    case enclave(SealedItem, ECPublicKey)

    /// The class of a key: public or private.
    enum Class: String { case `public`, `private` }

    var keyClass: Class {
        switch self {
        case .publicEC, .publicRSA: .public
        case .privateEC, .privateRSA, .enclave: .private
        }
    }

    var isRSA: Bool {
        switch self {
        case .publicRSA, .privateRSA: true
        case .publicEC, .privateEC, .enclave: false
        }
    }

    var isInChip: Bool {
        switch self {
        case .enclave: true
        case .publicEC, .publicRSA, .privateEC, .privateRSA: false
        }
    }

    /// The public half.
    var publicMaterial: KeyMaterial {
        switch self {
        case .publicEC, .publicRSA: self
        case .privateEC(let key): .publicEC(key.publicKey)
        case .privateRSA(let key): .publicRSA(key.publicKey)
        case .enclave(_, let key): .publicEC(key)
        }
    }

    /// The encoding of the public half, in ANSI X9.63 or PKCS#1.
    var publicBytes: Data {
        switch self {
        case .publicEC(let key), .enclave(_, let key): key.x963
        case .publicRSA(let key): key.pkcs1
        case .privateEC(let key): key.publicKey.x963
        case .privateRSA(let key): key.publicKey.pkcs1
        }
    }

    /// The encoding of the private half, or `nil` if it is not in this process.
    var privateBytes: SecretBox? {
        switch self {
        case .privateEC(let key): key.x963
        case .privateRSA(let key): key.pkcs1
        case .publicEC, .publicRSA, .enclave: nil
        }
    }

    /// The nominal size of the key in bits.
    var bitCount: Int {
        switch self {
        case .publicEC(let key), .enclave(_, let key): key.curve.rawValue
        case .privateEC(let key): key.curve.rawValue
        case .publicRSA(let key): key.bitCount
        case .privateRSA(let key): key.publicKey.bitCount
        }
    }

    func isSame(as other: KeyMaterial) -> Bool {
        guard keyClass == other.keyClass, publicBytes == other.publicBytes else { return false }
        return switch (privateBytes, other.privateBytes) {
        case (let mine?, let others?): SecretBytes.areEqual(mine.bytes, others.bytes)
        case (nil, nil): isInChip == other.isInChip
        default: false
        }
    }
}

/// The labels and the protection of a key, which are not part of the key itself.
struct KeyAttributes: Sendable {
    var label: String?
    var applicationTag: Data?
    /// The identifier that the program set, or `nil` for Apple's default, which is the hash of the public key.
    var applicationLabel: Data?
    var accessControl: SecAccessControl?
    var isPermanent = false
}

/// Returns the type identifier of keys, which is unique within this package.
public func SecKeyGetTypeID() -> CFTypeID { 0x5345_4302 }

/// Returns the public half of a key, without prompting the owner.
///
/// - Parameter key: A private or public key.
/// - Returns: The public key.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { SecKey(key.material.publicMaterial) }

/// Returns a key's bytes.
///
/// - Parameters:
///   - key: A public key, or a private key in this process.
///   - error: On failure, receives an error in `NSOSStatusErrorDomain`: `errSecUnimplemented` for a private key in the
///     TPM, because such a key never leaves the TPM.
/// - Returns: The key in ANSI X9.63 for elliptic curves (65 bytes for a public key on P-256), or in PKCS#1 DER for RSA.
///   If an error occurred, the result is `nil`. The returned bytes of a private key are in ordinary memory.
@discardableResult
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(NSError) -> Data in
        switch key.material {
        case .publicEC, .publicRSA: return key.material.publicBytes
        case .privateEC(let key): return key.x963.bytes.withUnsafeBytes { Data($0) }
        case .privateRSA(let key): return key.pkcs1.bytes.withUnsafeBytes { Data($0) }
        case .enclave: throw .status(errSecUnimplemented, "the private key never leaves the TPM")
        }
    }.map { $0 as NSData }
}

/// Returns a key's public attributes.
///
/// - Parameter key: The key.
/// - Returns: A dictionary with `kSecAttrKeyType`, `kSecAttrKeyClass`, `kSecAttrKeySizeInBits`,
///   `kSecAttrApplicationLabel`, the operations that the key supports, and the attributes with which it was created.
///   The key's bytes are not included.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? { key.described as NSDictionary }

/// Returns the block size of a key.
///
/// - Parameter key: The key.
/// - Returns: The size in bytes of a coordinate for elliptic curves, or of the modulus for RSA.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { (key.material.bitCount + 7) / 8 }

extension SecKey {
    /// The identifier with which programs find both halves: the SHA-1 hash of the public key, or an identifier that the
    /// program set.
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
        return told.reduce(into: [:]) { $0[String(describing: $1.key)] = $1.value }
    }
}
