// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Foundation
import LoginAssertion
import Testing

@testable import RelyingParty

/// What a server does with attestations: whom it makes credentials for, and what it keeps of what they prove.
@Suite struct `A server that takes attestations` {
    private let device = Device()
    private let chip = SoftChip()

    @Test(arguments: StoreKind.all)
    func `keeps what the chip has proven, also for a device that signs in`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind, trusting: chip)
        let enabled = try await bank.enable(device, with: chip.attest(device, at: bank))
        let proven = try #require(enabled.attestation)
        #expect(proven.level == .tpm)
        #expect(proven.opensFor == ["any_finger"])
        #expect(try await bank.party.devices(of: device.user).map(\.attestation) == [proven])
        #expect(try await bank.signIn(bank.answer(device)).device.attestation == proven)
        #expect(try await bank.reasons(device.user).contains("attested tpm"))
    }

    @Test func `keeps what a chip with an endorsement key of RSA has proven`() async throws {
        let chip = try SoftChip(.rsa2048)
        let bank = try await Bank(trusting: chip)
        let enabled = try await bank.enable(device, with: chip.attest(device, at: bank))
        #expect(enabled.attestation?.opensFor == ["any_finger"])
    }

    @Test func `makes no credential for an endorsement key of one kind by the certificate of the other`()
        async throws
    {
        let other = try SoftChip(.rsa2048)
        let bank = try await Bank(trusting: chip, other)
        for (endorsed, certified) in [(chip, other), (other, chip)] {
            var mixed = endorsed
            mixed.certificate = certified.certificate
            let refused = await code { () async throws(RelyingPartyError) in
                _ = try await mixed.credential(for: device, at: bank)
            }
            #expect(refused == .attestationRefused(.endorsement))
        }
    }

    @Test func `makes no credential for a key of RSA that is none of the TCG's template`() async throws {
        let chip = try SoftChip(.rsa2048)
        let bank = try await Bank(trusting: chip)
        let area = chip.endorsementKey
        // Attributes, the policy, the symmetric algorithm, the scheme, the size, the exponent, and a shorter modulus.
        let faults = [7, 10, 43, 49, 51, 55, 57].map { place in
            var area = area
            area[place] ^= 1
            return area
        }
        for area in faults + [area.dropLast(), area + [0], Data(area.dropLast(256).dropLast(2))] {
            let refused = await code { () async throws(RelyingPartyError) in
                _ = try await chip.credential(for: device, at: bank, endorsementKey: area)
            }
            #expect([.attestationRefused(.endorsement), .attestationRefused(.malformed)].contains(refused))
        }
        _ = try await chip.credential(for: device, at: bank)
    }

    @Test(arguments: StoreKind.all)
    func `forgets it with the key`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind, trusting: chip)
        try await bank.enable(device, with: chip.attest(device, at: bank))
        let other = try await bank.enable(Device(), with: nil)
        #expect(other.attestation == nil)
        #expect(try await bank.party.devices(of: device.user).map(\.attestation) == [nil])
    }

    @Test func `enables a device without one, unless one is required`() async throws {
        let bank = try await Bank(trusting: chip)
        #expect(try await bank.enable(device, with: nil).attestation == nil)
        let strict = try await bank.another { $0.attestationPolicy = .require }
        #expect(await strict.refusal(device, with: nil) == .attestationRequired)
        #expect(try await strict.reasons(device.user) == ["attestation_required"])
    }

    @Test func `takes none where none is taken`() async throws {
        let bank = try await Bank(trusting: chip) { $0.attestationPolicy = .none }
        let refused = await code { () async throws(RelyingPartyError) in
            _ = try await chip.credential(for: device, at: bank)
        }
        #expect(refused == .attestationRefused(.endorsement))
    }

    // Docs/Security.md: L21
    @Test func `makes no credential for a chip of a maker that it does not know`() async throws {
        let bank = try await Bank(trusting: SoftChip())
        let refused = await code { () async throws(RelyingPartyError) in
            _ = try await chip.credential(for: device, at: bank)
        }
        #expect(refused == .attestationRefused(.endorsement))
    }

    @Test func `makes no credential for a chip by the certificate of another`() async throws {
        let bank = try await Bank(trusting: chip)
        var thief = SoftChip()
        thief.certificate = chip.certificate
        let refused = await code { () async throws(RelyingPartyError) in
            _ = try await thief.credential(for: device, at: bank)
        }
        #expect(refused == .attestationRefused(.endorsement))
    }

    @Test func `makes no credential for a key that signs anything`() async throws {
        let bank = try await Bank(trusting: chip)
        var loose = chip
        loose.signerAttributes = 0x40472
        let refused = await code { () async throws(RelyingPartyError) in
            _ = try await loose.credential(for: device, at: bank)
        }
        #expect(refused == .attestationRefused(.statement))
    }

    // Docs/Security.md: L20
    @Test func `refuses the attestation of another user's or another device's credential`() async throws {
        let bank = try await Bank(trusting: chip)
        for other in [Device("eve"), Device("ada", "phone")] {
            let credential = try await chip.credential(for: other, at: bank)
            let statement = try chip.attest(device, answering: credential)
            #expect(await bank.refusal(device, with: statement) == .attestationRefused(.credential))
        }
    }

    // Docs/Security.md: L20
    @Test func `refuses an attestation that is shown again for another key, and one that is too old`()
        async throws
    {
        let bank = try await Bank(trusting: chip)
        let statement = try await chip.attest(device, at: bank)
        #expect(await bank.refusal(Device(), with: statement) == .attestationRefused(.key))
        bank.clock.advance(by: 599)
        #expect(try await bank.enable(device, with: statement).attestation != nil)
        bank.clock.advance(by: 1)
        #expect(await bank.refusal(device, with: statement) == .attestationRefused(.credential))
    }

    @Test func `refuses an attestation whose end was moved`() async throws {
        let bank = try await Bank(trusting: chip)
        var statement = try await chip.attest(device, at: bank)
        statement.nonce[statement.nonce.startIndex + 3] ^= 1
        #expect(await bank.refusal(device, with: statement) == .attestationRefused(.credential))
        statement.nonce[statement.nonce.startIndex] ^= 1
        #expect(await bank.refusal(device, with: statement) == .attestationRefused(.credential))
    }

    @Test func `refuses the attestation of a chip that it does not trust any more`() async throws {
        let bank = try await Bank(trusting: chip)
        let statement = try await chip.attest(device, at: bank)
        let distrusting = try await bank.another(trusting: SoftChip())
        #expect(await distrusting.refusal(device, with: statement) == .attestationRefused(.endorsement))
    }

    // Docs/Security.md: L20
    @Test(arguments: SoftChip.Kind.allCases)
    func `refuses one chip's statement beside another's endorsement key`(_ kind: SoftChip.Kind) async throws {
        let other = try SoftChip(kind)
        let bank = try await Bank(trusting: chip, other)
        var statement = try await chip.attest(device, at: bank)
        (statement.endorsementKey, statement.certificate) = (other.endorsementKey, other.certificate)
        #expect(await bank.refusal(device, with: statement) == .attestationRefused(.credential))
    }

    @Test func `refuses an attestation key with other attributes than the credential was made for`()
        async throws
    {
        let bank = try await Bank(trusting: chip)
        var statement = try await chip.attest(device, at: bank)
        // noDA, which nothing else looks at.
        statement.attestationKey[statement.attestationKey.startIndex + 6] ^= 4
        #expect(await bank.refusal(device, with: statement) == .attestationRefused(.credential))
    }

    /// An earlier version writes the key, and leaves the column.
    @Test(arguments: StoreKind.all)
    func `does not count what was proven of an earlier key`(_ kind: StoreKind) async throws {
        let bank = try await Bank(kind, trusting: chip)
        let enabled = try await bank.enable(device, with: chip.attest(device, at: bank))
        let text = try #require(enabled.attestation).text(of: device.key)
        #expect(KeyAttestation(text: text, of: device.key) == enabled.attestation)
        #expect(KeyAttestation(text: text, of: Device().key) == nil)
        #expect(KeyAttestation(text: text + " anything", of: device.key) == nil)
        #expect(
            KeyAttestation(text: text.replacingOccurrences(of: "tpm", with: "moon"), of: device.key) == nil
        )
    }
}

