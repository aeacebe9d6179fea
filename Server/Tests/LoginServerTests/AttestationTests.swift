// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Foundation
import LoginAssertion
import RelyingParty
import Testing
import X509

@testable import LoginServer

/// Which certificates of endorsement keys the server takes, and what it says of attested keys.
struct `Attestations at the server` {
    private let maker = Maker()
    private let key = P256.Signing.PrivateKey()
    private let anna = basic("anna", "correct horse")

    private func roots(_ certificates: Certificate...) throws -> EndorsementRoots {
        let file = FileManager.default.temporaryDirectory.appending(path: "roots-\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        let pem = try certificates.map { try $0.serializeAsPEM().pemString }.joined(separator: "\n")
        try pem.write(to: file, atomically: false, encoding: .utf8)
        return try EndorsementRoots(file: file.path)
    }

    private func bytes(_ certificate: Certificate) throws -> Data {
        try Data(certificate.serializeAsPEM().derBytes)
    }

    @Test func `a certificate of a maker in the file is taken, and gives its key`() async throws {
        let roots = try roots(Maker().certificate, maker.certificate)
        let found = await roots.endorsedKey(in: try bytes(maker.certify(key.publicKey)))
        #expect(found == .p256(point: key.publicKey.x963Representation))
    }

    @Test func `a certificate for RSA is taken, for the one size and exponent that TPMs are certified for`()
        async throws
    {
        let roots = try roots(maker.certificate)
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048).publicKey
        let certificate = try bytes(maker.certify(.init(key)))
        let modulus = try key.getKeyPrimitives().modulus
        #expect(await roots.endorsedKey(in: certificate) == .rsa2048(modulus: modulus))
        let larger = try _RSA.Signing.PrivateKey(keySize: .bits3072).publicKey
        #expect(await roots.endorsedKey(in: try bytes(maker.certify(.init(larger)))) == nil)
        let other = try _RSA.Signing.PublicKey(n: modulus, e: Data([0x80, 0, 1]))
        #expect(await roots.endorsedKey(in: try bytes(maker.certify(.init(other)))) == nil)
        #expect(await roots.endorsedKey(in: try bytes(Maker().certify(.init(key)))) == nil)
        let curve = try bytes(maker.certify(.init(P384.Signing.PrivateKey().publicKey)))
        #expect(await roots.endorsedKey(in: curve) == nil)
    }

    @Test func `a certificate that a maker's key of RSA has signed is taken`() async throws {
        let root = try Maker(rsa: .bits2048)
        let certificate = try bytes(root.certify(key.publicKey))
        #expect(await (try roots(root.certificate)).endorsedKey(in: certificate) != nil)
        #expect(await (try roots(Maker(rsa: .bits2048).certificate)).endorsedKey(in: certificate) == nil)
    }

    @Test func `an authority below a root is enough, and one that the file does not name is not`()
        async throws
    {
        let below = Maker(under: maker)
        let certificate = try bytes(below.certify(key.publicKey))
        #expect(await (try roots(below.certificate)).endorsedKey(in: certificate) != nil)
        #expect(await (try roots(maker.certificate)).endorsedKey(in: certificate) == nil)
    }

    @Test func `a certificate of another maker of the same name is refused`() async throws {
        let certificate = try bytes(Maker().certify(key.publicKey))
        #expect(await (try roots(maker.certificate)).endorsedKey(in: certificate) == nil)
    }

    @Test func `a certificate that has ended, has not begun, or is for something else is refused`()
        async throws
    {
        let roots = try roots(maker.certificate)
        let now = Date()
        let refused = [
            try maker.certify(key.publicKey, from: now - 200, to: now - 100),
            try maker.certify(key.publicKey, from: now + 100, to: now + 200),
            try maker.certify(key.publicKey, for: [1, 3, 6, 1, 5, 5, 7, 3, 1]),
            try maker.certify(key.publicKey, for: nil),
            maker.certificate,
        ]
        for certificate in refused {
            #expect(await roots.endorsedKey(in: try bytes(certificate)) == nil)
        }
    }

