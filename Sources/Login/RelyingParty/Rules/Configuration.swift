// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion

extension RelyingParty {
    /// The rules of a server; the defaults suit one that people sign in to by hand.
    public struct Configuration: Sendable, Hashable {
        /// The policy for a device whose enrolled fingers have changed since it was enabled.
        public enum DomainStatePolicy: String, Sendable, Hashable, CaseIterable {
            /// The change is ignored: any user whom the device recognises signs in.
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
