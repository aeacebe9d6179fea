// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import LoginAssertion

/// The server's half of biometric login: it gives challenges out, knows devices by their keys, and judges what they say.
///
/// It speaks no network protocol and knows no passwords: a web server calls it (Docs/LoginProtocol.md). Any number of
/// instances may work on one store at once. It holds nothing between two calls but the time when it cleans up next.
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
    /// How it judges.
    public let configuration: Configuration
    /// Where it keeps what it knows.
    public let store: any RelyingPartyStore
    let events: @Sendable (RelyingPartyEvent) -> Void
    let clock: @Sendable () -> Date
    let purges = PurgeSchedule()

    /// Makes one.
    ///
    /// - Parameters:
    ///   - store: Where it keeps what it knows.
    ///   - configuration: How it judges.
    ///   - events: Is called for what happens; it must return soon, since the request waits.
    ///   - now: The clock.
    public init(
        store: any RelyingPartyStore,
        configuration: Configuration,
        events: @escaping @Sendable (RelyingPartyEvent) -> Void = { _ in },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.store = store
        self.configuration = configuration
        self.events = events
        clock = now
    }

    /// Seconds since 1970.
    var now: Int { Int(clock().timeIntervalSince1970.rounded(.down)) }

    /// Runs `body`, and tells of its refusal.
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
