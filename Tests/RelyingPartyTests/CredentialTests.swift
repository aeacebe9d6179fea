// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Foundation
import LoginAssertion
import SoftwareTPM
import Testing

@testable import RelyingParty

/// A secret for one chip, as TPM2_MakeCredential makes it; Python, Swift Crypto and swtpm open it.
@Suite struct `A credential of an attestation` {
    @Test(arguments: AttestationVectors.all?.credentials ?? [])
    func `has the bytes that Python computes`(vector: AttestationVectors.Credential) throws {
        let seed = try #require(try Self.seed(of: vector))
        let secret = try #require(Base64URL.decode(vector.secret))
        let name = try #require(Base64URL.decode(vector.name))
        let sealed = try #require(CredentialSeal(secret, for: name, under: seed.key))
        #expect(Base64URL.encode(sealed.credential) == vector.credential)
        #expect(Base64URL.encode(seed.encrypted) == vector.encryptedSeed)
    }

    private static func seed(of vector: AttestationVectors.Credential) throws -> CredentialSeed? {
        func bytes(_ text: String?) throws -> Data { try #require(text.flatMap { Base64URL.decode($0) }) }
        guard vector.endorsementModulus == nil else {
            return CredentialSeed(
                forModulus: try bytes(vector.endorsementModulus),
                seed: SymmetricKey(data: try bytes(vector.seed)),
                padding: SymmetricKey(data: try bytes(vector.padding))
            )
        }
        return CredentialSeed(
            forPoint: try bytes(vector.endorsementPoint),
            with: try P256.KeyAgreement.PrivateKey(rawRepresentation: try bytes(vector.ephemeralPrivate))
        )
    }

    @Test func `has vectors for both kinds of keys`() throws {
        let vectors = try #require(AttestationVectors.all).credentials
        #expect(vectors.contains { $0.endorsementModulus == nil })
        #expect(vectors.contains { $0.endorsementModulus != nil })
    }

    @Test(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"), arguments: ["ecc", "rsa"])
    func `opens in a TPM, by tpm2-tools, and for the named key only`(_ algorithm: String) throws {
        let chip = try SoftwareTPM()
        func run(_ arguments: String...) throws -> ToolResult {
            let result = try chip.tool(arguments: arguments)
            try chip.tool("flushcontext", "-t")
            return result
        }
        #expect(try run("createek", "-G", algorithm, "-c", "ek.ctx", "-u", "ek.pub").status == 0)
        for name in ["ak", "other"] {
            let kind = ["-G", "ecc", "-g", "sha256", "-s", "ecdsa"]
            let files = ["-c", "\(name).ctx", "-u", "\(name).pub", "-n", "\(name).name"]
            let made = try chip.tool(arguments: ["createak", "-C", "ek.ctx"] + kind + files)
            #expect(made.status == 0, "\(made.errors)")
            try chip.tool("flushcontext", "-t")
            try chip.tool("flushcontext", "-s")
        }
        // tpm2-tools write a size before the area.
        let endorsement = try #require(TPMPublicArea(Data(try chip.read("ek.pub").dropFirst(2))))
        let signer = try #require(TPMPublicArea(Data(try chip.read("ak.pub").dropFirst(2))))
        #expect(signer.attestationPoint != nil)
        #expect(Array(signer.name) == (try chip.read("ak.name")))
        let secret = Data((0..<32).map { UInt8($0) })
        let key = try #require(endorsement.endorsementKey)
        let seed = try #require(CredentialSeed(for: key))
        let sealed = try #require(CredentialSeal(secret, for: signer.name, under: seed.key))
        // The form of tpm2-tools: a magic number and a version, then both parts after their sizes.
        func sized(_ part: Data) -> [UInt8] { [UInt8(part.count >> 8), UInt8(part.count & 0xff)] + part }
        let blob: [UInt8] =
            [0xba, 0xdc, 0xc0, 0xde, 0, 0, 0, 1] + sized(sealed.credential) + sized(seed.encrypted)
        try chip.write(blob, to: "credential")
        func open(_ name: String) throws -> ToolResult {
            try chip.tool("startauthsession", "--policy-session", "-S", "session.ctx")
            try chip.tool("policysecret", "-S", "session.ctx", "-c", "e")
            defer { _ = try? chip.tool("flushcontext", "session.ctx") }
            return try run(
                "activatecredential",
                "-c",
                "\(name).ctx",
                "-C",
                "ek.ctx",
                "-i",
                "credential",
                "-o",
                "secret",
                "-P",
                "session:session.ctx"
            )
        }
        let right = try open("ak")
        #expect(right.status == 0, "\(right.errors)")
        #expect(try chip.read("secret") == Array(secret))
        // TPM_RC_INTEGRITY: the credential is for an object of another name.
        let wrong = try open("other")
        #expect(wrong.status != 0 && wrong.errors.contains("integrity check failed"), "\(wrong.errors)")
    }

    // MARK: RSA

    @Test func `of RSA has a padding that Swift Crypto takes off, for many keys and messages`() throws {
        for _ in 0..<8 {
            let key = try _RSA.Encryption.PrivateKey(keySize: .bits2048)
            let modulus = try key.publicKey.getKeyPrimitives().modulus
            let encryption = try #require(RSAEncryption(modulus: modulus))
            for size in [0, 1, 32, 189, RSAEncryption.longest] {
                let message = Data((0..<size).map { _ in UInt8.random(in: .min ... .max) })
                let seed = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
                let encrypted = try #require(encryption.encrypt(message, label: Data(), seed: seed))
                #expect(encrypted.count == 256)
                #expect(try key.decrypt(encrypted, padding: .PKCS1_OAEP_SHA256) == message)
                let labeled = try #require(
                    encryption.encrypt(message, label: Data("IDENTITY\0".utf8), seed: seed)
                )
                #expect(throws: (any Error).self) { try key.decrypt(labeled, padding: .PKCS1_OAEP_SHA256) }
            }
            let tooLong = Data(count: RSAEncryption.longest + 1)
            #expect(encryption.encrypt(tooLong, label: Data(), seed: Data(count: 32)) == nil)
            #expect(encryption.encrypt(Data(), label: Data(), seed: Data(count: 31)) == nil)
        }
    }

    @Test func `of RSA is right at the edges of the arithmetic`() throws {
        let largest = Data(repeating: 0xff, count: 256)
        let modulus = try #require(MontgomeryModulus(largest))
        func number(_ value: UInt8) -> Data { Data(count: 255) + [value] }
        #expect(modulus.power65537(of: number(0)) == number(0))
        #expect(modulus.power65537(of: number(1)) == number(1))
        // -1 to an odd power is -1.
        #expect(modulus.power65537(of: largest.dropLast() + [0xfe]) == largest.dropLast() + [0xfe])
        // 2 to the power of 65,537 is 2 modulo 2^2048 - 1, since 65,536 is a multiple of 2,048.
        #expect(modulus.power65537(of: number(2)) == number(2))
        let smallest = try #require(MontgomeryModulus([0x80] + Data(count: 254) + [1]))
        // 2^2047 is -1, and 65,537 is 32 times 2,047 and 33 more.
        let power = Data(count: 251) + [2, 0, 0, 0, 0]
        #expect(smallest.power65537(of: number(2)) == power)
    }

    @Test func `is not made for what is the modulus of no key`() {
        let even = Data(repeating: 0xff, count: 255) + [0xfe]
        let short = Data([0x7f]) + Data(repeating: 0xff, count: 255)
        for modulus in [
            Data(), even, short, Data(repeating: 0xff, count: 255), Data(repeating: 0xff, count: 257),
        ] {
            #expect(CredentialSeed(for: .rsa2048(modulus: modulus)) == nil)
        }
    }
}
