// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlFingerprint
import Foundation
import SoftwareMachine
import SoftwareTPM
import Synchronization
import WhorlIPC
import WhorlService
import WhorlSystem

@testable import WhorlRemote

/// A service in this process, by the rules of a test, with a simulated TPM and a mock reader.
final class HostMachine {
    let tpm: SoftwareTPM
    let transport: HostTransport
    /// The services of a program that asks.
    let services: Services
    let host: ServiceHost
    private let server: ServiceServer

    init(
        _ rules: PromptRules = PromptRules(),
        callers: any CallerRules = UniformCallerRules(),
        reader: String = "mock:then=match",
        enrolled: Finger? = .leftThumb,
        passcode: String? = nil
    ) async throws {
        tpm = try SoftwareTPM()
        let root = InProcessRoot(on: tpm, reader: reader)
        if let enrolled { try await root.enroll(enrolled) }
        let own = root.services
        host = ServiceHost(
            prompts: rules,
            rules: callers,
            services: { _ throws(ServiceRefusal) in own },
            keychain: { _, groups throws(ServiceRefusal) in root.keychain(in: groups) }
        )
        server = ServiceServer(host.router(version: "test"))
        transport = HostTransport(server: server)
        services = Self.services(over: transport)
        if let passcode {
            let session = OwnerSession()
            let consent = ConsentRequest(application: own.application)
            if enrolled != nil {
                try await own.ask(AskForFinger(consent, in: session), presenter: ScriptedPresenter())
            }
            try await own.ask(SetPasscode(secret(passcode), consent, shown: session))
        }
    }

    deinit { server.stop() }

    static func services(over transport: any ServiceTransport) -> Services {
        .remote(profile: "ada", application: ApplicationID(rawValue: "org.example.app"), over: transport)
    }

    /// Asks as another program does, and returns what its presenter is shown, and how it ends.
    func ask(
        _ presenter: ScriptedPresenter = ScriptedPresenter(),
        timeout: Duration = .seconds(60)
    ) async -> (presenter: ScriptedPresenter, outcome: Result<Evaluation, ServiceError>) {
        var request = EvaluationRequest("unlock")
        request.timeout = timeout
        do throws(ServiceError) {
            return (presenter, .success(try await services.evaluate(request, presenter: presenter)))
        } catch {
            return (presenter, .failure(error))
        }
    }

    /// Waits until the service has seen the end of the agent that belongs to no session.
    func agentHasLeft() async {
        let place = AgentBoard.Place(uid: geteuid(), session: nil)
        while host.agents.agent(at: place) != nil { await Task.yield() }
    }

    /// Waits until the service has seen the end of each connection that began a session of its own.
    func sessionsHaveEnded() async { while !host.sessions.isEmpty { await Task.yield() } }

    /// Starts an agent, and returns when it is registered.
    func agent(_ presenter: any PromptPresenter) async -> Task<ServiceError?, Never> {
        let (registrations, sink) = AsyncStream.makeStream(of: Void.self)
        let agent = RemoteAgent(over: transport)
        let task = Task { () async -> ServiceError? in
            defer { sink.finish() }
            do throws(ServiceError) {
                try await agent.run(on: presenter) { sink.yield() }
                return nil
            } catch {
                return error
            }
        }
        for await _ in registrations { break }
        return task
    }
}

/// An agent that speaks to the service as it likes.
final class WildAgent: Sendable {
    /// Its own word for each prompt, in order, by the prompt's id.
    private let answer: @Sendable (String) async -> Void
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let seen = Mutex<[AgentInterface.Update]>([])
    private let answers = Mutex<[Task<Void, Never>]>([])

    var updates: [AgentInterface.Update] { seen.withLock(\.self) }
    /// The ids of the prompts that it was shown.
    var prompts: [String] { updates.compactMap(\.prompt?.id) }

    /// Registers, and answers each prompt with `answer`.
    init(at machine: HostMachine, answer: @escaping @Sendable (String) async -> Void) async throws {
        self.answer = answer
        let connection = try ServiceConnection(try machine.transport.connect())
        let (registrations, sink) = AsyncStream.makeStream(of: Void.self)
        let task = Task { [self] in
            defer { sink.finish() }
            // The registration ends with its connection, and never with a reply.
            let reply: CallReply<AgentInterface.Update>? = try? await connection.call(
                AgentInterface.Register.name,
                AgentInterface.Register(
                    presenter: PresenterAbilities(isInteractive: true, takesPasscode: true)
                ),
                update: { update in
                    self.take(update)
                    if update.isRegistered == true { sink.yield() }
                }
            )
            _ = reply
        }
        self.task.withLock { $0 = task }
        for await _ in registrations { break }
    }

    private func take(_ update: AgentInterface.Update) {
        seen.withLock { $0.append(update) }
        guard let id = update.prompt?.id else { return }
        answers.withLock { $0.append(Task { await self.answer(id) }) }
    }

    /// Hangs up.
    func leave() { task.withLock(\.self)?.cancel() }

    /// Waits until all prompts are answered.
    func answered() async { for task in answers.withLock(\.self) { await task.value } }
}
