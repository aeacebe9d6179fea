// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
public import LoginAssertion

extension RelyingParty {
    /// Gives a challenge out, 32 random bytes, for one assertion of one device of one user.
    ///
    /// Whether user and device exist makes no difference, for the limits neither. The challenge replaces the last one of the same user, device
    /// and purpose, so their number does not grow. It is good once, for the configuration's
    /// ``Configuration/challengeLifetime``.
    ///
    /// - Parameters:
    ///   - user: Who wants to sign in.
    ///   - device: On which device.
    ///   - purpose: What the assertion will be for.
    ///   - address: From where the request comes; empty where it is not known, and then counts for nothing.
    /// - Returns: The challenge, and until when it may be answered.
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

    /// Gives a challenge out that is answered with a bare signature over its bytes.
    ///
    /// As ``challenge(for:device:purpose:from:)``; an assertion that answers it is refused.
    ///
    /// - Parameters:
    ///   - user: Who wants to sign in.
    ///   - device: `nil` where the program does not tell: any device of the user may answer.
    ///   - address: From where the request comes; empty where it is not known.
    /// - Returns: The challenge, and until when it may be answered.
    /// - Throws: `tooManyTries`, `store`; `rawRefused` where the policy asks about fingers.
    public func rawChallenge(
        for user: LoginName,
        device: LoginName?,
        from address: String
    ) async throws(RelyingPartyError) -> IssuedChallenge {
        try await reporting { () throws(RelyingPartyError) in try acceptRaw() }
        return try await issue(for: user, device: device, use: .raw, from: address)
    }

    /// Refuses bare signatures where they would go around the policy.
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

    /// Takes a challenge out: whatever follows, nobody can answer it again.
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
