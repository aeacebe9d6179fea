// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LoginAssertion
internal import LoginTransport
internal import WhorlSecretMemory
internal import WhorlService

/// A credential, other than the key, that identifies the user to a server.
public enum LoginCredential: Sendable {
    /// The user's password on the server, in UTF-8.
    case password(SecretBox)
    /// A session token requested for the service `LoginOrigin.credentialsService`: no other token can be used to change
    /// a user's keys. To enable a login, the token must be no more than one minute old.
    case session(SecretBox)

    /// Returns the value of the header field `Authorization`.
    func authorization(of user: LoginName) throws(LoginError) -> SecretBox {
        switch self {
        case .password(let password):
            guard !user.text.contains(":") else { throw LoginError(.userUnusable) }
            return .joined("Basic ", base64: [SecretBox(plain: user.text + ":"), password])
        case .session(let token):
            // It becomes a header's value unchanged, so it must not contain a line ending.
            guard token.isTokenText else { throw LoginError(.unauthorized) }
            return .joined([SecretBox(plain: "Bearer "), token])
        }
    }
}

extension LoginRequest {
    static func challenge(
        for user: LoginName,
        on device: LoginName,
        _ purpose: LoginClaims.Purpose,
        to origin: LoginOrigin
    ) -> LoginRequest {
        let body = JSONText.object([
            ("user", .text(user.text)), ("device", .text(device.text)), ("purpose", .text(purpose.rawValue)),
        ])
        return LoginRequest(to: origin, .post, "/v1/challenges", body: body)
    }

    static func enable(
        _ assertion: String,
        key: LoginKey,
        name: String,
        attestation: AttestationStatement?,
        authorization: SecretBox,
        to origin: LoginOrigin
    ) -> LoginRequest {
        var members: [(String, JSONText.Value)] = [
            ("assertion", .text(assertion)), ("publicKey", .text(Base64URL.encode(key.der))),
            ("name", .text(name)),
        ]
        if let attestation { members.append(("attestation", .text(Base64URL.encode(attestation.encoded)))) }
        let body = JSONText.object(members)
        return LoginRequest(to: origin, .post, "/v1/devices", authorization: authorization, body: body)
    }

    static func credential(
        for user: LoginName,
        on device: LoginName,
        _ identity: ChipIdentity,
        to origin: LoginOrigin
    ) -> LoginRequest {
        let body = JSONText.object([
            ("user", .text(user.text)), ("device", .text(device.text)),
            ("endorsementKey", .text(Base64URL.encode(identity.endorsementKey))),
            ("certificate", .text(Base64URL.encode(identity.certificate))),
            ("attestationKey", .text(Base64URL.encode(identity.attestationKey))),
        ])
        return LoginRequest(to: origin, .post, "/v1/attestations", body: body)
    }

    static func signIn(_ assertion: String, password: SecretBox?, to origin: LoginOrigin) -> LoginRequest {
        var members: [(String, JSONText.Value)] = [("assertion", .text(assertion))]
        if let password { members.append(("password", .secret(password))) }
        return LoginRequest(to: origin, .post, "/v1/sessions", body: JSONText.object(members))
    }

    static func revoke(_ device: LoginName, authorization: SecretBox, to origin: LoginOrigin) -> LoginRequest
    {
        // Device names come from this module: 16 bytes in Base64url.
        LoginRequest(to: origin, .delete, "/v1/devices/\(device.text)", authorization: authorization)
    }
}

/// A JSON object of strings that is written directly to locked memory, because a string may be a password.
enum JSONText {
    enum Value {
        case text(String)
        case secret(SecretBox)
    }

    static func object(_ members: [(name: String, value: Value)]) -> SecretBox {
        var size = 2
        for (name, value) in members {
            // Each byte is encoded in at most six bytes.
            size += name.utf8.count + 6 + 6 * value.size
        }
        var room = SecretBuffer(capacity: size)
        var separator = UInt8(ascii: "{")
        for (name, value) in members {
            _ = room.append(separator)
            separator = UInt8(ascii: ",")
            quote(name.utf8, &room)
            _ = room.append(UInt8(ascii: ":"))
            switch value {
            case .text(let text): quote(text.utf8, &room)
            case .secret(let box): box.bytes.withUnsafeBytes { quote($0, &room) }
            }
        }
        _ = room.append(UInt8(ascii: "}"))
        return SecretBox(room.take())
    }

    private static func quote(_ bytes: some Sequence<UInt8>, _ room: inout SecretBuffer) {
        let digits = Array("0123456789abcdef".utf8)
        _ = room.append(UInt8(ascii: "\""))
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                _ = room.append(UInt8(ascii: "\\"))
                _ = room.append(byte)
            case 0..<0x20:
                room.append(contentsOf: "\\u00".utf8)
                _ = room.append(digits[Int(byte >> 4)])
                _ = room.append(digits[Int(byte & 15)])
            default: _ = room.append(byte)
            }
        }
        _ = room.append(UInt8(ascii: "\""))
    }
}

extension JSONText.Value {
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .secret(let box): box.bytes.count
        }
    }
}

extension SecretBox {
    /// Creates a box with a text that is not secret.
    convenience init(plain text: String) {
        let bytes = Array(text.utf8)
        self.init(SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) })
    }

    /// Whether the text consists of 1 to 12,288 characters that are allowed in a bearer token (RFC 6750, 2.1); none of
    /// them can end a header line or a JSON string.
    var isTokenText: Bool {
        (1...12_288).contains(bytes.count)
            && bytes.withUnsafeBytes { bytes in
                bytes.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
                        UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"),
                        UInt8(ascii: "="):
                        true
                    default: false
                    }
                }
            }
    }

    static func joined(_ parts: [SecretBox]) -> SecretBox {
        var room = SecretBuffer(capacity: max(1, parts.reduce(0) { $0 + $1.bytes.count }))
        for part in parts { room.append(contentsOf: part.bytes) }
        return SecretBox(room.take())
    }

    /// Returns `prefix`, followed by the concatenated parts in Base64 with padding (RFC 4648, 4).
    static func joined(_ prefix: String, base64 parts: [SecretBox]) -> SecretBox {
        let whole = joined(parts)
        let size = SecretBuffer.base64Size(of: whole.bytes.count)
        var room = SecretBuffer(capacity: max(1, prefix.utf8.count + size))
        room.append(contentsOf: prefix.utf8)
        whole.bytes.withUnsafeBytes { _ = room.append(base64: $0) }
        return SecretBox(room.take())
    }
}
