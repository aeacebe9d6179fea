// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import Foundation
import LoginTransport
import RelyingParty
import Synchronization

/// The relying party that servers use, as a transport: all but passwords and HTTP.
final class RealServer: LoginTransport {
    let origin: LoginOrigin
    let party: RelyingParty
    private let user: LoginName
    private let folder: URL
    private let change = Mutex<(@Sendable ([String: String]) -> [String: String])?>(nil)

    /// Makes a server that takes attestations of TPMs with these certificates.
    init(of user: LoginName, trusting certificates: [[UInt8]]) throws {
        guard let origin = LoginOrigin("https://bank.example") else { throw FakeServer.NotOurs() }
        self.origin = origin
        self.user = user
        folder = FileManager.default.temporaryDirectory.appending(path: "relying-party-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        var configuration = RelyingParty.Configuration(origin: origin)
        configuration.attestationPolicy = .require
        party = RelyingParty(
            store: try SQLiteRelyingPartyStore(
                path: folder.appending(path: "login.sqlite").path,
                ifMissing: .create
            ),
            configuration: configuration,
            endorsements: KnownCertificates(certificates: certificates)
        )
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Changes what devices send to enable a key, on its way.
    func onEnabling(_ change: @escaping @Sendable ([String: String]) -> [String: String]) {
        self.change.withLock { $0 = change }
    }

    func send(_ request: LoginRequest) async throws -> LoginResponse {
        let sent = request.body.flatMap { box in
            (try? JSONSerialization.jsonObject(with: box.bytes.withUnsafeBytes { Data($0) }))
                as? [String: String]
        }
        guard let body = sent else { return .problem(400, "malformed") }
        do {
            switch request.path {
            case "/v1/challenges": return try await challenge(body)
            case "/v1/attestations": return try await credential(body)
            case "/v1/devices": return try await enable(change.withLock { $0 }?(body) ?? body)
            default: return .problem(404, "not_found")
            }
        } catch let error as RelyingPartyError {
            return .problem(403, error.word.hasPrefix("attestation_") ? "attestation_refused" : error.word)
        }
    }

    private func bytes(_ body: [String: String], _ name: String) throws -> Data {
        guard let bytes = body[name].flatMap({ Base64URL.decode($0) }) else { throw FakeServer.NotOurs() }
        return bytes
    }

    private func device(_ body: [String: String]) throws -> LoginName {
        guard let device = body["device"].flatMap(LoginName.init) else { throw FakeServer.NotOurs() }
        return device
    }

    private func challenge(_ body: [String: String]) async throws -> LoginResponse {
        let issued = try await party.challenge(
            for: user,
            device: try device(body),
            purpose: .enable,
            from: ""
        )
        return .json(201, FakeServer.challenge(issued.challenge, origin.text))
    }

    private func credential(_ body: [String: String]) async throws -> LoginResponse {
        let made = try await party.credential(
            for: user,
            device: try device(body),
            endorsementKey: try bytes(body, "endorsementKey"),
            attestationKey: try bytes(body, "attestationKey"),
            certificate: try bytes(body, "certificate"),
            from: ""
        )
        return .json(
            201,
            [
                "nonce": Base64URL.encode(made.nonce), "credential": Base64URL.encode(made.credential),
                "secret": Base64URL.encode(made.secret), "expiresAt": made.expiresAt,
            ]
        )
    }

    private func enable(_ body: [String: String]) async throws -> LoginResponse {
        let registered = try await party.enable(
            assertion: body["assertion"] ?? "",
            publicKey: try bytes(body, "publicKey"),
            name: body["name"] ?? "",
            as: user,
            from: "",
            attestation: AttestationStatement(encoded: try bytes(body, "attestation"))
        )
        return .json(
            201,
            [
                "user": registered.user.text, "device": registered.device.text, "keyID": registered.keyID,
                "name": registered.name, "enabledAt": registered.enabledAt,
            ]
        )
    }
}

/// Trusts these certificates, whose keys are of P-256 or RSA.
private struct KnownCertificates: EndorsementAuthority {
    let certificates: [[UInt8]]

    func endorsedKey(in certificate: Data) async -> EndorsementKey? {
        guard certificates.contains(Array(certificate)) else { return nil }
        // id-ecPublicKey, prime256v1, and a bit string of 66 bytes.
        let heading = Data([
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
            0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ])
        if let start = certificate.range(of: heading) {
            return .p256(point: Data(certificate[start.upperBound...].prefix(65)))
        }
        // rsaEncryption, and a bit string with a modulus of 257 bytes, of which the first is zero.
        let rsaHeading = Data([
            0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00, 0x03,
            0x82, 0x01, 0x0f, 0x00, 0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01, 0x00,
        ])
        return certificate.range(of: rsaHeading).map { start in
            .rsa2048(modulus: Data(certificate[start.upperBound...].prefix(256)))
        }
    }
}
