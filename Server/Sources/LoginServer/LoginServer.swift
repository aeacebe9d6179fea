// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
public import Logging
internal import NIOCore
public import RelyingParty
public import ServiceLifecycle

/// The web server: the relying party behind HTTP (Server/openapi.yaml).
public struct LoginServer: Service {
    /// The address and port of a running server.
    public struct Listening: Sendable {
        /// The configured address.
        public let host: String
        /// The port; the assigned one if 0 was configured.
        public let port: Int
    }

    private let service: LoginService
    private let configuration: Configuration
    private let logger: Logger
    private let onListening: @Sendable (Listening) async -> Void

    /// Reads the store and the key file, which is created if it is missing.
    ///
    /// - Parameters:
    ///   - store: The store of users, devices, challenges and keys.
    ///   - configuration: The configuration of the server.
    ///   - logger: Receives a line for each request.
    ///   - now: The clock.
    ///   - onListening: Called once, when the server accepts requests.
    /// - Throws: ``ServerError``, and the store's error.
    public init(
        store: any RelyingPartyStore,
        configuration: Configuration,
        logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() },
        onListening: @escaping @Sendable (Listening) async -> Void = { _ in }
    ) async throws {
        service = try await LoginService(
            store: store,
            configuration: configuration,
            logger: logger,
            now: now
        )
        self.configuration = configuration
        self.logger = logger
        self.onListening = onListening
    }

    /// Runs until the task is cancelled or, in a service group, until it is asked to stop: requests in progress are
    /// then completed, and new ones are not accepted.
    ///
    /// - Throws: ``ServerError`` if it cannot listen, or the certificate is not valid.
    public func run() async throws {
        let application = Application(
            router: service.router,
            server: try server(),
            configuration: ApplicationConfiguration(
                address: configuration.socket.map { .unixDomainSocket(path: $0) }
                    ?? .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: .maximum(configuration.connections, logger: logger)
            ),
            services: services,
            onServerRunning: { [configuration, onListening] channel in
                let port = channel.localAddress?.port ?? configuration.port
                await onListening(Listening(host: configuration.host, port: port))
            },
            logger: logger
        )
        do {
            try await application.run()
        } catch let error as IOError {
            throw ServerError(
                .options,
                "cannot listen on \(configuration.host), port \(configuration.port): \(error)",
                hint: error.errnoCode == EADDRINUSE
                    ? "another program is listening there; choose another --port" : nil
            )
        }
    }

    /// The services that run in addition to requests.
    private var services: [any Service] {
        let upkeep = Upkeep(service: service, logger: logger, interval: configuration.upkeepInterval)
        guard let address = configuration.operations else { return [upkeep] }
        let operations = Application(
            router: service.operationsRouter,
            server: .http1(configuration: HTTP1Channel.Configuration(idleTimeout: .seconds(10))),
            configuration: ApplicationConfiguration(address: address.bind),
            logger: logger
        )
        return [upkeep, operations]
    }

    /// Whether a peer may connect: without TLS only a proxy, or a peer that uses no network.
    private var admission: @Sendable (SocketAddress?) -> Bool {
        guard configuration.certificate == nil else { return { _ in true } }
        return { [proxies = service.proxies, logger] peer in
            if proxies.admitsPlain(peer) { return true }
            let address = peer.flatMap(ClientAddress.init) ?? .unknown
            logger.warning(
                "refused a connection without TLS, which is neither from this computer nor from a trusted proxy",
                metadata: ["address": "\(address.text)"]
            )
            return false
        }
    }

    private func server() throws -> HTTPServerBuilder {
        let timeout = TimeAmount.seconds(Int64(configuration.requestTimeout))
        let admits = admission
        let plain = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    HostCheckInstaller(), RequestGate(),
                    ConnectionGuard(timeout: timeout, counter: service.connections, admits: admits),
                ],
                idleTimeout: timeout,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 12 * 1024,
                    maxHeaderListSize: 16 * 1024,
                    maxHeaderFieldCount: 64
                )
            )
        )
        guard let certificate = service.certificate else { return plain }
        do {
            return try .tls(plain, tlsConfiguration: certificate.configuration())
        } catch {
            throw ServerError(.certificate, "cannot set up TLS: \(error)")
        }
    }
}

extension LoginService {
    /// The endpoints with their middleware.
    var router: Router<ServerContext> {
        router(hasOperationsAddress ? endpoints.filter { $0.path != Endpoint.metrics } : endpoints)
    }

    /// The endpoints for operators, at a separate address.
    var operationsRouter: Router<ServerContext> {
        let others = endpoints.filter { [Endpoint.metrics, "/healthz", "/readyz"].contains($0.path) }
        return router(adminToken == nil ? others : others + adminEndpoints)
    }

    private func router(_ endpoints: [Endpoint]) -> Router<ServerContext> {
        let router = Router(context: ServerContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: AnswerMiddleware(service: self, endpoints: endpoints))
        for endpoint in endpoints {
            router.on(RouterPath(endpoint.path), method: endpoint.method, use: endpoint.handler)
        }
        return router
    }
}
