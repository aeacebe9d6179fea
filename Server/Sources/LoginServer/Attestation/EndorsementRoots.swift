// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import RelyingParty
internal import SwiftASN1
internal import X509

/// The TPM manufacturers that the operator trusts: the certificates in a file.
struct EndorsementRoots: EndorsementAuthority {
    /// The maximum size of the file, in bytes.
    private static let largestFile = 4 << 20

    private let roots: CertificateStore

    /// Reads a file of PEM certificates, roots or intermediates, all of which are trusted.
    ///
    /// - Throws: ``ServerError`` if it contains none.
    init(file: String) throws(ServerError) {
        do {
            guard let handle = FileHandle(forReadingAtPath: file),
                let bytes = try handle.read(upToCount: Self.largestFile + 1), bytes.count <= Self.largestFile
            else { throw CocoaError(.fileReadUnknown) }
            let documents = try PEMDocument.parseMultiple(pemString: String(decoding: bytes, as: UTF8.self))
            let certificates = try documents.map { try Certificate(pemDocument: $0) }
            guard !certificates.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
            roots = CertificateStore(certificates)
        } catch {
            throw ServerError(
                .certificate,
                "\(file) contains no certificates of TPM manufacturers: \(error)",
                hint: "use a PEM file with one or more certificates, at most 4 MiB"
            )
        }
    }

    /// Returns the key of an endorsement certificate that one of the manufacturers has signed.
    ///
    /// An expired certificate is refused, based on the machine's clock.
    func endorsedKey(in certificate: Data) async -> EndorsementKey? {
        // Anything that is not a certificate is refused.
        guard let leaf = try? Certificate(derEncoded: Array(certificate)),
            Self.endsWithWholeBytes(certificate), let key = Self.key(leaf.publicKey)
        else { return nil }
        var verifier = Verifier(rootCertificates: roots) {
            RFC5280Policy()
            EndorsementPolicy()
        }
        switch await verifier.validate(leaf: leaf, intermediates: CertificateStore()) {
        case .validCertificate: return key
        case .couldNotValidate: return nil
        }
    }

    /// Returns an endorsement key of a supported size; `nil` for any other key.
    private static func key(_ key: Certificate.PublicKey) -> EndorsementKey? {
        if let key = P256.Signing.PublicKey(key) { return .p256(point: key.x963Representation) }
        // A key whose parameters cannot be read is refused.
        guard let numbers = try? _RSA.Signing.PublicKey(key)?.getKeyPrimitives(),
            numbers.modulus.count == 256, numbers.publicExponent == Data([1, 0, 1])
        else { return nil }
        return .rsa2048(modulus: numbers.modulus)
    }

    /// Returns whether all bits of a certificate's signature are used, as in every valid signature.
    ///
    /// `Certificate` does not check this, and would accept several encodings of one certificate.
    private static func endsWithWholeBytes(_ certificate: Data) -> Bool {
        let unused = try? DER.sequence(try DER.parse(Array(certificate)), identifier: .sequence) { parts in
            _ = parts.next()
            _ = parts.next()
            return try ASN1BitString(derEncoded: &parts).paddingBits
        }
        // Data that cannot be parsed contains no signature.
        return unused == 0
    }
}

/// The TCG's requirements for the certificate of an endorsement key.
///
/// Source: TCG EK Credential Profile 2.x, 3.2.
private struct EndorsementPolicy: VerifierPolicy {
    /// tcg-kp-EKCertificate, 2.23.133.8.1.
    private static let purpose: ASN1ObjectIdentifier = [2, 23, 133, 8, 1]

    /// The alternative name is critical if the subject is empty; it contains the TPM's manufacturer and model, which do
    /// not matter for the key.
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.subjectAlternativeName, .X509ExtensionID.extendedKeyUsage,
    ]

    mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) async
        -> PolicyEvaluationResult
    {
        // An extension that is unreadable or duplicated does not contain the purpose.
        let purposes = try? chain.leaf.extensions.extendedKeyUsage
        guard let purposes, purposes.contains(ExtendedKeyUsage.Usage(oid: Self.purpose)) else {
            return .failsToMeetPolicy(reason: "it is not for an endorsement key")
        }
        return .meetsPolicy
    }
}
