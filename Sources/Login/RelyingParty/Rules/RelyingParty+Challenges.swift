// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
public import LoginAssertion

extension RelyingParty {
    /// Issues a challenge, 32 random bytes, for one assertion of one device of one user.
    ///
    /// The result does not depend on whether the user and the device exist, and neither do the limits. The challenge
    /// replaces the last one of the same user, device and purpose, so their number does not grow. It is valid once, for
    /// the configuration's ``Configuration/challengeLifetime``.
    ///
    /// - Parameters:
    ///   - user: The user who wants to sign in.
    ///   - device: The device.
    ///   - purpose: The purpose of the assertion.
    ///   - address: The client's address; empty if it is not known, and then it is not counted.
    /// - Returns: The challenge, and the time when it expires.
    /// - Throws: `tooManyTries`, `store`.
    public func challenge(
        for user: LoginName,
        device: LoginName,
        purpose: LoginClaims.Purpose,
        from address: String
    ) async throws(RelyingPartyError) -> IssuedChallenge {
        let use: ChallengeUse =
            switch purpose {
            case .enable: .enable
            case .login: .login
            }
        return try await issue(for: user, device: device, use: use, from: address)
    }

    /// Issues a challenge that is answered with a bare signature over its bytes.
    ///
    /// It works as ``challenge(for:device:purpose:from:)``; an assertion that answers it is refused.
    ///
    /// - Parameters:
    ///   - user: The user who wants to sign in.
    ///   - device: The device; `nil` if the program does not name it: any device of the user may answer.
    ///   - address: The client's address; empty if it is not known.
    /// - Returns: The challenge, and the time when it expires.
    /// - Throws: `tooManyTries`, `store`; `rawRefused` if the policy asks about fingers.
    public func rawChallenge(
        for user: LoginName,
        device: LoginName?,
        from address: String
    ) async throws(RelyingPartyError) -> IssuedChallenge {
        try await reporting { () throws(RelyingPartyError) in try acceptRaw() }
        return try await issue(for: user, device: device, use: .raw, from: address)
    }

    /// Refuses bare signatures if they would bypass the policy.
    func acceptRaw() throws(RelyingPartyError) {
        switch configuration.domainStatePolicy {
        case .allow: return
        case .requireReenable: throw RelyingPartyError(.rawRefused)
        }
    }

    private func issue(
        for user: LoginName,
        device: LoginName?,
        use: ChallengeUse,
        from address: String
    ) async throws(RelyingPartyError) -> IssuedChallenge {
        let now = now
        let challenge = Data((0..<LoginClaims.challengeSize).map { _ in UInt8.random(in: .min ... .max) })
        let record = ChallengeRecord(
            digest: Self.digest(challenge),
            user: user,
            device: device,
            use: use,
            expiresAt: now + configuration.challengeLifetime
        )
        try await reporting { () async throws(RelyingPartyError) in
            let answer = try await store.issue(
                record,
                address: bucket(ClientAddress(address).bucketKey, configuration.limits.perAddress),
                device: bucket("device\n\(user.text)\n\(device?.text ?? "")", configuration.limits.perDevice),
                at: now
            )
            switch answer {
            case .issued: return
            case .tooMany(let seconds): throw RelyingPartyError(.tooManyTries(retryAfter: seconds))
            }
        }
        events(.challengeIssued(user: user, device: device))
        await purgeIfDue()
        return IssuedChallenge(challenge: challenge, expiresAt: record.expiresAt)
    }

    /// Takes a challenge out of the store: whatever follows, it cannot be answered again.
    func take(
        _ challenge: Data,
        from address: ClientAddress
    ) async throws(RelyingPartyError) -> (ChallengeRecord, [RegisteredDevice]) {
        let now = now
        let answer = try await store.take(
            Self.digest(challenge),
            address: bucket(address.bucketKey, configuration.limits.perAddress),
            at: now
        )
        switch answer {
        case .taken(let record, let devices):
            guard now < record.expiresAt else { throw RelyingPartyError(.challengeUnknown) }
            return (record, devices)
        case .unknown: throw RelyingPartyError(.challengeUnknown)
        case .tooMany(let seconds): throw RelyingPartyError(.tooManyTries(retryAfter: seconds))
        }
    }

    private static func digest(_ challenge: Data) -> Data { Data(SHA256.hash(data: challenge)) }

    func bucket(_ key: String?, _ limit: Configuration.Limit?) -> RateBucket? {
        guard let key, let limit else { return nil }
        return RateBucket(key: key, count: limit.count, seconds: limit.seconds)
    }
}
