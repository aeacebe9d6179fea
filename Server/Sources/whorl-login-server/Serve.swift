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
        abstract: "Serves until it is told to stop (SIGTERM, SIGINT)."
    )

    @OptionGroup var store: StoreOptions

    @Option(help: "The port to listen on; 0 takes a free one.")
    var port = 8080

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "What devices know the server by, such as https://bank.example.",
            valueName: "https://…"
        )
    )
    var origin: String

    @Option(help: ArgumentHelp("The certificate chain, a PEM file.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The certificate's key, a PEM file.", valueName: "file"))
    var tlsKey: String?

    @Option(help: ArgumentHelp("How long a session token is good.", valueName: "seconds"))
    var tokenLifetime = 900

    @Option(
        help: ArgumentHelp(
            "A Unix socket to listen on, in place of --host and --port; its directory says which proxies may connect.",
            valueName: "path"
        )
    )
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Where operators ask for /metrics, which is not told elsewhere then: 127.0.0.1:9090, or unix:/path.",
            valueName: "address"
        )
    )
    var operationsAddress: String?

    @Option(
        help: ArgumentHelp(
            "A file whose first line is the token that operators' programs show at the operations address.",
            valueName: "file"
        )
    )
    var adminTokenFile: String?

    @Option(help: ArgumentHelp("How long lines of the audit log are kept.", valueName: "days"))
    var auditDays = 400

    @Option(
        help: ArgumentHelp(
            "A proxy, or a network of proxies such as 10.0.0.0/8, whose X-Forwarded-For is believed; may be given several times.",
            valueName: "address"
        )
    )
    var trustedProxy: [String] = []

    @Option(
        help: ArgumentHelp(
            "How many challenges and answers an address has in a minute, at each instance. 0 is no limit.",
            valueName: "number"
        )
    )
    var triesPerMinute = 120

    @Option(
        help: ArgumentHelp(
            "How many wrong passwords a user may have in a quarter of an hour, from everywhere.",
            valueName: "number"
        )
    )
    var passwordTriesPerUser = PasswordLimits().perUser

    @Option(
        help: ArgumentHelp(
            "How many wrong passwords may come from an address in a quarter of an hour.",
            valueName: "number"
        )
    )
    var passwordTriesPerAddress = PasswordLimits().perAddress

    @Option(help: ArgumentHelp("How many connections there may be.", valueName: "number"))
    var connections = 4_096

    @Option(
        help: ArgumentHelp(
            "How many connections an address may have; this machine and trusted proxies are not counted.",
            valueName: "number"
        )
    )
    var connectionsPerAddress = 64

    @Flag(help: "Let devices sign in also where other fingers are enrolled than when they were enabled.")
    var allowChangedFingers = false

    @Option(
        help: ArgumentHelp(
            "Whether a TPM may or must prove what guards a key that is enabled: none, allow, require.",
            valueName: "policy"
        )
    )
    var attestation = AttestationChoice.none

    @Option(
        help: ArgumentHelp(
            "The certificates of the makers of TPMs that are trusted, a PEM file.",
            valueName: "file"
        )
    )
    var attestationRoots: String?

    @Flag(help: "Print where it listens as JSON.")
    var json = false

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is a number up to 65535.") }
        guard LoginOrigin(origin) != nil else {
            throw ValidationError(
                "--origin is https://HOST or https://HOST:PORT in lower case, or http://localhost:PORT."
            )
        }
        guard (0...1_000_000).contains(triesPerMinute) else {
            throw ValidationError("--tries-per-minute is 1 to 1,000,000, or 0 for no limit.")
        }
        for (name, value) in [
            ("password-tries-per-user", passwordTriesPerUser),
            ("password-tries-per-address", passwordTriesPerAddress), ("connections", connections),
            ("connections-per-address", connectionsPerAddress),
        ] where !(1...1_000_000).contains(value) {
            throw ValidationError("--\(name) is 1 to 1,000,000.")
        }
        guard operationsAddress.map({ OperationsAddress($0) != nil }) ?? true else {
            throw ValidationError("--operations-address is 127.0.0.1:PORT, [::1]:PORT or unix:/PATH.")
        }
        guard (1...36_500).contains(auditDays) else { throw ValidationError("--audit-days is 1 to 36,500.") }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key go together.")
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
                "the limit of open files leaves fewer connections than usual",
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
        // A request may take 10 seconds to arrive; one that takes longer than this would not have completed.
        group.maximumGracefulShutdownDuration = .seconds(20)
        try await ServiceGroup(configuration: group).run()
    }

    private func settings() throws -> LoginServer.Configuration {
        guard let origin = LoginOrigin(origin) else { throw ValidationError("--origin is no origin.") }
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

    /// Writes one line on standard output, for the program that started the server and waits for it.
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
