// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion

extension RelyingParty {
    /// How a server judges; the defaults suit one that people sign in to by hand.
    public struct Configuration: Sendable, Hashable {
        /// What happens where other fingers are enrolled on a device than when it was enabled.
        public enum DomainStatePolicy: String, Sendable, Hashable, CaseIterable {
            /// Nothing: whoever the device recognises signs in.
            case allow
            /// The device is refused until its user enables it again, with the password or what else the server asks.
            case requireReenable
        }

        /// How much of something may happen.
        public struct Limit: Sendable, Hashable {
            /// How often within the window.
            public var count: Int
            /// The length of the window in seconds; it starts with the first time.
            public var seconds: Int

            /// Describes a limit; `count` 0 forbids everything.
            public init(count: Int, seconds: Int) {
                self.count = count
                self.seconds = seconds
            }
        }

        /// The limits of tries; `nil` for one that does not hold.
        ///
        /// They keep a server from being flooded; no signature can be guessed, so nobody is locked out for more than a
        /// window. The address counts first; ``perDevice`` only those can spend who know the device's name, which clients
        /// make at random. Whether there are such a user and such a device makes no difference, so that nobody learns it
        /// from them.
        public struct Limits: Sendable, Hashable {
            /// Challenges and answers from one address; IPv6 counts by its first 64 bits.
            public var perAddress: Limit? = Limit(count: 120, seconds: 60)
            /// Challenges for one device of one user.
            public var perDevice: Limit? = Limit(count: 30, seconds: 60)

            /// The defaults.
            public init() {}
        }

        /// The server's own origin; assertions for any other are refused.
        public var origin: LoginOrigin
        /// How long a challenge may be answered, in seconds.
        public var challengeLifetime = 120
        /// By how many seconds a device's clock may differ.
        public var clockSkew = 30
        /// What happens where other fingers are enrolled.
        public var domainStatePolicy = DomainStatePolicy.requireReenable
        /// The limits of tries.
        public var limits = Limits()
        /// The most devices of one user.
        public var devicesPerUser = 32
        /// The most entries of the audit log, and as many more of refused passwords; the oldest go.
        public var auditEntries = 100_000

        /// The defaults, for one server.
        public init(origin: LoginOrigin) { self.origin = origin }
    }
}
