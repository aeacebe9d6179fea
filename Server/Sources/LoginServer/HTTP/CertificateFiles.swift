// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// The certificate and its key, reloaded when their files change, so that a renewal requires no restart.
final class CertificateFiles: Sendable {
    private struct State {
        var chain: [NIOSSLCertificateSource]
        var key: NIOSSLPrivateKeySource
        /// The bytes of the two files; the key's stay in memory as long as the key itself.
        var bytes: [Data]
    }

    private let paths: LoginServer.Configuration.Certificate
    private let state: Mutex<State>

    /// Reads the files.
    ///
    /// - Throws: ``ServerError`` unless they are a certificate and its key.
    init(_ paths: LoginServer.Configuration.Certificate) throws(ServerError) {
        self.paths = paths
        state = Mutex(try Self.read(paths))
    }

    /// Reads the files again for new connections.
    ///
    /// - Returns: Whether they have changed.
    /// - Throws: ``ServerError`` unless they are a certificate and its key; the previous ones stay in use.
    func reload() throws(ServerError) -> Bool {
        let new = try Self.read(paths)
        return state.withLock { state in
            guard state.bytes != new.bytes else { return false }
            state = new
            return true
        }
    }

    /// Returns TLS settings for a server that uses the last loaded files for each connection.
    func configuration() -> TLSConfiguration {
        var tls = state.withLock { Self.configuration($0) }
        tls.sslContextCallback = { [self] _, promise in
            var override = NIOSSLContextConfigurationOverride()
            state.withLock {
                override.certificateChain = $0.chain
                override.privateKey = $0.key
            }
            promise.succeed(override)
        }
        return tls
    }

    private static func configuration(_ state: State) -> TLSConfiguration {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: state.chain,
            privateKey: state.key
        )
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["http/1.1"]
        return tls
    }

    private static func read(_ paths: LoginServer.Configuration.Certificate) throws(ServerError) -> State {
        do {
            let bytes = try [paths.chain, paths.key].map { try Data(contentsOf: URL(filePath: $0)) }
            let state = State(
                chain: try NIOSSLCertificate.fromPEMBytes(Array(bytes[0])).map { .certificate($0) },
                key: .privateKey(try NIOSSLPrivateKey(bytes: Array(bytes[1]), format: .pem)),
                bytes: bytes
            )
            // Fails if the key does not match the certificate, for example while only one of the files was replaced.
            _ = try NIOSSLContext(configuration: configuration(state))
            return state
        } catch {
            throw ServerError(
                .certificate,
                "\(paths.chain) and \(paths.key) are not a certificate and its key: \(error)",
                hint: "use PEM files and an unencrypted key"
            )
        }
    }
}
