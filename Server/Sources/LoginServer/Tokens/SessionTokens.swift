// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import JWTKit
internal import LoginAssertion
internal import RelyingParty
internal import Synchronization

/// Creates and verifies session tokens: JWT access tokens (RFC 9068) with ES256 (RFC 7518).
final class SessionTokens: Sendable {
    /// The maximum length of a token, in bytes: it may contain all app claims of the longest assertion (8,192 bytes),
    /// and additionally the origin.
    static let longest = 9 * 1024
    /// The type of a token in its header (RFC 9068, 2.1), which differs from that of assertions and other JWTs.
    static let type = "at+jwt"
    /// The tolerated difference between the clocks of two instances, in seconds.
    static let clockSkew = 30

    private struct State {
        /// The keys; `nil` if the key file does not open those in the database.
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

    /// Reads the keys again, and adds and drops keys that are due.
    ///
    /// - Throws: ``ServerError`` if the key file does not open the keys, or there are none. The known keys are dropped
    ///   then, because they have been replaced together with the key file or the whole database. The store's error,
    ///   after which they stay.
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

    /// Reads the keys again if they were not read in the current second, because an operator may have dropped them, or
    /// another instance may have a new one.
    ///
    /// - Throws: The errors of ``maintain(at:)``.
    private func refresh(at now: Int) async throws {
        let isDue = state.withLock { state in
            defer { state.readAt = now }
            return state.readAt != now
        }
        if isDue { try await maintain(at: now) }
    }

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - user: The user who signed in.
    ///   - audience: The audience of the token; `nil` for the server itself.
    ///   - device: The device that signed in; `nil` for a password.
    ///   - credential: The thumbprint of the device's key, or the ID of the password.
    ///   - methods: The methods that authenticated the user (RFC 8176).
    ///   - app: The additional claims of the app.
    ///   - attestation: The proof of the device's TPM; `nil` if there is none.
    ///   - lifetime: The lifetime in seconds.
    ///   - now: The current time in seconds since 1970.
    /// - Returns: The token, and the time when it expires.
    /// - Throws: ``Problem`` if no key can sign.
    func issue(
        for user: LoginName,
        audience: String? = nil,
        device: LoginName?,
        credential: String,
        methods: [String],
        app: [String: String] = [:],
        attestation: KeyAttestation? = nil,
        lifetime: Int,
        at now: Int
    ) async throws -> (token: String, expiresAt: Int) {
        try await refresh(at: now)
        let (key, signers) = state.withLock { ($0.keys?.signing(at: now), $0.signers) }
        guard let key else { throw Self.noKeys }
        let claims = SessionClaims(
            iss: origin.text,
            aud: audience ?? origin.text,
            sub: user.text,
            clientID: device?.text ?? SessionClaims.accountPage,
            authenticatedAt: now,
            device: device?.text,
            credential: credential,
            iat: now,
            exp: now + lifetime,
            jti: Base64URL.encode(SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }),
            amr: methods,
            app: app.isEmpty ? nil : app,
            attestation: attestation.map(SessionClaims.Attestation.init)
        )
        var header = JWTHeader()
        header.typ = Self.type
        let token = try await signers.sign(claims, kid: JWKIdentifier(string: key.id), header: header)
        return (token, claims.exp)
    }

    /// Returns the claims of a token for this server; `nil` if it was not signed by this server, is for a service, has
    /// expired, or is malformed.
    ///
    /// The caller checks whether the device and the user still exist, and whether the token was ended.
    ///
    /// - Throws: ``Problem`` if there are no keys, and the store's error.
    func verify(_ token: String, at now: Int) async throws -> SessionClaims? {
        guard let claims = try await verifyAny(token, at: now),
            [origin.text, origin.credentialsService].contains(claims.aud)
        else { return nil }
        return claims
    }

    /// Returns the claims of a token for this server or for any service.
    func verifyAny(_ token: String, at now: Int) async throws -> SessionClaims? {
        guard let id = Self.keyID(of: token) else { return nil }
        try await refresh(at: now)
        try requireKeys()
        let (isKnown, signers) = state.withLock { ($0.keys?.key(id) != nil, $0.signers) }
        guard isKnown, let claims = try? await signers.verify(token, as: SessionClaims.self),
            claims.iss == origin.text,
            claims.iat <= now + Self.clockSkew, now < claims.exp,
            claims.exp - claims.iat <= TokenKeySet.longestTokenLifetime
        else { return nil }
        return claims
    }

    /// Checks that there are keys.
    ///
    /// - Throws: ``Problem`` if there are none.
    func requireKeys() throws(Problem) {
        guard state.withLock({ $0.keys != nil }) else { throw Self.noKeys }
    }

    private static let noKeys = Problem(
        .unavailable,
        "The server has no session keys; see its log."
    )

    /// Returns how long the current signing key has been in use, in seconds; 0 without one.
    func signingKeyAge(at now: Int) -> Int {
        state.withLock { state in
            (state.keys?.signing(at: now)).map { max(0, now - $0.signsFrom) } ?? 0
        }
    }

    /// Returns the public keys in the format for verifiers (RFC 7517).
    ///
    /// - Throws: ``Problem`` if there are no keys.
    func published() throws(Problem) -> JSONWebKeySet {
        guard let keys = state.withLock({ $0.keys }) else { throw Self.noKeys }
        return JSONWebKeySet(keys: keys.keys.compactMap(JSONWebKey.init))
    }

    private static func signers(_ keys: TokenKeySet) async throws -> JWTKeyCollection {
        let signers = JWTKeyCollection()
        // The serializer's default encoder would escape slashes.
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

    /// Returns the ID of the key in a token.
    ///
    /// A token can neither choose the algorithm nor provide a key.
    private static func keyID(of token: String) -> String? {
        guard token.utf8.count <= longest else { return nil }
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, Base64URL.decode(parts[1]) != nil, Base64URL.decode(parts[2])?.count == 64,
            let json = Base64URL.decode(parts[0]), !json.contains(0),
            let header = try? JSONDecoder().decode(Header.self, from: json),
            header.alg == "ES256", header.typ == type
        else { return nil }
        return header.kid
    }
}

/// A key set in its published format (RFC 7517, 5).
struct JSONWebKeySet: Encodable {
    let keys: [JSONWebKey]
}

/// A P-256 public key (RFC 7518, 6.2.1).
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
