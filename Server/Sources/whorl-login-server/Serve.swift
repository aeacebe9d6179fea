// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import Logging
internal import LoginAssertion
internal import LoginServer
internal import RelyingParty
internal import ServiceLifecycle
internal import UnixSignals

/// The command `whorl-login-server serve`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the server until SIGTERM or SIGINT"
    )

    @OptionGroup var store: StoreOptions

    @Option(help: "Port to listen on; 0 for any free port")
    var port = 8080

    @Option(help: "Address to listen on")
    var host = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "Origin that devices use, such as https://bank.example",
            valueName: "https://…"
        )
    )
    var origin: String

    @Option(help: ArgumentHelp("Certificate chain (PEM file)", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("Private key of the certificate (PEM file)", valueName: "file"))
    var tlsKey: String?

    @Option(help: ArgumentHelp("Lifetime of a session token, in seconds", valueName: "seconds"))
    var tokenLifetime = 900

    @Option(
        help: ArgumentHelp(
            "Unix socket to listen on instead of --host and --port; its directory's permissions decide which proxies can connect",
            valueName: "path"
        )
    )
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Separate address for /metrics and operators: 127.0.0.1:9090 or unix:/path",
            valueName: "address"
        )
    )
    var operationsAddress: String?

    @Option(
        help: ArgumentHelp(
            "File whose first line is the token for operators' programs at the operations address",
            valueName: "file"
        )
    )
    var adminTokenFile: String?

    @Option(help: ArgumentHelp("Days to keep audit log entries", valueName: "days"))
    var auditDays = 400

    @Option(
        help: ArgumentHelp(
            "Proxy or network of proxies, such as 10.0.0.0/8, whose X-Forwarded-For is trusted; may be repeated",
            valueName: "address"
        )
    )
    var trustedProxy: [String] = []

    @Option(
        help: ArgumentHelp(
            "Maximum challenges and answers per address and minute, at each instance; 0 for no limit",
            valueName: "number"
        )
    )
    var triesPerMinute = 120

    @Option(
        help: ArgumentHelp(
            "Maximum wrong passwords per user in 15 minutes, from all addresses",
            valueName: "number"
        )
    )
    var passwordTriesPerUser = PasswordLimits().perUser

    @Option(
        help: ArgumentHelp(
            "Maximum wrong passwords per address in 15 minutes",
            valueName: "number"
        )
    )
    var passwordTriesPerAddress = PasswordLimits().perAddress

    @Option(help: ArgumentHelp("Maximum number of connections", valueName: "number"))
    var connections = 4_096

    @Option(
        help: ArgumentHelp(
            "Maximum connections per address, except for this computer and trusted proxies",
            valueName: "number"
        )
    )
    var connectionsPerAddress = 64

    @Flag(help: "Accept devices whose enrolled fingers changed since they were enabled")
    var allowChangedFingers = false

    @Option(
        help: ArgumentHelp(
            "TPM attestation of new keys: none, allow or require",
            valueName: "policy"
        )
    )
    var attestation = AttestationChoice.none

    @Option(
        help: ArgumentHelp(
            "Certificates of trusted TPM manufacturers (PEM file)",
            valueName: "file"
        )
    )
    var attestationRoots: String?

    @Flag(help: "Print the listening address as JSON")
    var json = false

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port must be a number up to 65535.")
        }
        guard LoginOrigin(origin) != nil else {
            throw ValidationError(
                "--origin must be https://HOST or https://HOST:PORT in lower case, or http://localhost:PORT."
            )
        }
        guard (0...1_000_000).contains(triesPerMinute) else {
            throw ValidationError("--tries-per-minute must be 1 to 1,000,000, or 0 for no limit.")
        }
        for (name, value) in [
            ("password-tries-per-user", passwordTriesPerUser),
            ("password-tries-per-address", passwordTriesPerAddress), ("connections", connections),
            ("connections-per-address", connectionsPerAddress),
        ] where !(1...1_000_000).contains(value) {
            throw ValidationError("--\(name) must be 1 to 1,000,000.")
        }
        guard operationsAddress.map({ OperationsAddress($0) != nil }) ?? true else {
            throw ValidationError("--operations-address must be 127.0.0.1:PORT, [::1]:PORT or unix:/PATH.")
        }
        guard (1...36_500).contains(auditDays) else {
            throw ValidationError("--audit-days must be 1 to 36,500.")
        }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("Use --tls-certificate and --tls-key together.")
        }
    }

    func run() async throws {
        var logger = Logger(label: "whorl-login-server") { _ in JSONLines() }
        logger.logLevel = .info
        var settings = try settings()
        let limit = OpenFiles.raiseLimit()
        let possible = OpenFiles.connections(atMost: settings.connections, limit: limit)
        if possible < settings.connections {
            logger.warning(
                "the limit of open files allows fewer connections than usual",
                metadata: ["limit": "\(limit ?? 0)", "connections": "\(possible)"]
            )
            settings.connections = possible
        }
        let server = try await LoginServer(
            store: try await store.openForServer(),
            configuration: settings,
            logger: logger,
            onListening: announce
        )
        var group = ServiceGroupConfiguration(
            services: [server],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // A request may take 10 seconds to arrive; one that takes longer than this limit would not have been completed.
        group.maximumGracefulShutdownDuration = .seconds(20)
        try await ServiceGroup(configuration: group).run()
    }

    private func settings() throws -> LoginServer.Configuration {
        guard let origin = LoginOrigin(origin) else { throw ValidationError("Invalid --origin.") }
        var settings = LoginServer.Configuration(origin: origin, keyFile: try store.keyFilePath())
        settings.host = host
        settings.port = port
        settings.tokenLifetime = tokenLifetime
        settings.trustedProxies = trustedProxy
        settings.socket = socket
        settings.adminTokenFile = adminTokenFile
        settings.operations = operationsAddress.flatMap(OperationsAddress.init)
        settings.relyingParty.audit.seconds = auditDays * 86_400
        if let tlsCertificate, let tlsKey {
            settings.certificate = .init(chain: tlsCertificate, key: tlsKey)
        }
        settings.relyingParty.limits.perAddress =
            triesPerMinute == 0 ? nil : .init(count: triesPerMinute, seconds: 60)
        settings.passwordLimits.perUser = passwordTriesPerUser
        settings.passwordLimits.perAddress = passwordTriesPerAddress
        settings.connections = connections
        settings.connectionsPerAddress = connectionsPerAddress
        settings.relyingParty.attestationPolicy = attestation.policy
        settings.attestationRoots = attestationRoots
        if allowChangedFingers { settings.relyingParty.domainStatePolicy = .allow }
        return settings
    }

    /// Writes one line to standard output, for the program that started the server and waits for it.
    @Sendable
    private func announce(_ listening: LoginServer.Listening) {
        if let socket {
            let text =
                json ? #"{"event":"listening","socket":"\#(socket)"}"# : "listening on \(socket) as \(origin)"
            FileHandle.standardOutput.write(Data((text + "\n").utf8))
            return
        }
        let host = listening.host.contains(":") ? "[\(listening.host)]" : listening.host
        let url = "\(tlsCertificate == nil ? "http" : "https")://\(host):\(listening.port)"
        let text =
            json
            ? #"{"event":"listening","host":"\#(listening.host)","port":\#(listening.port),"url":"\#(url)"}"#
            : "listening on \(url) as \(origin)"
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}

/// The values of `--attestation`.
enum AttestationChoice: String, ExpressibleByArgument, CaseIterable {
    case none
    case allow
    case require

    var policy: RelyingParty.Configuration.AttestationPolicy {
        switch self {
        case .none: .none
        case .allow: .allow
        case .require: .require
        }
    }
}
