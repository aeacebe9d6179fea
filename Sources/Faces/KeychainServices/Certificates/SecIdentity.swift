// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// A certificate together with the private key whose public half it certifies.
///
/// Two identities are equal if their certificates and their keys are.
public final class SecIdentity: NSObject, Sendable {
    let certificate: SecCertificate
    let key: SecKey

    /// Makes an identity; `nil` if the certificate certifies another key, and for a public key.
    init?(_ certificate: SecCertificate, _ key: SecKey) {
        guard key.material.keyClass == .private,
            let certified = SecCertificateCopyKey(certificate)?.material,
            certified.isRSA == key.material.isRSA, certified.publicBytes == key.material.publicBytes
        else { return nil }
        self.certificate = certificate
        self.key = key
        super.init()
    }

    /// Whether the other object is an identity of the same certificate and key.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecIdentity else { return false }
        return other.certificate == certificate && other.key == key
    }

    /// Hashes the certificate.
    public override var hash: Int { certificate.hash }

    /// A human-readable description with the subject's name.
    public override var description: String {
        "<SecIdentity: \(certificate.parts.subject.summary ?? "no name")>"
    }
}

/// Copies the certificate of an identity.
///
/// - Parameters:
///   - identityRef: The identity.
///   - certificateRef: Receives the certificate.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity,
    _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// Copies the private key of an identity, without asking the owner: the key asks when it is used.
///
/// - Parameters:
///   - identityRef: The identity.
///   - privateKeyRef: Receives the key.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity,
    _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    privateKeyRef.pointee = identityRef.key
    return errSecSuccess
}

/// Makes an identity of a certificate and the private key for it that the keychain has.
///
/// - Parameters:
///   - keychainOrArray: Ignored, since there is only one keychain.
///   - certificateRef: The certificate, which need not be stored.
///   - identityRef: Receives the identity.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` if the keychain has no such key; otherwise the statuses of
///   ``SecItemCopyMatching(_:_:)``.
@discardableResult
public func SecIdentityCreateWithCertificate(
    _ keychainOrArray: CFTypeRef?,
    _ certificateRef: SecCertificate,
    _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
    let query: [CFString: Any] = [
        kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        kSecAttrApplicationLabel: certificateRef.publicKeyHash, kSecReturnRef: true,
        kSecAttrSynchronizable: kSecAttrSynchronizableAny,
    ]
    var found: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &found)
    guard status == errSecSuccess else { return status }
    guard let key = found as? SecKey, let identity = SecIdentity(certificateRef, key) else {
        return errSecItemNotFound
    }
    identityRef.pointee = identity
    return errSecSuccess
}

/// Returns the type identifier, which no other class of this package has.
public func SecIdentityGetTypeID() -> CFTypeID { 0x5345_4305 }
