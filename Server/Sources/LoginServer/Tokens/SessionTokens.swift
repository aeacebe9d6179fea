// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import JWTKit
internal import LoginAssertion
internal import Synchronization

/// Writes and reads session tokens: JWTs with ES256 (RFC 7519, RFC 7518).
final class SessionTokens: Sendable {
    /// The longest token that is looked at, in bytes: one may hold all that the app says in the longest assertion
    /// (8,192 bytes), and names the origin once more.
    static let longest = 9 * 1024
    /// By how many seconds the clocks of two instances may differ.
    static let clockSkew = 30

    private struct State {
        /// `nil` where the key file does not open those in the database.
        var keys: TokenKeySet?
        var signers: JWTKeyCollection
        var readAt: Int
    }

    private let origin: LoginOrigin
    private let store: TokenKeyStore
    private let state: Mutex<State>

    /// Reads the keys.
    init(origin: LoginOrigin, store: TokenKeyStore, at now: Int) async throws {
        self.origin = origin
        self.store = store
        let keys = try await store.maintain(at: now)
        state = Mutex(State(keys: keys, signers: try await Self.signers(keys), readAt: now))
    }

    /// Reads the keys again and does what is due.
    ///
    /// - Throws: ``ServerError`` where the key file does not open the keys, or there are none; those that were known are
    ///   dropped then, since somebody has replaced them together with the key file, or the whole database. The store's
    ///   error, after which they stay.
    func maintain(at now: Int) async throws {
        let keys: TokenKeySet
        do {
            keys = try await store.maintain(at: now)
        } catch let error as ServerError where [.keyFile, .noKeys].contains(error.code) {
            state.withLock { $0 = State(keys: nil, signers: JWTKeyCollection(), readAt: now) }
            throw error
        }
        let isKnown = state.withLock { state in
            state.readAt = now
            return state.keys == keys
        }
        if isKnown { return }
        let signers = try await Self.signers(keys)
        state.withLock { $0 = State(keys: keys, signers: signers, readAt: now) }
    }

    /// Writes a token.
    ///
    /// - Parameters:
    ///   - user: Who signed in.
    ///   - audience: Whom the token is for; `nil` for the server itself.
    ///   - device: With which device; `nil` for a password.
    ///   - credential: The thumbprint of the device's key, or the name of the password.
    ///   - methods: How the user was recognised (RFC 8176).
    ///   - app: What the app said besides.
    ///   - lifetime: Seconds.
    ///   - now: Seconds since 1970.
    /// - Returns: The token, and when it is over.
    /// - Throws: ``Problem`` where there is no key to sign with.
    func issue(
        for user: LoginName,
        audience: String? = nil,
        device: LoginName?,
        credential: String,
        methods: [String],
        app: [String: String] = [:],
        lifetime: Int,
        at now: Int
    ) async throws -> (token: String, expiresAt: Int) {
        let (key, signers) = state.withLock { ($0.keys?.signing(at: now), $0.signers) }
        guard let key else { throw Self.noKeys }
        let claims = SessionClaims(
            iss: origin.text,
            aud: audience ?? origin.text,
            sub: user.text,
            device: device?.text,
            credential: credential,
            iat: now,
            exp: now + lifetime,
            jti: Base64URL.encode(SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }),
            amr: methods,
            app: app.isEmpty ? nil : app
        )
        return (try await signers.sign(claims, kid: JWKIdentifier(string: key.id)), claims.exp)
    }

    /// What a token says; `nil` for one that this server did not sign, that is for a service, that is over, or that is no
    /// token.
    ///
    /// Whether its device and its user still are is for the caller to see to.
    ///
    /// - Throws: ``Problem`` where there are no keys, and the store's error.
    func verify(_ token: String, at now: Int) async throws -> SessionClaims? {
        guard let id = Self.keyID(of: token) else { return nil }
        var (isKnown, readAt) = state.withLock { ($0.keys?.key(id) != nil, $0.readAt) }
        if !isKnown, readAt < now {
            // Another instance may have a new one. It is looked for once a second or so: anybody can name a key.
            try await maintain(at: now)
            isKnown = state.withLock { $0.keys?.key(id) != nil }
        }
        try requireKeys()
        let signers = state.withLock { $0.signers }
        guard isKnown, let claims = try? await signers.verify(token, as: SessionClaims.self),
            claims.iss == origin.text, [origin.text, origin.credentialsService].contains(claims.aud),
            claims.iat <= now + Self.clockSkew, now < claims.exp,
            claims.exp - claims.iat <= TokenKeySet.longestTokenLifetime
        else { return nil }
        return claims
    }

    /// - Throws: ``Problem`` where there are no keys.
    func requireKeys() throws(Problem) {
        guard state.withLock({ $0.keys != nil }) else { throw Self.noKeys }
    }

    private static let noKeys = Problem(
        .unavailable,
        "The server has no keys for sessions; its log says why."
    )

    /// The public halves, as a verifier takes them (RFC 7517).
    ///
    /// - Throws: ``Problem`` where there are no keys.
    func published() throws(Problem) -> JSONWebKeySet {
        guard let keys = state.withLock({ $0.keys }) else { throw Self.noKeys }
        return JSONWebKeySet(keys: keys.keys.compactMap(JSONWebKey.init))
    }

    private static func signers(_ keys: TokenKeySet) async throws -> JWTKeyCollection {
        let signers = JWTKeyCollection()
        // Its own encoder would write a slash as two characters.
        let serializer = DefaultJWTSerializer(jsonEncoder: JSON.encoder)
        for key in keys.keys {
            let backing = try P256.Signing.PrivateKey(rawRepresentation: key.scalar)
            await signers.add(
                ecdsa: try ES256PrivateKey(backing: backing),
                kid: JWKIdentifier(string: key.id),
                serializer: serializer
            )
        }
        return signers
    }

    private struct Header: Decodable {
        let alg: String
        let kid: String
        let typ: String
    }

    /// The key that a token names.
    ///
    /// The algorithm is not the token's to choose, nor is a key to be brought along.
    private static func keyID(of token: String) -> String? {
        guard token.utf8.count <= longest else { return nil }
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, Base64URL.decode(parts[1]) != nil, Base64URL.decode(parts[2])?.count == 64,
            let json = Base64URL.decode(parts[0]), !json.contains(0),
            let header = try? JSONDecoder().decode(Header.self, from: json),
            header.alg == "ES256", header.typ == "JWT"
        else { return nil }
        return header.kid
    }
}

/// A key set as it is published (RFC 7517, 5).
struct JSONWebKeySet: Encodable {
    let keys: [JSONWebKey]
}

/// A public key of P-256 (RFC 7518, 6.2.1).
struct JSONWebKey: Encodable {
    let kty = "EC"
    let crv = "P-256"
    let use = "sig"
    let alg = "ES256"
    let kid: String
    let x: String
    let y: String

    init?(_ key: TokenKey) {
        guard
            let point = try? P256.Signing.PrivateKey(rawRepresentation: key.scalar).publicKey
                .x963Representation
        else { return nil }
        kid = key.id
        x = Base64URL.encode(point.dropFirst().prefix(32))
        y = Base64URL.encode(point.suffix(32))
    }
}
