// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainServices
import Testing

@Suite struct `Certificates` {
    @Test(arguments: [
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp521r1"],
        ["-newkey", "rsa:2048"],
    ])
    func `openssl's certificates are read as openssl made them`(kind: [String]) throws {
        let (der, info) = try made(kind, "/C=SE/O=Example Works/CN=ada.example.org", serial: "0x7fffabcdef01")
        let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
        #expect(SecCertificateCopyData(certificate) as Data == der)
        #expect(SecCertificateCopySubjectSummary(certificate) as String? == "ada.example.org")
        var name: CFString?
        #expect(SecCertificateCopyCommonName(certificate, &name) == errSecSuccess)
        #expect(name as String? == "ada.example.org")
        #expect(
            SecCertificateCopySerialNumberData(certificate, nil) as Data?
                == Data([0x7f, 0xff, 0xab, 0xcd, 0xef, 0x01])
        )
        let key = try #require(SecCertificateCopyKey(certificate))
        // SubjectPublicKeyInfo ends in the key's own form.
        #expect(try info.suffix(bytes(key).count) == bytes(key))
        let issuer = SecCertificateCopyNormalizedIssuerSequence(certificate) as Data?
        #expect(issuer != nil && issuer == SecCertificateCopyNormalizedSubjectSequence(certificate) as Data?)
        #expect(certificate == SecCertificateCreateWithData(nil, der as CFData))
    }

    @Test func `names that differ in capitals and spaces alone have one normal form`() throws {
        let names = try ["/C=SE/CN=Ada Works", "/C=se/CN=Ada Works"].map { name in
            let der = try made(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], name).0
            let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
            return SecCertificateCopyNormalizedSubjectSequence(certificate) as Data?
        }
        #expect(names[0] == names[1])
        #expect(names[0] != nil)
    }

    @Test func `anything but one whole certificate in DER is refused`() throws {
        let (der, info) = try made(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], "/CN=a")
        let pem = Data("-----BEGIN CERTIFICATE-----\n\(der.base64EncodedString())\n".utf8)
        for bytes in [Data(), pem, info, der + [0], der.dropLast(), Data([0x30, 0]), Data(count: 500)] {
            #expect(SecCertificateCreateWithData(nil, Data(bytes) as CFData) == nil)
        }
        // An indefinite length is BER, and no DER.
        #expect(
            SecCertificateCreateWithData(nil, Data([0x30, 0x80] + der.dropFirst(4) + [0, 0]) as CFData) == nil
        )
        #expect(SecCertificateCreateWithData(nil, Data(count: (1 << 20) + 1) as CFData) == nil)
    }

    @Test func `an algorithm that is named otherwise outside of what is signed is refused`() throws {
        let der = try made(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], "/CN=a").0
        // ecdsa-with-SHA256: 1.2.840.10045.4.3.2
        let name = Data([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02])
        let outer = try #require(der.range(of: name, options: .backwards))
        var changed = der
        changed[outer.upperBound - 1] = 3
        #expect(SecCertificateCreateWithData(nil, changed as CFData) == nil)
    }

    @Test func `a public key of part of a byte is refused`() throws {
        let (der, info) = try made(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], "/CN=a")
        let place = try #require(der.range(of: info))
        // The point has 65 bytes; before them is the number of bits that do not count.
        var changed = der
        changed[place.upperBound - 66] = 1
        #expect(SecCertificateCreateWithData(nil, changed as CFData) == nil)
    }

    @Test func `no change of a byte and no cut is more than refused`() throws {
        let der = try made(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], "/CN=a/O=b").0
        for position in der.indices {
            for value in [0, 1, 0x7f, 0x80, 0x84, 0xff] as [UInt8] {
                var changed = der
                changed[position] = value
                guard let certificate = SecCertificateCreateWithData(nil, changed as CFData) else { continue }
                #expect(SecCertificateCopyData(certificate) as Data == changed)
                _ = SecCertificateCopyKey(certificate)
                _ = SecCertificateCopySubjectSummary(certificate)
            }
            #expect(SecCertificateCreateWithData(nil, der.prefix(position) as CFData) == nil)
        }
    }

    /// A certificate that openssl signs itself, and the `SubjectPublicKeyInfo` that openssl reads in it.
    private func made(
        _ kind: [String],
        _ name: String,
        serial: String = "1"
    ) throws -> (certificate: Data, key: Data) {
        try withFolder { folder in
            let (key, file) = (folder.appending(path: "key").path, folder.appending(path: "certificate"))
            _ = try run(
                "openssl",
                ["req", "-x509", "-nodes", "-sha256", "-outform", "DER", "-days", "30", "-subj", name]
                    + ["-set_serial", serial, "-keyout", key, "-out", file.path] + kind
            )
            let info = try run("openssl", ["pkey", "-in", key, "-pubout", "-outform", "DER"])
            return (try Data(contentsOf: file), info)
        }
    }
}
