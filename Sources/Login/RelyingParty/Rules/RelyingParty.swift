// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

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

extension RelyingParty {
    /// The rules of a server; the defaults suit one that people sign in to by hand.
    public struct Configuration: Sendable, Hashable {
        /// The policy for a device whose enrolled fingers have changed since it was enabled.
        public enum DomainStatePolicy: String, Sendable, Hashable, CaseIterable {
            /// The change is ignored: any user whom the device recognizes signs in.
            case allow
            /// The device is refused until its user enables it again, with the password or another proof that the
            /// server asks for.
            case requireReenable
        }

        /// The policy for attestations, by which a device's TPM proves what guards its key.
        public enum AttestationPolicy: String, Sendable, Hashable, CaseIterable {
            /// None is taken.
            case none
            /// A key is enabled with or without one; one that does not hold is refused.
            case allow
            /// No key is enabled without one.
            case require
        }

        /// A limit of events in a window of time.
        public struct Limit: Sendable, Hashable {
            /// The number of events that are allowed within the window.
            public var count: Int
            /// The length of the window in seconds; it starts with the first event.
            public var seconds: Int

            /// Makes a limit; `count` 0 forbids everything.
            public init(count: Int, seconds: Int) {
                self.count = count
                self.seconds = seconds
            }
        }

        /// The limits of tries; `nil` turns a limit off.
        ///
        /// They keep a server from being flooded, and each instance counts for itself: a signature cannot be guessed,
        /// so nothing is stored for them. They do not depend on whether the user and the device exist, so that they do
        /// not reveal it.
        public struct Limits: Sendable, Hashable {
            /// Challenges and answers from one address; IPv6 counts by its first 64 bits.
            public var perAddress: Limit? = Limit(count: 120, seconds: 60)

            /// Makes the default limits.
            public init() {}
        }

        /// The server's own origin; assertions for any other are refused.
        public var origin: LoginOrigin
        /// The lifetime of a challenge in seconds.
        public var challengeLifetime = 120
        /// The number of seconds by which a device's clock may differ.
        public var clockSkew = 30
        /// The policy for a device whose enrolled fingers have changed.
        public var domainStatePolicy = DomainStatePolicy.requireReenable
        /// The policy for attestations.
        public var attestationPolicy = AttestationPolicy.none
        /// The limits of tries.
        public var limits = Limits()
        /// The maximum number of devices of one user.
        public var devicesPerUser = 32
        /// The lines of the audit log that are kept.
        public var audit = AuditRetention()

        /// Makes the default configuration of a server with this origin.
        public init(origin: LoginOrigin) { self.origin = origin }
    }
}