    @Test func `what is no certificate, or has a byte more or another bit, is refused`() async throws {
        let roots = try roots(maker.certificate)
        // Only a signature that ends with a bit of 0 can be said to have an unused bit.
        var certificate = Data([1])
        while certificate.last?.isMultiple(of: 2) == false {
            certificate = try bytes(maker.certify(key.publicKey))
        }
        var refused = [Data(), Data(repeating: 0x30, count: 100), certificate + [0], certificate.dropLast()]
        for bit in 0..<certificate.count * 8 {
            var changed = certificate
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            refused.append(changed)
        }
        for certificate in refused { #expect(await roots.endorsedKey(in: certificate) == nil) }
    }

    @Test func `a file without certificates, and no file, is told at the start`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "roots-\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(throws: ServerError.self) { try EndorsementRoots(file: file.path) }
        try "nothing".write(to: file, atomically: false, encoding: .utf8)
        #expect(throws: ServerError.self) { try EndorsementRoots(file: file.path) }
    }

    @Test func `a policy without makers, and makers without a policy, are told at the start`() async {
        await #expect(throws: ServerError.self) {
            try await TestServer { $0.relyingParty.attestationPolicy = .allow }
        }
        await #expect(throws: ServerError.self) { try await TestServer { $0.attestationRoots = "/dev/null" } }
    }

    @Test func `none is taken by itself`() async throws {
        try await withServer { _, client in
            let answer = try await credential(client, certificate: bytes(maker.certify(key.publicKey)))
            #expect(answer.status == 403 && answer.code == "attestation_refused")
        }
    }

    @Test func `a credential is made for a chip of a maker that is trusted, and for no other`() async throws {
        try await withServer(.allow) { _, client in
            let made = try await credential(client, certificate: bytes(maker.certify(key.publicKey)))
            #expect(made.status == 201, "\(made.text)")
            #expect(Set(made.json.keys) == ["nonce", "credential", "secret", "expiresAt"])
            let other = try await credential(client, certificate: bytes(Maker().certify(key.publicKey)))
            #expect(other.status == 403 && other.code == "attestation_refused")
            let thief = P256.Signing.PrivateKey().publicKey
            let stolen = try await credential(client, certificate: bytes(maker.certify(thief)))
            #expect(stolen.status == 403 && stolen.code == "attestation_refused")
        }
    }

    @Test func `a credential is made for a chip with a key of RSA, and its certificate is no other chip's`()
        async throws
    {
        try await withServer(.allow) { _, client in
            let keys = try (0..<2).map { _ in try _RSA.Signing.PrivateKey(keySize: .bits2048).publicKey }
            let areas = try keys.map { try Self.area(ofRSA: $0) }
            let certificate = try bytes(maker.certify(.init(keys[0])))
            let made = try await credential(client, certificate: certificate, endorsementKey: areas[0])
            #expect(made.status == 201, "\(made.text)")
            let seed = try #require((made.json["secret"] as? String).flatMap { Base64URL.decode($0) })
            #expect(seed.count == 256)
            for area in [areas[1], nil] {
                let stolen = try await credential(client, certificate: certificate, endorsementKey: area)
                #expect(stolen.status == 403 && stolen.code == "attestation_refused")
            }
        }
    }

    @Test func `where one is required, a key without it is not enabled`() async throws {
        try await withServer(.require) { server, client in
            let device = try TestDevice("anna", "laptop")
            let answer = try await device.enable(client, at: server.clock.seconds, authorization: anna)
            #expect(answer.status == 403 && answer.code == "attestation_required")
        }
    }

    @Test func `bytes that are no attestation are malformed`() async throws {
        try await withServer(.allow) { server, client in
            let device = try TestDevice("anna", "laptop")
            let challenge = try await device.challenge(client, .enable)
            let json = [
                "assertion": try device.assertion(challenge, .enable, at: server.clock.seconds),
                "publicKey": device.publicKey, "name": "laptop", "attestation": "AAAA",
            ]
            let answer = try await client.send("POST", "/v1/devices", json: json, authorization: anna)
            #expect(answer.status == 400 && answer.code == "malformed")
        }
    }

    @Test func `the tokens of an attested key say so, and it is a second factor only once it is approved`()
        async throws
    {
        try await withServer(.allow) { server, client in
            let now = server.clock.seconds
            let device = try TestDevice("anna", "laptop")
            let proof = KeyAttestation(
                level: .tpm,
                fingers: .current,
                takesPasscode: true,
                policy: Data(repeating: 7, count: 32)
            )
            try await server.register(device, proof)
            let first = try await claims(device.signIn(client, at: now, password: "correct horse"))
            #expect(first["amr"] as? [String] == ["hwk", "fpt", "pwd"])
            let attestation = try #require(first["attestation"] as? [String: Any])
            #expect(attestation["level"] as? String == "tpm")
            #expect(attestation["opens_for"] as? [String] == ["current_fingers", "passcode"])
            #expect(attestation["policy"] as? String == Base64URL.encode(proof.policy))
            let devices = DevicesCommand(store: try server.store())
            try await devices.approve(device.name, of: device.user, keyID: try device.keyID)
            let second = try await claims(device.signIn(client, at: now, password: "correct horse"))
            #expect(second["amr"] as? [String] == ["hwk", "fpt", "pwd", "mfa"])
        }
    }

    // MARK: Parts

    /// PolicySecret of the endorsement hierarchy.
    private static let policy: [UInt8] = [
        0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8, 0x1a, 0x90, 0xcc, 0x8d, 0x46, 0xa5, 0xd7, 0x24, 0xfd,
        0x52, 0xd7, 0x6e, 0x06, 0x52, 0x0b, 0x64, 0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14, 0x69, 0xaa,
    ]

    /// The public area of an endorsement key of the TCG's template for RSA.
    private static func area(ofRSA key: _RSA.Signing.PublicKey) throws -> [UInt8] {
        let parameters: [UInt8] = [0, 6, 0, 128, 0, 0x43, 0, 0x10, 8, 0, 0, 0, 0, 0, 1, 0]
        return [0, 1, 0, 0x0b, 0, 3, 0, 0xb2, 0, 32] + policy + parameters
            + (try key.getKeyPrimitives().modulus)
    }

    private func withServer(
        _ policy: RelyingParty.Configuration.AttestationPolicy = .none,
        _ work: @Sendable (TestServer, TestClient) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "roots-\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        try maker.certificate.serializeAsPEM().pemString.write(to: file, atomically: false, encoding: .utf8)
        let server = try await TestServer {
            $0.relyingParty.attestationPolicy = policy
            $0.attestationRoots = policy == .none ? nil : file.path
        }
        let name = try #require(LoginName("anna"))
        try await server.service.accounts.add(name, password: "correct horse")
        try await server.run { client in try await work(server, client) }
    }

    private func credential(
        _ client: TestClient,
        certificate: Data,
        endorsementKey: [UInt8]? = nil
    ) async throws -> TestClient.Answer {
        let point = key.publicKey.x963Representation
        let unique = [0, 32] + point[1..<33] + [0, 32] + point[33...]
        // The TCG's template, and a restricted key that signs.
        let endorsement: [UInt8] =
            [0, 0x23, 0, 0x0b, 0, 3, 0, 0xb2, 0, 32] + Self.policy
            + [0, 6, 0, 128, 0, 0x43, 0, 0x10, 0, 3, 0, 0x10] + unique
        let attestation: [UInt8] =
            [0, 0x23, 0, 0x0b, 0, 5, 4, 0x72, 0, 0, 0, 0x10, 0, 0x18, 0, 0x0b, 0, 3, 0, 0x10] + unique
        let json = [
            "user": "anna", "device": "laptop",
            "endorsementKey": Base64URL.encode(endorsementKey ?? endorsement),
            "certificate": Base64URL.encode(certificate), "attestationKey": Base64URL.encode(attestation),
        ]
        return try await client.send("POST", "/v1/attestations", json: json)
    }

    private func claims(_ answer: TestClient.Answer) throws -> [String: Any] {
        let token = try #require(answer.json["token"] as? String, "\(answer.text)")
        let payload = try #require(token.split(separator: ".").dropFirst().first)
        let json = try #require(Base64URL.decode(String(payload)))
        return try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    }
}

