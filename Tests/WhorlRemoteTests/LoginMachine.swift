// SPDX-License-Identifier: Apache-2.0

import Glibc
import SoftwareMachine
import SoftwareTPM
import Testing
import WhorlFingerprint
import WhorlIPC
import WhorlService
import WhorlSystem

@testable import WhorlRemote

/// A service of a whole system in this process, with accounts that can log in by a finger.
final class LoginMachine: Sendable {
    let rules = ScriptedRules()
    let root: InProcessRoot
    private let tpm: SoftwareTPM
    private let server: ServiceServer
    let host: ServiceHost

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - reader: The script of the reader.
    ///   - enrolled: The only enrolled finger.
    ///   - asker: The user who may ask, in place of root.
    ///   - countsTogether: Whether the failed tries of all logins count together.
    /// - Throws: The error of a TPM or a store that cannot be made.
    init(
        _ reader: String,
        enrolled: Finger? = .leftThumb,
        asker: UInt32 = getuid(),
        countsTogether: Bool = false
    )
        async throws
    {
        let tpm = try SoftwareTPM()
        let root = InProcessRoot(on: tpm, reader: reader)
        if let enrolled { try await root.enroll(enrolled) }
        self.tpm = tpm
        self.root = root
        var host = ServiceHost(
            rules: rules,
            services: { _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") },
            keychain: { _, _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") }
        )
        let owner = root.services
        let keyring = root.loginKeyring
        host.logins = LoginAccess(
            asker: asker,
            owner: { _ in owner },
            obstacle: { _ in await root.obstacleWithoutState() },
            keyring: { _ in keyring },
            place: countsTogether ? root.loginPlace : nil,
            unlock: { (_, asker) async throws(ServiceError) in try await root.unlock(by: asker) }
        )
        self.host = host
        server = ServiceServer(host.router(version: "test"))
    }

    deinit { server.stop() }

    /// A connection as a login has it.
    func connection() throws -> ServiceConnection {
        let (own, other) = try UnixSocket.pair()
        try server.serve(other)
        return try ServiceConnection(own)
    }

    /// Asks for a touch, and returns the messages and how it ends.
    func verify(
        _ asking: LoginInterface.Verify = .sudo(),
        beside descriptors: [Descriptor] = []
    ) async throws -> (messages: [String], outcome: Result<Bool?, ServiceCallError>) {
        let connection = try connection()
        var messages: [String] = []
        do throws(ServiceCallError) {
            let reply: CallReply<LoginInterface.Answer> = try await connection.call(
                LoginInterface.Verify.name,
                asking,
                descriptors: descriptors
            ) { messages += $0.message.map { [$0] } ?? [] }
            return (messages, .success(reply.parameters.matched))
        } catch {
            return (messages, .failure(error))
        }
    }

    /// Asks for a touch that is refused, and returns the reason, and whether anything was shown before it.
    func refusal(
        _ asking: LoginInterface.Verify = .sudo(),
        beside descriptors: [Descriptor] = []
    ) async throws -> (reason: LoginReason?, messages: [String]) {
        let (messages, outcome) = try await verify(asking, beside: descriptors)
        guard case .failure(.refused(let refusal)) = outcome, refusal.name == LoginRefused.name else {
            Issue.record("\(outcome)")
            return (nil, messages)
        }
        return (refusal.failure(as: LoginRefused.self)?.reason, messages)
    }
}

extension LoginInterface.Verify {
    static func sudo(
        service: String = "sudo",
        terminal: String? = "/dev/pts/7",
        remoteHost: String? = nil,
        within limit: Duration = .seconds(30),
        mostTries: Int? = nil
    ) -> Self {
        Self(
            user: 1000,
            service: service,
            terminal: terminal,
            remoteHost: remoteHost,
            timeoutMilliseconds: limit.components.seconds * 1000,
            mostTries: mostTries
        )
    }
}
