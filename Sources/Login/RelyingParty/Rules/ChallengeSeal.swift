// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import LoginAssertion

/// The seal of challenges: a challenge itself says until when and for whom it was issued, so that the server keeps
/// none.
///
/// A challenge is its nonce, 16 bytes, and a seal: the first 16 bytes of HMAC-SHA-256 (RFC 2104) over its terms and the
/// nonce. Without the key, none can be made, and no terms can be changed.
struct ChallengeSeal: Sendable {
    /// The terms of a challenge: the server, user, device and use that it is issued for.
    struct Terms: Sendable {
        let origin: LoginOrigin
        let user: LoginName
        /// The device; `nil` if any device of the user may answer.
        let device: LoginName?
        let use: ChallengeUse
    }

    private static let size = LoginClaims.challengeSize - Nonce.size

    private let key: SymmetricKey

    /// Makes the seal of a key; `nil` if the key does not have 32 bytes.
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
    ///   - terms: The server, user and device that it is made for.
    ///   - chip: The names of the endorsement key and the attestation key.
    /// - Returns: The secret, 32 bytes.
    func secret(_ nonce: Nonce, for terms: Terms, chip: Data) -> Data {
        let heading = Data("whorl-login credential 1\n".utf8)
        return Data(
            HMAC<SHA256>.authenticationCode(for: heading + terms.sealed(nonce) + chip, using: key)
        )
    }

    /// Returns the nonce of a challenge that was issued for these terms; `nil` for any other bytes.
    func nonce(of challenge: Data, for terms: Terms) -> Nonce? {
        guard challenge.count == LoginClaims.challengeSize,
            let nonce = Nonce(bytes: Data(challenge.prefix(Nonce.size))),
            challenge.isEqualInConstantTime(to: self.challenge(nonce, for: terms))
        else { return nil }
        return nonce
    }
}

extension ChallengeSeal.Terms {
    /// The bytes that are sealed; names and origins have no line feeds, so that no two terms have the same bytes.
    fileprivate func sealed(_ nonce: Nonce) -> Data {
        let lines = ["whorl-login challenge 1", use.rawValue, origin.text, user.text, device?.text ?? ""]
        return Data((lines.joined(separator: "\n") + "\n").utf8) + nonce.bytes
    }
}