/// A TPM made of software whose answers a test makes up; Python opens its credentials.
struct SoftChip: Sendable {
    enum Kind: CaseIterable {
        case p256
        case rsa2048
    }

    enum Endorsement {
        case p256(P256.KeyAgreement.PrivateKey)
        case rsa2048(_RSA.Signing.PrivateKey)
    }

    let endorsement: Endorsement
    let signer = P256.Signing.PrivateKey()
    var certificate = Data(UUID().uuidString.utf8)
    /// fixedTPM, fixedParent, sensitiveDataOrigin, userWithAuth, noDA, restricted, sign.
    var signerAttributes: UInt32 = 0x50472

    private static let endorsementPolicy: [UInt8] = [
        0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8, 0x1a, 0x90, 0xcc, 0x8d, 0x46, 0xa5, 0xd7, 0x24, 0xfd,
        0x52, 0xd7, 0x6e, 0x06, 0x52, 0x0b, 0x64, 0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14, 0x69, 0xaa,
    ]

    /// A chip with an endorsement key of P-256.
    init() { endorsement = .p256(P256.KeyAgreement.PrivateKey()) }

    init(_ kind: Kind) throws {
        endorsement =
            switch kind {
            case .p256: .p256(P256.KeyAgreement.PrivateKey())
            case .rsa2048: .rsa2048(try _RSA.Signing.PrivateKey(keySize: .bits2048))
            }
    }

