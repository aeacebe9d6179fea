// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion
public import RelyingParty

extension LoginServer {
    /// How the server runs.
    public struct Configuration: Sendable {
        /// Certificate chain and private key, both PEM files.
        public struct Certificate: Sendable {
            /// The server's certificate first, then those that signed it.
            public var chain: String
            /// The key; not encrypted.
            public var key: String

            /// Names the files.
            public init(chain: String, key: String) {
                self.chain = chain
                self.key = key
            }
        }

        /// The address that it listens on.
        public var host = "127.0.0.1"
        /// The port that it listens on; 0 takes a free one.
        public var port = 0
        /// TLS is spoken where there is one.
        public var certificate: Certificate?
        /// The file that seals the signing keys; it is made where there is none.
        public var keyFile: String
        /// How long a session token is good, in seconds: 60 to 86,400.
        public var tokenLifetime = 900
        /// The addresses of proxies whose `X-Forwarded-For` is believed.
        public var trustedProxies: [String] = []
        /// How assertions are judged.
        public var relyingParty: RelyingParty.Configuration
        /// How long a request may take to arrive, and a connection may be idle, in seconds.
        public var requestTimeout = 10
        /// How many connections there may be at once.
        public var connections = 4_096
        /// How many of them one address may have, which is 64 bits of IPv6; this machine and trusted proxies have as many as
        /// there are.
        public var connectionsPerAddress = 64
        /// How many wrong passwords there may be.
        public var passwordLimits = PasswordLimits()
        /// How many passwords are checked at a time; a core and 16 MiB each.
        public var passwordThreads = 2
        /// How often keys are looked at again and old rows are removed; only tests make it shorter.
        var upkeepInterval = Duration.seconds(60)
        /// What checking a password costs; only tests make it cheap.
        var passwordCost = PasswordHash.Cost.standard

        /// The defaults, for one origin.
        public init(origin: LoginOrigin, keyFile: String) {
            self.keyFile = keyFile
            relyingParty = RelyingParty.Configuration(origin: origin)
        }

        /// The longest token after a password, in seconds: the account page needs no longer one.
        static let longestAccountToken = 600

        /// - Throws: what cannot be, or should not.
        func check() throws(ServerError) {
            guard (60...TokenKeySet.longestTokenLifetime).contains(tokenLifetime) else {
                throw ServerError(
                    .options,
                    "a token is good for 60 to \(TokenKeySet.longestTokenLifetime) seconds"
                )
            }
            for proxy in trustedProxies where ClientAddress(ip: proxy) == nil {
                throw ServerError(.options, "\(proxy) is no address of a proxy")
            }
            // Passwords and tokens must not cross a network as plain text.
            let isLocal = host == "localhost" || host == "::1" || host.hasPrefix("127.")
            guard isLocal || certificate != nil || !trustedProxies.isEmpty else {
                throw ServerError(
                    .options,
                    "\(host) can be reached by others, and there is no TLS",
                    hint: "give --tls-certificate and --tls-key, or the --trusted-proxy that speaks TLS"
                )
            }
        }
    }
}
