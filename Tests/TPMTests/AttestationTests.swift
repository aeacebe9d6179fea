// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import Testing

@testable import WhorlTPM

/// What a TPM states about itself and its keys; tpm2-tools and openssl are the other side.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `The identity of a TPM` {
    @Test func `is missing where its maker has put no certificate into it`() async throws {
        let bench = try await Bench()
        #expect(try await bench.run { tpm throws(TPMError) in try tpm.endorsement() } == nil)
        try await bench.expectNothingLeft()
    }

    @Test(arguments: SoftwareTPM.Endorsement.allCases)
    func `is the endorsement key that tpm2-tools make, and the certificate without what follows it`(
        _ kind: SoftwareTPM.Endorsement
    ) async throws {
        let bench = try await Bench()
        let certificate = try bench.chip.certify(kind, padding: 100)
        let endorsement = try #require(
            try await bench.run { tpm throws(TPMError) in try tpm.endorsement() }
        )
        #expect(endorsement.certificate == certificate)
        // tpm2-tools write a size before the area.
        #expect(endorsement.publicArea == Array(try bench.chip.read("ek.pub").dropFirst(2)))
        #expect(EndorsementKind(publicArea: endorsement.publicArea) == (kind == .p256 ? .p256 : .rsa2048))
        try await bench.expectNothingLeft()
    }

    @Test func `is the key of P-256 where its maker has certified both`() async throws {
        let bench = try await Bench()
        try bench.chip.certify(.rsa2048)
        let certificate = try bench.chip.certify(.p256)
        let endorsement = try await bench.run { tpm throws(TPMError) in try tpm.endorsement() }
        #expect(endorsement?.certificate == certificate)
        #expect(endorsement.flatMap { EndorsementKind(publicArea: $0.publicArea) } == .p256)
        try await bench.expectNothingLeft()
    }

    @Test func `is made again where another key lies at the place of the maker's`() async throws {
        let bench = try await Bench()
        try bench.chip.certify(.rsa2048)
        let area = try bench.chip.read("ek.pub").dropFirst(2)
        for arguments in [
            ["createprimary", "-Q", "-C", "e", "-G", "rsa2048", "-c", "other.ctx"],
            ["evictcontrol", "-Q", "-C", "o", "-c", "other.ctx", "0x81010001"], ["flushcontext", "-t"],
        ] {
            let result = try bench.chip.tool(arguments: arguments)
            #expect(result.status == 0, "\(result.errors)")
        }
        let endorsement = try await bench.run { tpm throws(TPMError) in try tpm.endorsement() }
        #expect(endorsement?.publicArea == Array(area))
        try await bench.expectNothingLeft()
    }

    @Test(arguments: SoftwareTPM.Endorsement.allCases)
    func `opens a credential of tpm2-tools for the key that it names, and for no other`(
        _ kind: SoftwareTPM.Endorsement
    ) async throws {
        let bench = try await Bench()
        try bench.chip.certify(kind)
        let root = bench.root
        let (key, other) = try await bench.run { tpm throws(TPMError) in
            (try tpm.createAttestationKey(under: root), try tpm.createAttestationKey(under: root))
        }
        await bench.device.close()
        let secret = (0..<32).map { UInt8($0) }
        try bench.chip.write(secret, to: "secret")
        let made = try bench.chip.tool(
            "makecredential",
            "-Q",
            "-u",
            "ek.pub",
            "-s",
            "secret",
            "-n",
            hexadecimal(key.name.bytes),
            "-o",
            "blob"
        )
        #expect(made.status == 0, "\(made.errors)")
        try bench.chip.flushObjects()
        // A magic number and a version, then both parts after their sizes.
        let blob = try bench.chip.read("blob")
        let middle = 10 + Int(blob[8]) << 8 + Int(blob[9])
        let credential = Array(blob[10..<middle])
        let seed = Array(blob[(middle + 2)...])
        let endorsement: EndorsementKind = kind == .p256 ? .p256 : .rsa2048
        @Sendable func activate(_ credential: [UInt8], for key: TPMObject) async throws(TPMError) -> [UInt8] {
            try await bench.run { tpm throws(TPMError) in
                try tpm.activate(
                    credential: credential,
                    seed: seed,
                    to: endorsement,
                    for: key,
                    under: root
                ).copy
            }
        }
        #expect(try await activate(credential, for: key) == secret)
        var codes: [TPMError.Code] = []
        codes.append(
            try await failure { () async throws(TPMError) in try await activate(credential, for: other) }.code
        )
        var forged = credential
        forged[forged.count - 1] ^= 1
        let changed = forged
        codes.append(
            try await failure { () async throws(TPMError) in try await activate(changed, for: key) }.code
        )
        codes.append(try await failure { () async throws(TPMError) in try await activate([], for: key) }.code)
        #expect(codes == [.foreignBlob, .foreignBlob, .foreignBlob])
        try await bench.expectNothingLeft()
    }

    @Test func `signs a statement that it has made a key, without the key's policy, and about no other key`()
        async throws
    {
        let bench = try await Bench()
        let (root, policy) = (bench.root, bench.policy)
        let (signer, key, other) = try await bench.run { tpm throws(TPMError) in
            (
                try tpm.createAttestationKey(under: root),
                try tpm.createCertifiableKey(under: root, policy: policy.digest),
                try tpm.createCertifiableKey(under: root, policy: policy.digest)
            )
        }
        let signed = try await bench.run { tpm throws(TPMError) in
            try tpm.certify(key, by: signer, under: root, repeating: [1, 2, 3])
        }
        #expect(signed.statement.starts(with: [0xff, 0x54, 0x43, 0x47, 0x80, 0x1a]))
        #expect(signed.statement.contains([0, 3, 1, 2, 3]))
        #expect(signed.statement.contains([0, 34] + key.object.name.bytes))
        try bench.chip.write(signed.statement, to: "statement")
        try bench.chip.write(derSignature(signed.signature), to: "signature")
        try bench.chip.write(subjectPublicKeyInfo(try #require(signer.publicPoint)), to: "key.der")
        let verified = try bench.chip.run(
            "openssl",
            "dgst",
            "-sha256",
            "-keyform",
            "DER",
            "-verify",
            "key.der",
            "-signature",
            "signature",
            "statement"
        )
        #expect(verified.status == 0, "\(verified.errors)")
        // The ticket of one key, shown for another.
        let forged = CreatedObject(object: other.object, creationHash: key.creationHash, ticket: key.ticket)
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                try tpm.certify(forged, by: signer, under: root, repeating: [])
            }
        }
        #expect(error.command == "TPM2_CertifyCreation")
        try await bench.expectNothingLeft()
    }

    @Test func `has public areas of keys and counters with the names that policies use`() async throws {
        let bench = try await Bench()
        let counter = try await bench.counter()
        let area = try await bench.run { tpm throws(TPMError) in try tpm.publicArea(of: counter) }
        try bench.chip.write(area, to: "area")
        let digest = try bench.chip.run("openssl", "dgst", "-sha256", "-r", "area").output.prefix(64)
        #expect("000b" + digest == hexadecimal(counter.name.bytes))
        try bench.chip.write(bench.authority.publicArea, to: "area")
        let other = try bench.chip.run("openssl", "dgst", "-sha256", "-r", "area").output.prefix(64)
        #expect("000b" + other == hexadecimal(bench.authority.name.bytes))
        try await bench.expectNothingLeft()
    }
}
