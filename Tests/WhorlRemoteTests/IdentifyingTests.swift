// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import Glibc
import SoftwareMachine
import SoftwareTPM
import Testing
import WhorlFingerprint
import WhorlIPC
import WhorlService
import WhorlSystem

@testable import WhorlRemote

/// The question which of a few people is there, asked over a socket.
@Suite("Identifying over a socket")
struct IdentifyingTests {
    private let request = EvaluationRequest(
        policy: .biometrics,
        purpose: .yes,
        reason: "check in",
        application: ApplicationID(rawValue: "org.example.counter")
    )

    private func accounts(
        _ root: InProcessRoot,
        asker: UInt32 = getuid(),
        people: Int = 5
    ) throws -> (RemoteAccounts, ServiceServer) {
        var host = ServiceHost(
            services: { _ throws(ServiceRefusal) in root.services },
            keychain: { _, _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") }
        )
        var rules = GroupRules()
        rules.mostPeople = people
        host.logins = LoginAccess(
            asker: asker,
            owner: { _ in root.services },
            obstacle: { _ in await root.obstacleWithoutState() },
            place: nil,
            identify: { [rules] users, request, presenter async throws(ServiceError) in
                try await root.identify(users.map { ($0, root) }, rules, request, presenter)
            }
        )
        let server = ServiceServer(host.router(version: "test"))
        return (RemoteAccounts(over: HostTransport(server: server)), server)
    }

    @Test func `the person, the finger and the chance come back, and the prompt is shown`() async throws {
        let tpm = try SoftwareTPM()
        let root = InProcessRoot(on: tpm)
        try await root.enroll(.leftThumb)
        let (accounts, server) = try accounts(root)
        defer { server.stop() }
        let presenter = ScriptedPresenter()
        let person = try await accounts.identify(among: [1001], request, presenter: presenter)
        #expect(person.user == 1001 && person.finger == .leftThumb && person.strangerOneIn == 1737)
        #expect(presenter.prompts.map(\.reason) == ["check in"])
    }

    @Test func `others than root are refused, and so are more people than are allowed`() async throws {
        let tpm = try SoftwareTPM()
        let root = InProcessRoot(on: tpm)
        try await root.enroll(.leftThumb)
        let presenter = ScriptedPresenter()
        let (foreign, first) = try accounts(root, asker: getuid() + 1)
        defer { first.stop() }
        await #expect(throws: ServiceError.self) {
            try await foreign.identify(among: [1001], request, presenter: presenter)
        }
        let (few, second) = try accounts(root, people: 1)
        defer { second.stop() }
        let error = await #expect(throws: ServiceError.self) {
            try await few.identify(among: [1001, 1002], request, presenter: presenter)
        }
        #expect(error?.code == .invalidContext && presenter.prompts.isEmpty)
    }
}
