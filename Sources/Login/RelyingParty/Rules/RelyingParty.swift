// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import LoginAssertion

/// The server's half of biometric login: it issues challenges, knows devices by their keys, and judges their
/// assertions.
///
/// It has no network protocol and no passwords: a web server calls it (Docs/LoginProtocol.md). Any number of instances
/// may work on one store at once. Between two calls, it holds only the key of challenges, the tries of each address,
/// and the time of its next cleanup.
///
/// ```swift
/// let store = try SQLiteRelyingPartyStore(path: "/var/lib/bank/login.sqlite", ifMissing: .create)
/// let party = RelyingParty(store: store, configuration: .init(origin: origin))
/// // The device asks for a challenge, and gets its 32 bytes.
/// let issued = try await party.challenge(for: user, device: device, purpose: .login, from: address)
/// // It answers with an assertion, which only its key can have signed.
/// let signIn = try await party.signIn(assertion: assertion, from: address)
/// ```
public struct RelyingParty: Sendable {
    /// The configuration: the origin, the policy and the limits.
    public let configuration: Configuration
    /// The store of devices, answered challenges and the audit log.
    public let store: any RelyingPartyStore
    let endorsements: any EndorsementAuthority
    let events: @Sendable (RelyingPartyEvent) -> Void
    let clock: @Sendable () -> Date
    let keys = ChallengeKeys()
    let addressTries = AddressTries()
    let purges = PurgeSchedule()

    /// Makes a relying party.
    ///
    /// - Parameters:
    ///   - store: The store of devices, answered challenges and the audit log.
    ///   - configuration: The origin, the policy and the limits.
    ///   - endorsements: The judge of endorsement certificates, for attestations; by default no certificate is trusted.
    ///   - events: Is called for each event; it must return soon, since the request waits.
    ///   - now: The clock.
    public init(
        store: any RelyingPartyStore,
        configuration: Configuration,
        endorsements: any EndorsementAuthority = NoEndorsements(),
        events: @escaping @Sendable (RelyingPartyEvent) -> Void = { _ in },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.store = store
        self.configuration = configuration
        self.endorsements = endorsements
        self.events = events
        clock = now
    }

    /// The current time in seconds since 1970.
    var now: Int { Int(clock().timeIntervalSince1970.rounded(.down)) }

    /// Runs `body`, and reports its refusal as an event.
    func reporting<Value>(
        user: LoginName? = nil,
        device: LoginName? = nil,
        _ body: () async throws(RelyingPartyError) -> Value
    ) async throws(RelyingPartyError) -> Value {
        do {
            return try await body()
        } catch {
            events(.refused(error, user: user, device: device))
            throw error
        }
    }
}