extension TestServer {
    /// Registers a device as if its chip had proven something.
    fileprivate func register(_ device: TestDevice, _ proof: KeyAttestation) async throws {
        let entry = AuditEntry(at: 1, event: .enabled, user: device.user, device: device.name, address: "")
        let registered = RegisteredDevice(
            user: device.user,
            device: device.name,
            key: try #require(LoginKey(der: device.key.publicKey.derRepresentation)),
            name: "laptop",
            enabledAt: 1,
            lastUsedAt: nil,
            domainState: device.domainState,
            attestation: proof
        )
        let nonce = try #require(Nonce(expiresAt: clock.seconds + 60, unique: Data(count: 12)))
        let result = try await store().register(
            registered,
            using: nonce,
            provided: nil,
            atMost: 9,
            audit: entry
        )
        #expect(result == .registered)
    }
}

/// An authority of a maker of TPMs.
private struct Maker: Sendable {
    private let key: Certificate.PrivateKey
    let certificate: Certificate

    /// Makes a root, or an authority below one.
    init(under root: Maker? = nil) {
        self.init(key: .init(P256.Signing.PrivateKey()), under: root)
    }

    /// Makes a root with a key of RSA.
    init(rsa size: _RSA.Signing.KeySize) throws {
        self.init(key: .init(try _RSA.Signing.PrivateKey(keySize: size)), under: nil)
    }

