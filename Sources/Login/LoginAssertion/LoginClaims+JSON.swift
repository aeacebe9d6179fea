// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension LoginClaims {
    /// The prefix of the thumbprint in `iss` (RFC 9278).
    private static let issuerPrefix = "urn:ietf:params:oauth:jwk-thumbprint:sha-256:"

    /// The members as received, with their types.
    private struct Members: Decodable {
        var app: [String: String]?
        var aud: String
        var device: String
        var domain: String?
        var exp: Int
        var iat: Int
        var iss: String
        var jti: String
        var method: Method
        var nonce: String
        var purpose: Purpose
        var service: String?
        var sub: String
    }

    /// The claims as canonical JSON.
    var json: [UInt8] {
        var members: [String: CanonicalJSON] = [
            "aud": .text(origin.text),
            "device": .text(device.text),
            "exp": .number(expiresAt),
            "iat": .number(issuedAt),
            "iss": .text(Self.issuerPrefix + keyID),
            "jti": .text(Base64URL.encode(id)),
            "method": .text(method.rawValue),
            "nonce": .text(Base64URL.encode(challenge)),
            "purpose": .text(purpose.rawValue),
            "sub": .text(user.text),
        ]
        if let domainState { members["domain"] = .text(Base64URL.encode(domainState)) }
        if let service { members["service"] = .text(service) }
        if !app.isEmpty { members["app"] = .object(app.mapValues(CanonicalJSON.text)) }
        return CanonicalJSON.object(members).bytes
    }

    /// Reads claims; `nil` for anything but their canonical JSON.
    init?(json: Data) {
        guard let members = try? JSONDecoder().decode(Members.self, from: json),
            members.iss.hasPrefix(Self.issuerPrefix),
            let origin = LoginOrigin(members.aud),
            let user = LoginName(members.sub),
            let device = LoginName(members.device),
            let challenge = Base64URL.decode(members.nonce),
            let id = Base64URL.decode(members.jti)
        else { return nil }
        let (lifetime, overflow) = members.exp.subtractingReportingOverflow(members.iat)
        guard !overflow else { return nil }
        var domainState: Data?
        if let domain = members.domain {
            guard let digest = Base64URL.decode(domain) else { return nil }
            domainState = digest
        }
        self.init(
            origin: origin,
            user: user,
            device: device,
            keyID: String(members.iss.dropFirst(Self.issuerPrefix.count)),
            purpose: members.purpose,
            challenge: challenge,
            issuedAt: members.iat,
            lifetime: lifetime,
            id: id,
            domainState: domainState,
            method: members.method,
            app: members.app ?? [:],
            service: members.service
        )
        guard self.json.elementsEqual(json) else { return nil }
    }
}
