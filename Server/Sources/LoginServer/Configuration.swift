// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion
public import RelyingParty

extension LoginServer {
    /// The configuration of the server.
    public struct Configuration: Sendable {
        /// The certificate chain and the private key, both PEM files.
        public struct Certificate: Sendable {
            /// The path of the chain: the server's certificate first, then those that signed it.
            public var chain: String
            /// The path of the key, which is not encrypted.
            public var key: String

            /// Makes a certificate of the paths of its files.
            public init(chain: String, key: String) {
                self.chain = chain
                self.key = key
            }
        }

        /// The address that it listens on.
        public var host = "127.0.0.1"
        /// The port that it listens on; 0 takes a free one.
        public var port = 0
        /// The path of the Unix socket that it listens on instead; its directory says who may connect, as proxies do.
        public var socket: String?
        /// The address at which operators are told counts, which are not told at the other one then; `nil` for none.
        public var operations: OperationsAddress?
        /// The file with the token for operators' programs, which change users and devices at the operations address; `nil`
        /// for none.
        public var adminTokenFile: String?
        /// The certificate; with one, the server uses TLS.
        public var certificate: Certificate?
        /// The file that seals the signing keys; it is made if it is missing.
        public var keyFile: String
        /// The lifetime of a session token, in seconds: 60 to 86,400.
        public var tokenLifetime = 900
        /// The addresses, or networks such as `10.0.0.0/8`, of proxies whose `X-Forwarded-For` is trusted.
        public var trustedProxies: [String] = []
        /// The configuration of the relying party, which judges assertions.
        public var relyingParty: RelyingParty.Configuration
        /// The file with the certificates of the makers of TPMs that are trusted, PEM; `nil` for none.
        public var attestationRoots: String?
        /// The time that a request may take to arrive, and that a connection may be idle, in seconds.
        public var requestTimeout = 10
        /// The maximum number of connections at once.
        public var connections = 4_096
        /// The maximum number of connections from one address, which is 64 bits of IPv6; this machine and trusted
        /// proxies may use all of them.
        public var connectionsPerAddress = 64
        /// The limits of wrong passwords.
        public var passwordLimits = PasswordLimits()
        /// The number of passwords that are checked at a time; each takes a core and 16 MiB.
        public var passwordThreads = 2
        /// The interval at which keys are read again and old rows are removed; only tests make it shorter.
        var upkeepInterval = Duration.seconds(60)
        /// The cost of checking a password; only tests make it cheap.
        var passwordCost = PasswordHash.Cost.standard

        /// Makes the default configuration for an origin.
        public init(origin: LoginOrigin, keyFile: String) {
            self.keyFile = keyFile
            relyingParty = RelyingParty.Configuration(origin: origin)
        }

        /// The maximum lifetime of a token after a password, in seconds: the account page does not need a longer one.
        static let longestAccountToken = 600

        /// - Throws: an error for values that are impossible or unsafe.
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
            // Passwords and tokens must not cross a network as plain text.
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