    private init(key: Certificate.PrivateKey, under root: Maker?) {
        self.key = key
        let isRSA = key.publicKey.description.hasPrefix("RSA")
        let name = root == nil ? "A maker of TPMs" : "A plant of the maker"
        do {
            certificate = try Certificate(
                version: .v3,
                serialNumber: .init(),
                publicKey: key.publicKey,
                notValidBefore: Date() - 1_000,
                notValidAfter: Date() + 1_000_000,
                issuer: try root?.certificate.subject ?? DistinguishedName { CommonName(name) },
                subject: try DistinguishedName { CommonName(name) },
                signatureAlgorithm: isRSA ? .sha256WithRSAEncryption : .ecdsaWithSHA256,
                extensions: try .init {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                    Critical(KeyUsage(keyCertSign: true))
                },
                issuerPrivateKey: root?.key ?? key
            )
        } catch {
            preconditionFailure("a test's own certificate: \(error)")
        }
    }

    func certify(
        _ endorsement: P256.Signing.PublicKey,
        from: Date = Date() - 1_000,
        to: Date = Date() + 1_000,
        for purpose: [UInt]? = [2, 23, 133, 8, 1]
    ) throws -> Certificate {
        try certify(.init(endorsement), from: from, to: to, for: purpose)
    }

    /// Certifies an endorsement key, with an empty subject and a critical alternative name, as the TCG wants it.
    func certify(
        _ endorsement: Certificate.PublicKey,
        from: Date = Date() - 1_000,
        to: Date = Date() + 1_000,
        for purpose: [UInt]? = [2, 23, 133, 8, 1]
    ) throws -> Certificate {
        try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: endorsement,
            notValidBefore: from,
            notValidAfter: to,
            issuer: certificate.subject,
            subject: DistinguishedName(),
            signatureAlgorithm: certificate.signatureAlgorithm,
            extensions: try .init {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(keyEncipherment: true, keyAgreement: true))
                Critical(
                    SubjectAlternativeNames([.directoryName(try DistinguishedName { CommonName("swtpm") })])
                )
                if let purpose {
                    try ExtendedKeyUsage([.init(oid: .init(elements: purpose))])
                }
            },
            issuerPrivateKey: key
        )
    }
}
