// SPDX-License-Identifier: Apache-2.0

import CryptoKit
import Foundation
import Security
import SwiftASN1
import X509

// A certificate that swift-certificates makes is read by Security.
let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
let name = try DistinguishedName { CommonName("ada") }
let certificate = try Certificate(
    version: .v3,
    serialNumber: .init(),
    publicKey: key.publicKey,
    notValidBefore: Date(),
    notValidAfter: Date().addingTimeInterval(3600),
    issuer: name,
    subject: name,
    signatureAlgorithm: .ecdsaWithSHA256,
    extensions: .init(),
    issuerPrivateKey: key
)
var serializer = DER.Serializer()
try serializer.serialize(certificate)
guard let same = SecCertificateCreateWithData(nil, Data(serializer.serializedBytes) as CFData) else {
    exit(1)
}
print(SecCertificateCopySubjectSummary(same) as String? ?? "no name", SecCertificateCopyKey(same) != nil)
