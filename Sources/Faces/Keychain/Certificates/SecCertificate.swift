// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// An X.509 certificate: its bytes, and what they say.
///
/// Nobody's signature on it is checked, and no trust follows from having one. Two are equal when their bytes are.
public final class SecCertificate: NSObject, Sendable {
    let bytes: Data
    let parts: CertificateReader

    /// `nil` for anything that is no X.509 certificate in DER.
    init?(_ bytes: Data) {
        guard let parts = CertificateReader(bytes) else { return nil }
        self.bytes = bytes
        self.parts = parts
        super.init()
    }

    /// Whether the other has the same bytes.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? SecCertificate)?.bytes == bytes
    }

    /// Hashes the bytes.
    public override var hash: Int { bytes.hashValue }

    /// Whose it is, for people.
    public override var description: String { "<SecCertificate: \(parts.subject.summary ?? "no name")>" }

    /// The attributes by which the keychain finds it.
    var described: [String: Any] {
        var told: [CFString: Any] = [
            kSecAttrCertificateType: parts.version,
            // CSSM_CERT_ENCODING_DER
            kSecAttrCertificateEncoding: 3,
            kSecAttrSubject: parts.subject.normalized,
            kSecAttrIssuer: parts.issuer.normalized,
            kSecAttrSerialNumber: parts.serialNumber,
            kSecAttrPublicKeyHash: Data(Insecure.SHA1.hash(data: parts.publicKey)),
        ]
        told[kSecAttrLabel] = parts.subject.summary
        told[kSecAttrSubjectKeyID] = parts.subjectKeyID
        return Dictionary(uniqueKeysWithValues: told.map { (String(describing: $0.key), $0.value) })
    }
}

/// Makes a certificate of its bytes.
///
/// - Parameters:
///   - allocator: Counts for nothing.
///   - data: X.509 in DER; not PEM.
/// - Returns: `nil` for anything else, and for more than 1 MiB. Signature and dates are not looked at.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    SecCertificate(Data(referencing: data))
}

/// Gives a certificate's bytes.
///
/// - Parameter certificate: The certificate.
/// - Returns: X.509 in DER.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { certificate.bytes as NSData }

/// Gives the public key that a certificate is about.
///
/// - Parameter certificate: The certificate.
/// - Returns: `nil` for keys that are neither RSA nor on P-256, P-384 or P-521.
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    let info = certificate.parts.publicKeyInfo
    if let key = ECPublicKey(info: info) { return SecKey(.publicEC(key)) }
    return RSAPublicKey(der: info).map { SecKey(.publicRSA($0)) }
}

/// Gives what people call the subject.
///
/// - Parameter certificate: The certificate.
/// - Returns: Its common name, or what else names it.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.parts.subject.summary.map { $0 as NSString }
}

/// Gives the subject's common name.
///
/// - Parameters:
///   - certificate: The certificate.
///   - commonName: Where to leave it; `nil` when there is none.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate,
    _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    commonName.pointee = certificate.parts.subject.text(DistinguishedName.commonName).map { $0 as NSString }
    return errSecSuccess
}

/// Gives the serial number.
///
/// - Parameters:
///   - certificate: The certificate.
///   - error: Left alone; there is always a number.
/// - Returns: The number's bytes, big endian.
@discardableResult
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { certificate.parts.serialNumber as NSData }

/// Gives the issuer's name as it is compared: printable text in capitals and with single spaces.
///
/// - Parameter certificate: The certificate.
/// - Returns: A `Name` in DER.
@discardableResult
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    certificate.parts.issuer.normalized as NSData
}

/// Gives the subject's name as it is compared: printable text in capitals and with single spaces.
///
/// - Parameter certificate: The certificate.
/// - Returns: A `Name` in DER.
@discardableResult
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    certificate.parts.subject.normalized as NSData
}

/// The type's number, which no other class here has.
public func SecCertificateGetTypeID() -> CFTypeID { 0x5345_4303 }

extension ECPublicKey {
    /// `nil` for anything that is no `SubjectPublicKeyInfo` of a point of one of the curves.
    fileprivate init?(info: Data) {
        let point =
            (try? P256.Signing.PublicKey(derRepresentation: info))?.x963Representation
            ?? (try? P384.Signing.PublicKey(derRepresentation: info))?.x963Representation
            ?? (try? P521.Signing.PublicKey(derRepresentation: info))?.x963Representation
        guard let point else { return nil }
        self.init(x963: point)
    }
}
