// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// A certificate together with its private key.
///
/// Two identities are equal if their certificates and their keys are equal.
public final class SecIdentity: NSObject, Sendable {
    let certificate: SecCertificate
    let key: SecKey

    /// Creates an identity, or returns `nil` if the certificate is for another key, or if the key is a public key.
    init?(_ certificate: SecCertificate, _ key: SecKey) {
        guard key.material.keyClass == .private,
            let certified = SecCertificateCopyKey(certificate)?.material,
            certified.isRSA == key.material.isRSA, certified.publicBytes == key.material.publicBytes
        else { return nil }
        self.certificate = certificate
        self.key = key
        super.init()
    }

    /// Returns whether the other object is an identity with the same certificate and key.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecIdentity else { return false }
        return other.certificate == certificate && other.key == key
    }

    /// Hashes the certificate.
    public override var hash: Int { certificate.hash }

    /// A human-readable description that contains the subject's name.
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

/// Copies the private key of an identity, without prompting the owner.
///
/// Using the key may show a prompt.
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

/// Creates an identity from a certificate and its private key in the keychain.
///
/// - Parameters:
///   - keychainOrArray: Ignored, because there is only one keychain.
///   - certificateRef: The certificate, which does not have to be stored in the keychain.
///   - identityRef: Receives the identity.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` if the keychain does not contain the key; otherwise, a status of
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

/// Returns the type identifier of identities, which is unique within this package.
public func SecIdentityGetTypeID() -> CFTypeID { 0x5345_4305 }
