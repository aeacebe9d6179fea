// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

/// The server side of biometric login: it issues challenges, registers the keys of devices, and verifies their
/// assertions.
///
/// It does not implement a network protocol or passwords; a web server calls it (Docs/LoginProtocol.md). Any number of
/// instances can share one store. Between calls, an instance keeps only the key for challenges, the attempts from each
/// address, and the time of its next cleanup.
///
/// ```swift
/// let store = try SQLiteRelyingPartyStore(path: "/var/lib/bank/login.sqlite", ifMissing: .create)
/// let party = RelyingParty(store: store, configuration: .init(origin: origin))
/// // The device requests a challenge, 32 bytes.
/// let issued = try await party.challenge(for: user, device: device, purpose: .login, from: address)
/// // It answers with an assertion, which only its key can have signed.
/// let signIn = try await party.signIn(assertion: assertion, from: address)
/// ```
public struct RelyingParty: Sendable {
    /// The configuration: the origin, the policy and the limits.
    public let configuration: Configuration
    /// The store of devices, used challenges and the audit log.
    public let store: any RelyingPartyStore
    let endorsements: any EndorsementAuthority
    let events: @Sendable (RelyingPartyEvent) -> Void
    let clock: @Sendable () -> Date
    let keys = ChallengeKeys()
    let addressTries = AddressTries()
    let purges = PurgeSchedule()

    /// Creates a relying party.
    ///
    /// - Parameters:
    ///   - store: The store of devices, used challenges and the audit log.
    ///   - configuration: The origin, the policy and the limits.
    ///   - endorsements: The authority for endorsement certificates in attestations; by default, certificates are not
    ///     trusted.
    ///   - events: Called for each event; it must return soon, because the request waits for it.
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

    /// Runs `body`, and reports a refusal as an event.
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
    /// The configuration of a relying party; the defaults suit a server with interactive sign-in.
    public struct Configuration: Sendable, Hashable {
        /// The policy for a device whose enrolled fingers have changed since it was enabled.
        public enum DomainStatePolicy: String, Sendable, Hashable, CaseIterable {
            /// The change is ignored, so anyone whom the device authenticates can sign in.
            case allow
            /// The device is refused until its user enables it again, with the password or other credentials.
            case requireReenable
        }

        /// The policy for attestations, by which a device's TPM proves how the device's key is protected.
        public enum AttestationPolicy: String, Sendable, Hashable, CaseIterable {
            /// Attestations are not accepted.
            case none
            /// Attestations are optional; an invalid one is refused.
            case allow
            /// Attestations are required.
            case require
        }

        /// A limit on the number of events in a window of time.
        public struct Limit: Sendable, Hashable {
            /// The number of events allowed within the window.
            public var count: Int
            /// The length of the window in seconds; the window starts with the first event.
            public var seconds: Int

            /// Creates a limit; a `count` of 0 forbids everything.
            public init(count: Int, seconds: Int) {
                self.count = count
                self.seconds = seconds
            }
        }

        /// The limits for attempts; `nil` disables a limit.
        ///
        /// They protect a server from flooding. Each instance counts separately and nothing is stored, because
        /// signatures cannot be guessed. The limits do not reveal whether the user and the device exist, because they
        /// do not depend on that.
        public struct Limits: Sendable, Hashable {
            /// The limit for challenges and responses from one address; IPv6 addresses with the same first 64 bits
            /// count as one.
            public var perAddress: Limit? = Limit(count: 120, seconds: 60)

            /// Creates the default limits.
            public init() {}
        }

        /// The server's origin; assertions for any other are refused.
        public var origin: LoginOrigin
        /// The lifetime of a challenge in seconds.
        public var challengeLifetime = 120
        /// The tolerated difference between the clocks of the server and a device, in seconds.
        public var clockSkew = 30
        /// The policy for a device whose enrolled fingers have changed.
        public var domainStatePolicy = DomainStatePolicy.requireReenable
        /// The policy for attestations.
        public var attestationPolicy = AttestationPolicy.none
        /// The limits for attempts.
        public var limits = Limits()
        /// The maximum number of devices of one user.
        public var devicesPerUser = 32
        /// The retention of audit log entries.
        public var audit = AuditRetention()

        /// Creates the default configuration for a server with this origin.
        public init(origin: LoginOrigin) { self.origin = origin }
    }
}