    var endorsed: EndorsementKey {
        switch endorsement {
        case .p256(let key): .p256(point: key.publicKey.x963Representation)
        case .rsa2048(let key): .rsa2048(modulus: known(try? key.publicKey.getKeyPrimitives()).modulus)
        }
    }

    var endorsementKey: Data {
        let aes: [UInt8] = [0, 6, 0, 128, 0, 0x43, 0, 0x10]
        switch endorsed {
        case .p256(let point): return key(0x300b2, policy: Self.endorsementPolicy, aes, point)
        case .rsa2048(let modulus):
            let heading: [UInt8] = [0, 1, 0, 0x0b, 0, 3, 0, 0xb2, 0, 32]
            return Data(heading + Self.endorsementPolicy + aes + [8, 0, 0, 0, 0, 0, 1, 0]) + modulus
        }
    }

    var attestationKey: Data {
        key(signerAttributes, policy: [], [0, 0x10, 0, 0x18, 0, 0x0b], signer.publicKey.x963Representation)
    }

    private func key(_ attributes: UInt32, policy: [UInt8], _ algorithms: [UInt8], _ point: Data) -> Data {
        let number = withUnsafeBytes(of: attributes.bigEndian) { Array($0) }
        let unique = [0, 32] + point[1..<33] + [0, 32] + point[33...]
        return Data(
            [0, 0x23, 0, 0x0b] + number + [0, UInt8(policy.count)] + policy + algorithms + [0, 3, 0, 0x10]
        ) + unique
    }

    func credential(
        for device: Device,
        at bank: Bank,
        endorsementKey: Data? = nil
    ) async throws(RelyingPartyError) -> AttestationCredential {
        try await bank.party.credential(
            for: device.user,
            device: device.name,
            endorsementKey: endorsementKey ?? self.endorsementKey,
            attestationKey: attestationKey,
            certificate: certificate,
            from: ""
        )
    }

    func attest(_ device: Device, at bank: Bank) async throws -> AttestationStatement {
        try attest(device, answering: await credential(for: device, at: bank))
    }

    /// States that it has made the device's key, which any finger opens.
    func attest(_ device: Device, answering credential: AttestationCredential) throws -> AttestationStatement
    {
        let authority =
            Data([0, 8, 0, 0x0b, 0, 4, 4, 0x72, 0, 0, 0, 5, 0, 0x0b, 0, 32]) + Data(repeating: 7, count: 32)
        var statement = AttestationStatement(
            nonce: credential.nonce,
            endorsementKey: endorsementKey,
            certificate: certificate,
            attestationKey: attestationKey,
            key: Data(),
            authority: authority,
            counter: Data(),
            counterValue: 0,
            passcode: Data(),
            statement: Data(),
            signature: Data()
        )
        let policy = Array(known(KeyPolicy(statement)).digest)
        let point = device.privateKey.publicKey.x963Representation
        // fixedTPM, fixedParent, sensitiveDataOrigin, adminWithPolicy, noDA, decrypt, sign.
        statement.key = key(0x604b2, policy: policy, [0, 0x10, 0, 0x10], point)
        let secret = try open(credential)
        let proof = AttestationStatement.proof(nonce: credential.nonce, secret: secret)
        let name = TPMAlgorithm.name(of: statement.key)
        statement.statement =
            Data([0xff, 0x54, 0x43, 0x47, 0x80, 0x1a, 0, 0, 0, 32]) + proof + Data(count: 25) + Data([0, 34])
            + name
            + Data([0, 32]) + Data(count: 32)
        statement.signature = try signer.signature(for: statement.statement).rawRepresentation
        return statement
    }

    private func open(_ credential: AttestationCredential) throws -> Data {
        let key =
            switch endorsement {
            case .p256(let key): key.derRepresentation
            case .rsa2048(let key): key.derRepresentation
            }
        let given = [
            "credential": credential.credential, "secret": credential.secret, "key": key,
            "name": TPMAlgorithm.name(of: attestationKey),
        ].mapValues { Base64URL.encode($0) }
        let answer = try AttestationVectors.python(["open"], input: JSONEncoder().encode(given))
        return try #require(Base64URL.decode(answer))
    }
}

/// Trusts these chips, by their certificates.
struct KnownChips: EndorsementAuthority {
    let chips: [SoftChip]

    func endorsedKey(in certificate: Data) async -> EndorsementKey? {
        chips.first { $0.certificate == certificate }?.endorsed
    }
}
