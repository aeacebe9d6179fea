// SPDX-License-Identifier: Apache-2.0

internal import Crypto
package import WhorlService

/// An X.509 certificate: its bytes and the fields parsed from them.
///
/// The signature of the certificate is not verified, and trust is not evaluated. Two certificates are equal if their
/// bytes are equal.
public final class SecCertificate: NSObject, Sendable {
    let bytes: Data
    let parts: CertificateReader

    /// Parses an X.509 certificate in DER, or returns `nil` for anything else.
    init?(_ bytes: Data) {
        guard let parts = CertificateReader(bytes) else { return nil }
        self.bytes = bytes
        self.parts = parts
        super.init()
    }

    /// Returns whether the other object is a certificate with the same bytes.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecCertificate)?.bytes == bytes
    }

    /// Hashes the bytes.
    public override var hash: Int { bytes.hashValue }

    /// A human-readable description that contains the subject's name.
    public override var description: String { "<SecCertificate: \(parts.subject.summary ?? "no name")>" }

    /// The SHA-1 hash of the public key, which the keychain uses to find the matching private key.
    var publicKeyHash: Data { Data(Insecure.SHA1.hash(data: parts.publicKey)) }

    /// The attributes that queries can match.
    var described: [String: Any] {
        var told: [CFString: Any] = [
            kSecAttrCertificateType: parts.version,
            // CSSM_CERT_ENCODING_DER
            kSecAttrCertificateEncoding: 3,
            kSecAttrSubject: parts.subject.normalized,
            kSecAttrIssuer: parts.issuer.normalized,
            kSecAttrSerialNumber: parts.serialNumber,
            kSecAttrPublicKeyHash: publicKeyHash,
        ]
        told[kSecAttrLabel] = parts.subject.summary
        told[kSecAttrSubjectKeyID] = parts.extensions.subjectKeyID
        return told.reduce(into: [:]) { $0[String(describing: $1.key)] = $1.value }
    }
}

/// Creates a certificate from its bytes.
///
/// - Parameters:
///   - allocator: Ignored.
///   - data: An X.509 certificate in DER. PEM is not supported.
/// - Returns: The certificate, or `nil` if the data is not a certificate or is larger than 1 MiB. The signature and the
///   dates are not checked.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    SecCertificate(Data(referencing: data))
}

/// Returns a certificate's bytes.
///
/// - Parameter certificate: The certificate.
/// - Returns: The X.509 certificate in DER.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { certificate.bytes as NSData }

/// Returns the public key of a certificate.
///
/// - Parameter certificate: The certificate.
/// - Returns: The public key, or `nil` if it is not an RSA, P-256, P-384 or P-521 key.
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    let info = certificate.parts.publicKeyInfo
    if let key = ECPublicKey(info: info) { return SecKey(.publicEC(key)) }
    return RSAPublicKey(der: info).map { SecKey(.publicRSA($0)) }
}

/// Returns a human-readable summary of the subject.
///
/// - Parameter certificate: The certificate.
/// - Returns: The subject's common name or, if that is missing, another part of the subject's name.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.parts.subject.summary.map { $0 as NSString }
}

/// Copies the subject's common name.
///
/// - Parameters:
///   - certificate: The certificate.
///   - commonName: On return, the name, or `nil` if the subject does not have a common name.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate,
    _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    commonName.pointee = certificate.parts.subject.text(DistinguishedName.commonName).map { $0 as NSString }
    return errSecSuccess
}

/// Returns the serial number of a certificate.
///
/// - Parameters:
///   - certificate: The certificate.
///   - error: This is never set, because every certificate has a serial number.
/// - Returns: The bytes of the serial number, in big-endian order.
@discardableResult
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { certificate.parts.serialNumber as NSData }

/// Returns the issuer's name, normalized for comparison.
///
/// Printable strings are trimmed, converted to uppercase, and separated into words by single spaces.
///
/// - Parameter certificate: The certificate.
/// - Returns: A `Name` in DER.
@discardableResult
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    certificate.parts.issuer.normalized as NSData
}

/// Returns the subject's name, normalized for comparison.
///
/// Printable strings are trimmed, converted to uppercase, and separated into words by single spaces.
///
/// - Parameter certificate: The certificate.
/// - Returns: A `Name` in DER.
@discardableResult
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    certificate.parts.subject.normalized as NSData
}

/// Returns the start of a certificate's validity period.
///
/// - Parameter certificate: The certificate.
/// - Returns: The date from which the certificate is valid, or `nil` if the date is not encoded as RFC 5280 requires.
@discardableResult
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.parts.notBefore.map { $0 as NSDate }
}

/// Returns the end of a certificate's validity period.
///
/// - Parameter certificate: The certificate.
/// - Returns: The date until which the certificate is valid, or `nil` if the date is not encoded as RFC 5280 requires.
@discardableResult
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.parts.notAfter.map { $0 as NSDate }
}

/// Copies the email addresses of the subject.
///
/// Addresses from the subject alternative names come first, followed by those from the subject's name.
///
/// - Parameters:
///   - certificate: The certificate.
///   - emailAddresses: Receives the addresses as strings, or an empty array if the subject does not have any.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate,
    _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    emailAddresses.pointee = (certificate.parts.emailAddresses ?? []).map { $0 as NSString } as NSArray
    return errSecSuccess
}

/// Returns the type identifier of certificates, which is unique within this package.
public func SecCertificateGetTypeID() -> CFTypeID { 0x5345_4303 }

extension ECPublicKey {
    /// Parses a `SubjectPublicKeyInfo` with a point on a supported curve, or returns `nil` for anything else.
    fileprivate init?(info: Data) {
        let point =
            (try? P256.Signing.PublicKey(derRepresentation: info))?.x963Representation
            ?? (try? P384.Signing.PublicKey(derRepresentation: info))?.x963Representation
            ?? (try? P521.Signing.PublicKey(derRepresentation: info))?.x963Representation
        guard let point else { return nil }
        self.init(x963: point)
    }
}

extension SecCertificate: ItemReference {
    /// The item class of certificates.
    package static let itemClass = KeychainClass.certificate

    /// Returns the form in which the keychain stores the certificate: its bytes and the attributes parsed from them.
    package func form() throws(KeychainError) -> ReferenceForm {
        ReferenceForm(
            .certificate,
            attributes: try KeychainClass.certificate.attributes(described),
            contents: .plain(bytes)
        )
    }
}
