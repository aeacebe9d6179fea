// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The claims that a device signs: server, user, device, key and challenge (Docs/LoginProtocol.md).
public struct LoginClaims: Sendable, Hashable {
    /// The purpose of a signature, which is not valid for any other purpose.
    public enum Purpose: String, Sendable, Hashable, Codable, CaseIterable {
        /// Registering the key with the server.
        case enable
        /// Signing in.
        case login
    }

    /// The method that was used to authenticate the owner of the device.
    public enum Method: String, Sendable, Hashable, Codable, CaseIterable {
        /// A finger.
        case finger
        /// The device's passcode.
        case passcode
    }

    /// The maximum lifetime of an assertion, in seconds.
    public static let longestLifetime = 60
    /// The maximum size of the JSON in bytes, so that an assertion is no longer than ``UnverifiedAssertion/longest``.
    static let longestJSON = (UnverifiedAssertion.longest - 256) * 3 / 4
    /// The size of a challenge in bytes.
    public static let challengeSize = 32

    /// `aud`: the server that may accept the assertion.
    public let origin: LoginOrigin
    /// `sub`: the user who signs in.
    public let user: LoginName
    /// `device`: the device that signs.
    public let device: LoginName
    /// `iss` and the header's `kid`: the thumbprint of the signing key.
    public let keyID: String
    /// `purpose`: the purpose of the signature.
    public let purpose: Purpose
    /// `nonce`: the server's challenge, 32 bytes.
    public let challenge: Data
    /// `iat`: the time of issue, in seconds since 1970.
    public let issuedAt: Int
    /// `exp`: the time of expiry, in seconds since 1970, 1 to 60 seconds after ``issuedAt``.
    public let expiresAt: Int
    /// `jti`: the ID of the assertion, 16 random bytes.
    public let id: Data
    /// `domain`: the digest of the enrolled fingers for this program, 32 bytes; `nil` if no finger is enrolled.
    public let domainState: Data?
    /// `method`: the method that was used to authenticate the owner.
    public let method: Method
    /// `app`: additional claims from the app.
    public let app: [String: String]
    /// `service`: the service that the session token is for; `nil` for the login server itself.
    ///
    /// The claim is signed by the device, so that an assertion for one service is not valid for another.
    public let service: String?

    /// Returns whether a text is a valid service name: 1 to 255 visible ASCII characters, such as a URL.
    public static func isService(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (33...126).contains($0) }
    }

    /// Creates claims; returns `nil` if a value has the wrong size or range.
    ///
    /// The lifetime is 1 to 60 seconds. The app may add at most 16 claims, with names of 1 to 32 characters from
    /// `a`–`z`, `0`–`9` and `_`, and values of at most 256 bytes. All claims together must fit into an assertion (5,952
    /// bytes of JSON). If the method is a finger, a domain state is required.
    public init?(
        origin: LoginOrigin,
        user: LoginName,
        device: LoginName,
        keyID: String,
        purpose: Purpose,
        challenge: Data,
        issuedAt: Int,
        lifetime: Int = longestLifetime,
        id: Data,
        domainState: Data?,
        method: Method,
        app: [String: String] = [:],
        service: String? = nil
    ) {
        guard Base64URL.decode(keyID)?.count == 32, challenge.count == Self.challengeSize,
            (0...253_402_300_799).contains(issuedAt), (1...Self.longestLifetime).contains(lifetime),
            id.count == 16, domainState.map({ $0.count == 32 }) ?? true,
            method == .passcode || domainState != nil, app.count <= 16,
            service.map(Self.isService) ?? true,
            app.allSatisfy({ name, value in
                (1...32).contains(name.utf8.count) && value.utf8.count <= 256
                    && name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }
            })
        else { return nil }
        self.origin = origin
        self.user = user
        self.device = device
        self.keyID = keyID
        self.purpose = purpose
        self.challenge = challenge
        self.issuedAt = issuedAt
        self.expiresAt = issuedAt + lifetime
        self.id = id
        self.domainState = domainState
        self.method = method
        self.app = app
        self.service = service
        // All other claims are short.
        guard app.isEmpty || json.count <= Self.longestJSON else { return nil }
    }
}

extension LoginClaims {
    /// The prefix of the thumbprint in `iss` (RFC 9278).
    private static let issuerPrefix = "urn:ietf:params:oauth:jwk-thumbprint:sha-256:"

    /// The members of the JSON object as received, with their types.
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

    /// Parses claims; returns `nil` unless the input is their canonical JSON.
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
