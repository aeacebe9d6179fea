// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import LoginAssertion
internal import Synchronization

/// The seal of challenges, which binds a challenge to its recipient and expiry, so that the server does not need to
/// store it.
///
/// A challenge consists of its nonce, 16 bytes, and a seal: the first 16 bytes of HMAC-SHA-256 (RFC 2104) over its
/// terms and the nonce. Without the key, no one can create a challenge or change its terms.
struct ChallengeSeal: Sendable {
    /// The terms of a challenge: the server, user, device and use that it is issued for.
    struct Terms: Sendable {
        let origin: LoginOrigin
        let user: LoginName
        /// The device; `nil` if any of the user's devices may respond.
        let device: LoginName?
        let use: ChallengeUse
    }

    private static let size = LoginClaims.challengeSize - Nonce.size

    private let key: SymmetricKey

    /// Creates a seal with a key; returns `nil` if the key does not have 32 bytes.
    init?(key: Data) {
        guard key.count == ChallengeKey.size else { return nil }
        self.key = SymmetricKey(data: key)
    }

    /// Returns the challenge with this nonce.
    func challenge(_ nonce: Nonce, for terms: Terms) -> Data {
        nonce.bytes + HMAC<SHA256>.authenticationCode(for: terms.sealed(nonce), using: key).prefix(Self.size)
    }

    /// Returns the secret of an attestation's credential, which only this server can compute.
    ///
    /// - Parameters:
    ///   - nonce: The nonce of the credential.
    ///   - terms: The server, user and device that the credential is created for.
    ///   - chip: The names of the endorsement key and the attestation key.
    /// - Returns: The secret, 32 bytes.
    func secret(_ nonce: Nonce, for terms: Terms, chip: Data) -> Data {
        let heading = Data("whorl-login credential 1\n".utf8)
        return Data(
            HMAC<SHA256>.authenticationCode(for: heading + terms.sealed(nonce) + chip, using: key)
        )
    }

    /// Returns the nonce of a challenge issued for these terms; `nil` for any other bytes.
    func nonce(of challenge: Data, for terms: Terms) -> Nonce? {
        guard challenge.count == LoginClaims.challengeSize,
            let nonce = Nonce(bytes: Data(challenge.prefix(Nonce.size))),
            challenge.isEqualInConstantTime(to: self.challenge(nonce, for: terms))
        else { return nil }
        return nonce
    }
}

extension ChallengeSeal.Terms {
    /// Returns the bytes to seal; names and origins do not contain line feeds, so different terms never have the same
    /// bytes.
    fileprivate func sealed(_ nonce: Nonce) -> Data {
        let lines = ["whorl-login challenge 1", use.rawValue, origin.text, user.text, device?.text ?? ""]
        return Data((lines.joined(separator: "\n") + "\n").utf8) + nonce.bytes
    }
}

/// A seal of challenges that uses the store's key, and reads it again from time to time.
final class ChallengeKeys: Sendable {
    /// The number of seconds after which the key is read again.
    private static let age = 60

    private struct State {
        let seal: ChallengeSeal
        let readAt: Int
    }

    private let state = Mutex<State?>(nil)

    /// Returns the seal for a new challenge.
    func seal(
        at now: Int,
        from store: any RelyingPartyStore
    ) async throws(RelyingPartyError) -> ChallengeSeal {
        // If the clock was set back, do not keep using an old key.
        let state = state.withLock { $0 }
        if let state, (state.readAt..<state.readAt + Self.age).contains(now) { return state.seal }
        return try await read(at: now, from: store)
    }

    /// Returns the nonce of a challenge issued for these terms; `nil` for any other bytes.
    ///
    /// If the seal is wrong, another instance may have created a newer key, so the key is read again. This happens at
    /// most about once per second, because any client can send a wrong seal.
    func nonce(
        of challenge: Data,
        for terms: ChallengeSeal.Terms,
        at now: Int,
        from store: any RelyingPartyStore
    ) async throws(RelyingPartyError) -> Nonce? {
        if let nonce = try await seal(at: now, from: store).nonce(of: challenge, for: terms) { return nonce }
        guard state.withLock({ $0?.readAt != now }) else { return nil }
        return try await read(at: now, from: store).nonce(of: challenge, for: terms)
    }

    private func read(
        at now: Int,
        from store: any RelyingPartyStore
    ) async throws(RelyingPartyError) -> ChallengeSeal {
        guard let seal = ChallengeSeal(key: try await store.challengeKey()) else {
            throw RelyingPartyError(.store, cause: "the key for challenges is damaged")
        }
        state.withLock { $0 = State(seal: seal, readAt: now) }
        return seal
    }
}
