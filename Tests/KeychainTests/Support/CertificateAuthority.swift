// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainServices
import Testing

/// An authority that issues certificates in a test, by openssl.
final class CertificateAuthority {
    private let folder: URL
    private let subject: String
    private var serial = 100

    /// The authority's own certificate in DER.
    let certificate: Data

    /// Makes an authority whose certificate another one has issued, or it itself.
    init(_ subject: String, issuedBy issuer: CertificateAuthority? = nil) throws {
        self.subject = subject
        folder = FileManager.default.temporaryDirectory.appending(path: "whorl-issuer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let key = folder.appending(path: "key").path
        _ = try run(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key]
        )
        let half = folder.appending(path: "half").path
        _ = try run("openssl", ["pkey", "-in", key, "-pubout", "-out", half])
        let ends: [String]
        if let issuer {
            ends = try issuer.signing()
        } else {
            ends = ["-key", key, "-set_serial", "1"]
        }
        let file = folder.appending(path: "certificate")
        var arguments = ["x509", "-new", "-subj", subject, "-days", "300", "-out", file.path] + ends
        if issuer != nil { arguments += ["-force_pubkey", half] }
        _ = try run("openssl", arguments)
        certificate = try run("openssl", ["x509", "-in", file.path, "-outform", "DER"])
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func signing() throws -> [String] {
        serial += 1
        return [
            "-CA", folder.appending(path: "certificate").path, "-CAkey", folder.appending(path: "key").path,
            "-set_serial", "\(serial)",
        ]
    }

    /// Issues a certificate for a public key, in DER.
    func issue(
        _ subject: String,
        for key: SecKey,
        alternativeNames: String? = nil,
        days: Int = 30
    ) throws -> Data {
        let half = folder.appending(path: "subject")
        try pem(publicKey(key)).write(to: half, atomically: true, encoding: .utf8)
        var arguments = ["x509", "-new", "-subj", subject, "-days", "\(days)", "-force_pubkey", half.path]
        if let alternativeNames {
            let file = folder.appending(path: "extensions")
            try "subjectAltName=\(alternativeNames)\n".write(to: file, atomically: true, encoding: .utf8)
            arguments += ["-extfile", file.path]
        }
        return try run("openssl", arguments + signing() + ["-outform", "DER"])
    }

    private func pem(_ key: SecKey) throws -> String {
        let form = try bytes(key)
        if form.count == 65 { return try P256.Signing.PublicKey(x963Representation: form).pemRepresentation }
        let text = form.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN RSA PUBLIC KEY-----\n\(text)\n-----END RSA PUBLIC KEY-----\n"
    }
}

/// The certificate in these bytes.
func certificate(_ bytes: Data) throws -> SecCertificate {
    try #require(SecCertificateCreateWithData(nil, bytes as CFData))
}
