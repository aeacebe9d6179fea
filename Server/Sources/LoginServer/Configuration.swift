// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion
public import RelyingParty

extension LoginServer {
    /// The configuration of the server.
    public struct Configuration: Sendable {
        /// The certificate chain and the private key, both PEM files.
        public struct Certificate: Sendable {
            /// The path of the chain: the server's certificate, followed by its issuers.
            public var chain: String
            /// The path of the unencrypted key.
            public var key: String

            /// Creates a certificate from the paths of its files.
            public init(chain: String, key: String) {
                self.chain = chain
                self.key = key
            }
        }

        /// The address to listen on.
        public var host = "127.0.0.1"
        /// The port to listen on; 0 for any free port.
        public var port = 0
        /// The path of the Unix socket to listen on instead; the permissions of its directory determine who can
        /// connect, usually a proxy.
        public var socket: String?
        /// The address for operators, which then is the only one with metrics; `nil` for none.
        public var operations: OperationsAddress?
        /// The file with the token for operators' programs, which manage users and devices at the operations address;
        /// `nil` for none.
        public var adminTokenFile: String?
        /// The certificate; if set, the server uses TLS.
        public var certificate: Certificate?
        /// The file that seals the signing keys; created if missing.
        public var keyFile: String
        /// The lifetime of a session token, in seconds: 60 to 86,400.
        public var tokenLifetime = 900
        /// The addresses, or networks such as `10.0.0.0/8`, of proxies whose `X-Forwarded-For` is trusted.
        public var trustedProxies: [String] = []
        /// The configuration of the relying party, which verifies assertions.
        public var relyingParty: RelyingParty.Configuration
        /// The PEM file with the certificates of trusted TPM manufacturers; `nil` for none.
        public var attestationRoots: String?
        /// The timeout for receiving a request and for an idle connection, in seconds.
        public var requestTimeout = 10
        /// The maximum number of connections at a time.
        public var connections = 4_096
        /// The maximum number of connections from one address, or 64 bits of IPv6; this machine and trusted proxies may
        /// use all of them.
        public var connectionsPerAddress = 64
        /// The limits for wrong passwords.
        public var passwordLimits = PasswordLimits()
        /// The number of passwords checked at a time; each check uses a core and 16 MiB.
        public var passwordThreads = 2
        /// The interval for reading keys again and removing old rows; shorter only in tests.
        var upkeepInterval = Duration.seconds(60)
        /// The cost of checking a password; lower only in tests.
        var passwordCost = PasswordHash.Cost.standard

        /// Creates the default configuration for an origin.
        public init(origin: LoginOrigin, keyFile: String) {
            self.keyFile = keyFile
            relyingParty = RelyingParty.Configuration(origin: origin)
        }

        /// The maximum lifetime of a token after a password, in seconds, which is enough for the account page.
        static let longestAccountToken = 600

        /// Validates the configuration.
        ///
        /// - Throws: An error for values that are impossible or unsafe.
        func check() throws(ServerError) {
            guard (60...TokenKeySet.longestTokenLifetime).contains(tokenLifetime) else {
                throw ServerError(
                    .options,
                    "--token-lifetime must be 60 to \(TokenKeySet.longestTokenLifetime) seconds"
                )
            }
            for proxy in trustedProxies where AddressRange(proxy) == nil {
                throw ServerError(
                    .options,
                    "\(proxy) is neither an IP address nor a network such as 10.0.0.0/8"
                )
            }
            guard socket == nil || certificate == nil else {
                throw ServerError(
                    .options,
                    "a Unix socket does not use TLS",
                    hint: "use either --socket or --tls-certificate"
                )
            }
            guard (attestationRoots == nil) == (relyingParty.attestationPolicy == .none) else {
                throw ServerError(
                    .options,
                    "--attestation requires trusted TPM manufacturers, and --attestation-roots has no other use",
                    hint: "use --attestation and --attestation-roots together"
                )
            }
            guard adminTokenFile == nil || operations != nil else {
                throw ServerError(
                    .options,
                    "an operator token requires an operations address",
                    hint: "add --operations-address"
                )
            }
            if let operations, !operations.isOfThisMachine {
                throw ServerError(
                    .options,
                    "the operations address is reachable from other computers and does not use TLS",
                    hint: "use 127.0.0.1:PORT, [::1]:PORT or unix:PATH"
                )
            }
            // Passwords and tokens must not be sent over a network as plain text.
            let isLocal = host == "localhost" || host == "::1" || host.hasPrefix("127.")
            guard isLocal || socket != nil || certificate != nil || !trustedProxies.isEmpty else {
                throw ServerError(
                    .options,
                    "\(host) is reachable from other computers and does not use TLS",
                    hint: "use --tls-certificate and --tls-key, or the --trusted-proxy that provides TLS"
                )
            }
        }
    }
}
