// SPDX-License-Identifier: Apache-2.0

import FacesOverSocket
import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import Synchronization
import Testing
import WhorlService

@testable import WhorlIPC
@testable import WhorlRemote

/// A program that shows the prompts of other programs.
@Suite("An agent")
struct AgentTests {
    private static func rules(_ agents: AgentPolicy) -> PromptRules {
        var rules = PromptRules()
        rules.agents = agents
        return rules
    }

    @Test func `an agent shows the prompt, and the program that asks gets neither it nor its id`()
        async throws
    {
        let machine = try await HostMachine()
        let agent = ScriptedPresenter()
        let registration = await machine.agent(agent)
        let seen = Mutex<[Prompted<Evaluation>]>([])
        let connection = try ServiceConnection(try machine.transport.connect())
        let reply: CallReply<Prompted<Evaluation>> = try await connection.call(
            EvaluatePolicy.name,
            Prompting(
                call: EvaluatePolicy(EvaluationRequest("unlock")),
                presenter: PresenterAbilities(isInteractive: false, takesPasscode: false)
            ),
            update: { update in seen.withLock { $0.append(update) } }
        )
        #expect(reply.parameters.value?.finger == .leftThumb)
        #expect(agent.prompts.map(\.reason) == ["unlock"])
        // This service does not look at who asks.
        #expect(agent.prompts.map(\.title) == ["org.example.app"])
        #expect(agent.updates.last == .matched(.leftThumb))
        let told = seen.withLock(\.self)
        #expect(told.map(\.elsewhere) == [true])
        #expect(told.allSatisfy { $0.prompt == nil && $0.update == nil && $0.end == nil && $0.value == nil })
        registration.cancel()
        #expect(await registration.value?.code == .appCancel)
    }

    @Test func `without an agent the program that asks shows its prompt itself, and after one has left too`()
        async throws
    {
        let machine = try await HostMachine()
        #expect(await machine.ask().presenter.prompts.count == 1)
        let agent = ScriptedPresenter()
        let registration = await machine.agent(agent)
        #expect(await machine.ask().presenter.prompts.isEmpty)
        registration.cancel()
        _ = await registration.value
        await machine.agentHasLeft()
        #expect(await machine.ask().presenter.prompts.count == 1)
        #expect(agent.prompts.count == 1)
    }

    @Test func `a registration given away at rest shows later prompts where it is taken over`() async throws {
        let machine = try await HostMachine()
        let (first, second) = (ScriptedPresenter(), ScriptedPresenter())
        let agent = RemoteAgent(over: machine.transport)
        let (registrations, sink) = AsyncStream.makeStream(of: Void.self)
        let hasShown = Mutex(false)
        let resting = Task {
            let rest = RemoteAgent.Rest(after: .milliseconds(100)) { hasShown.withLock(\.self) }
            return try await agent.run(on: first, from: nil, rest: rest) { sink.yield() }
        }
        for await _ in registrations { break }
        #expect(await machine.ask().presenter.prompts.isEmpty)
        hasShown.withLock { $0 = true }
        let socket = try await resting.value
        // Nobody reads the registration now: the prompt waits there.
        let asker = await machine.ask()
        #expect(try asker.outcome.get().finger == .leftThumb)
        let goingOn = Task { try await agent.run(on: second, from: socket, rest: nil) { sink.yield() } }
        #expect(await machine.ask().presenter.prompts.isEmpty)
        goingOn.cancel()
        await #expect(throws: ServiceError.self) { try await goingOn.value }
        #expect(asker.presenter.prompts.isEmpty)
        #expect(first.prompts.count == 1)
        #expect(second.prompts.count == 2)
        // It was registered once.
        sink.finish()
        #expect(await registrations.reduce(0) { count, _ in count + 1 } == 0)
    }

    @Test func `an agent keeps its registration for as long as something keeps it from rest`() async throws {
        let machine = try await HostMachine()
        let agent = RemoteAgent(over: machine.transport)
        let mayRest = Mutex(false)
        let hasRested = Mutex(false)
        let resting = Task {
            let rest = RemoteAgent.Rest(after: .milliseconds(50)) { mayRest.withLock(\.self) }
            let socket = try await agent.run(on: ScriptedPresenter(), from: nil, rest: rest) {}
            hasRested.withLock { $0 = true }
            return socket
        }
        try await Task.sleep(for: .milliseconds(400))
        #expect(hasRested.withLock { $0 } == false)
        mayRest.withLock { $0 = true }
        _ = try await resting.value
    }

    // Docs/Security.md: S42
    @Test func `a passcode that is typed at an agent goes past the program that asks`() async throws {
        let word = "ztq8 vb1x 4kwj"
        let machine = try await HostMachine(reader: "mock:then=no-match,match", passcode: word)
        let agent = ScriptedPresenter(typing: ["wrong one", word])
        let registration = await machine.agent(agent)
        defer { registration.cancel() }
        let tap = TapTransport(machine.transport)
        let asker = ScriptedPresenter(typing: ["of the asker"])
        let evaluation = try await HostMachine.services(over: tap).evaluate(
            EvaluationRequest("unlock"),
            presenter: asker
        )
        #expect(evaluation.method == .passcode && asker.prompts.isEmpty)
        #expect(agent.updates.contains(.wrongPasscode(triesLeft: 4)) && agent.updates.last == .verified)
        let recorded = tap.recorded
        #expect(recorded.range(of: Data("io.whorl.Owner.Evaluate".utf8)) != nil)
        for hidden in [word, "wrong one", "wrongPasscode", "io.whorl.Prompt", "memfd"] {
            #expect(recorded.range(of: Data(hidden.utf8)) == nil, "\(hidden)")
        }
        #expect(!tap.hasDescriptors)
    }

    // Docs/Security.md: S40
    @Test func `an agent that says yes to everything gets no success`() async throws {
        let machine = try await HostMachine(reader: "mock:then=no-match,match", passcode: "2468 hunter")
        let client = ServiceClient(transport: machine.transport)
        let said = Mutex<[String]>([])
        let agent = try await WildAgent(at: machine) { id in
            struct Yes: Codable, Sendable {
                let prompt: String
                let update: PromptUpdate
                let value: Bool
                let action: String
            }
            let yes = Yes(prompt: id, update: .matched(.leftThumb), value: true, action: "matched")
            for method in [
                "io.whorl.Agent.Matched", "io.whorl.Agent.Update", "io.whorl.Prompt.Matched",
                "io.whorl.Prompt.Update", "io.whorl.Prompt.Ended", "io.whorl.Agent.Register",
            ] {
                do throws(ServiceCallError) {
                    let connection = try client.connection()
                    let _: CallReply<NoValue> = try await connection.call(method, yes)
                    said.withLock { $0.append("accepted \(method)") }
                } catch {
                    said.withLock { $0.append("refused") }
                }
            }
            for guess in ["", "true", "matched", "0000"] {
                _ = try? await client.call(PromptInterface.Submit(prompt: id, passcode: secret(guess)))
            }
            _ = try? await client.call(PromptInterface.Typing(prompt: id))
            _ = try? await client.call(PromptInterface.Close(prompt: id))
        }
        defer { agent.leave() }
        let outcome = await machine.ask().outcome
        await agent.answered()
        #expect(throws: ServiceError.self) { try outcome.get() }
        #expect(said.withLock(\.self).allSatisfy { $0 == "refused" } && said.withLock(\.count) == 6)
    }

    // Docs/Security.md: S40
    @Test func `the first answer of an agent counts, and what it says after the end changes nothing`()
        async throws
    {
        let machine = try await HostMachine(reader: "mock:hang*9")
        let client = ServiceClient(transport: machine.transport)
        let abilities = PresenterAbilities(isInteractive: true, takesPasscode: false)
        @Sendable func end(_ id: String, _ action: PromptAction?) async -> Bool? {
            try? await client.call(
                PromptInterface.Ended(prompt: id, action: action, presenter: abilities)
            ).value
        }
        let agent = try await WildAgent(at: machine) { id in
            _ = await end(id, .cancel)
            _ = await end(id, .fallback)
            _ = await end(id, nil)
        }
        defer { agent.leave() }
        for _ in 0..<3 {
            #expect(await machine.ask().outcome == .failure(ServiceError(.userCancel)))
        }
        await agent.answered()
        #expect(Set(agent.prompts).count == 3)
        for id in agent.prompts {
            #expect(await end(id, .cancel) == false)
            #expect(
                try await client.call(PromptInterface.Typing(prompt: id))
                    .value == false
            )
        }
    }

    // Docs/Security.md: S41
    @Test func `a prompt is answered by the process that shows it, of its user, and by no other`() throws {
        let board = PromptBoard()
        let (end, _) = try UnixSocket.pair()
        let own = try PeerUser(of: end)
        let call = CallerScreenStub(own)
        let prompt = WirePrompt(PromptEntry(.finger), at: call)
        board.add(prompt)
        #expect(board.prompt(prompt.id, of: own) === prompt)
        let others = [
            PeerUser(uid: own.uid + 1, gid: own.gid, pid: own.pid),
            PeerUser(uid: own.uid, gid: own.gid, pid: own.pid + 1),
        ]
        for other in others { #expect(board.prompt(prompt.id, of: other) == nil) }
        board.remove(prompt)
        #expect(board.prompt(prompt.id, of: own) == nil)
    }

    // Docs/Security.md: S43
    @Test
    func `an agent that dies during a prompt ends the request with its reason, and asks for nothing more`()
        async throws
    {
        let machine = try await HostMachine(reader: "mock:then=wait")
        let agent = Mutex<WildAgent?>(nil)
        func start() async throws {
            let started = try await WildAgent(at: machine) { _ in agent.withLock(\.self)?.leave() }
            agent.withLock { $0 = started }
        }
        for _ in 0..<20 {
            try await start()
            let asked = await machine.ask(timeout: .seconds(5))
            #expect(asked.outcome == .failure(.agentEnded))
            #expect(asked.presenter.prompts.isEmpty)
        }
        let item = try await machine.services.seal(
            secret("the secret"),
            access: .biometryAny,
            applicationPassword: nil
        )
        try await start()
        await #expect(throws: ServiceError.agentEnded) {
            try await machine.services.secret(
                in: .sealed(item),
                ReleaseRequest(EvaluationRequest("open")),
                presenter: ScriptedPresenter()
            )
        }
        try await start()
        await #expect(throws: ServiceError.agentEnded) {
            try await machine.services.ask(
                RemoveFingers(.all, force: false, ConsentRequest(application: machine.services.application)),
                presenter: ScriptedPresenter()
            )
        }
        #expect(try await machine.services.ask(ListFingers()).count == 1)
    }

    @Test func `an agent that leaves when its prompt has ended takes no success away`() async throws {
        let machine = try await HostMachine()
        let item = try await machine.services.seal(
            secret("the secret"),
            access: .biometryAny,
            applicationPassword: nil
        )
        let agent = try await WildAgent(at: machine) { _ in }
        let asking = Task {
            try await machine.services.secret(
                in: .sealed(item),
                ReleaseRequest(EvaluationRequest("open")),
                presenter: ScriptedPresenter()
            ).evaluations.count
        }
        while agent.updates.last?.end == nil { try await Task.sleep(for: .milliseconds(1)) }
        agent.leave()
        #expect(try await asking.value == 1)
    }

    // Docs/Security.md: S43
    @Test func `where an agent has to show prompts and none is registered, none is shown, with the remedy`()
        async throws
    {
        let machine = try await HostMachine(
            Self.rules(.required),
            reader: "mock:then=match",
            passcode: "2468 hunter"
        )
        let asked = await machine.ask(ScriptedPresenter(typing: ["2468 hunter"]))
        #expect(asked.presenter.prompts.isEmpty)
        let error = try #require(asked.outcome.error, "it succeeded without a prompt")
        #expect(error.code == .notInteractive && error.recovery.contains("whorl agent"))
        let agent = ScriptedPresenter()
        let registration = await machine.agent(agent)
        defer { registration.cancel() }
        #expect(try await machine.ask().outcome.get().finger == .leftThumb)
        #expect(agent.prompts.count == 1)
    }

    @Test func `an agent that dies at any moment of a prompt is noticed`() async throws {
        let (end, _) = try UnixSocket.pair()
        let user = try PeerUser(of: end)
        let call = ServiceCall(
            client: ServiceClientIdentity(user: user, process: nil, label: .none),
            wantsMore: true,
            attached: CallDescriptors([]),
            contents: CallContents([]),
            send: { _, _ in }
        )
        let prompt = Prompt(
            title: "test",
            reason: "a test",
            purpose: .yes,
            cancelTitle: "Cancel",
            fallbackTitle: nil,
            readerKind: .mock,
            scanType: .press
        )
        let abilities = PresenterAbilities(isInteractive: true, takesPasscode: false)
        var unnoticed = 0
        for _ in 0..<2000 {
            let host = ServiceHost(
                services: { _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") },
                keychain: { _, _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") }
            )
            let agent = RegisteredAgent(abilities, call)
            #expect(host.agents.add(agent, at: AgentBoard.Place(uid: user.uid, session: nil)))
            let presenter = WirePresenter<Evaluation>(abilities, call, by: Caller(), host)
            let entry = PromptEntry(.finger)
            let showing = Task { await presenter.show(prompt, entry) }
            while await !presenter.isInteractive {}
            agent.hangUp()
            #expect(await showing.value == nil)
            if presenter.loss != .agentEnded { unnoticed += 1 }
        }
        #expect(unnoticed == 0)
    }

    @Test func `an agent that comes while a request waits shows its prompt, and no reason is left behind`()
        async throws
    {
        let host = ServiceHost(
            prompts: Self.rules(.required),
            services: { _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") },
            keychain: { _, _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") }
        )
        let (end, _) = try UnixSocket.pair()
        let user = try PeerUser(of: end)
        let call = ServiceCall(
            client: ServiceClientIdentity(user: user, process: nil, label: .none),
            wantsMore: true,
            attached: CallDescriptors([]),
            contents: CallContents([]),
            send: { _, _ in }
        )
        let abilities = PresenterAbilities(isInteractive: true, takesPasscode: true)
        let presenter = WirePresenter<Evaluation>(abilities, call, by: Caller(), host)
        #expect(await !presenter.isInteractive)
        #expect(presenter.loss == .noAgent)
        let place = AgentBoard.Place(uid: user.uid, session: nil)
        #expect(host.agents.add(RegisteredAgent(abilities, call), at: place))
        #expect(await presenter.isInteractive)
        #expect(await presenter.takesPasscode)
        #expect(presenter.loss == nil)
    }

    @Test func `where no agent may show prompts, one is refused and the program that asks shows them`()
        async throws
    {
        let machine = try await HostMachine(Self.rules(.never))
        let registration = await machine.agent(ScriptedPresenter())
        #expect(await registration.value == ServiceError(.agentNotAllowed))
        #expect(await machine.ask().presenter.prompts.count == 1)
    }

    @Test func `an agent's heading says who asks, by the service's word where it knows the program`()
        async throws
    {
        let callers = ScriptedRules()
        let machine = try await HostMachine(callers: callers)
        let agent = ScriptedPresenter()
        let registration = await machine.agent(agent)
        defer { registration.cancel() }
        _ = await machine.ask()
        callers.set(.id("flatpak.org.example.Safe"))
        _ = await machine.ask()
        let titles = agent.prompts.map(\.title)
        #expect(titles.count == 2)
        #expect(titles.first?.hasPrefix("“org.example.app” (unverified name; ") == true, "\(titles)")
        #expect(
            titles.last
                == "flatpak.org.example.Safe (other programs of this user can claim this name)",
            "\(titles)"
        )
    }

    @Test func `a confined program registers as no agent`() async throws {
        let callers = ScriptedRules()
        callers.set(.id("flatpak.org.example.Safe"))
        let machine = try await HostMachine(callers: callers)
        let registration = await machine.agent(ScriptedPresenter())
        #expect(await registration.value != nil)
        #expect(await machine.ask().presenter.prompts.count == 1)
    }

    // Docs/Security.md: S51
    @Test func `a second agent is refused while the first one stays`() async throws {
        let machine = try await HostMachine()
        let first = ScriptedPresenter()
        let second = ScriptedPresenter()
        let registration = await machine.agent(first)
        #expect(await machine.agent(second).value == ServiceError(.agentTaken))
        _ = await machine.ask()
        #expect(first.prompts.count == 1 && second.prompts.isEmpty)
        registration.cancel()
        _ = await registration.value
        await machine.agentHasLeft()
        let next = await machine.agent(second)
        defer { next.cancel() }
        _ = await machine.ask()
        #expect(second.prompts.count == 1)
    }

    @Test func `an agent shows the prompts of its own session alone`() async throws {
        let callers = ScriptedRules()
        callers.set(session: "a")
        let machine = try await HostMachine(callers: callers)
        let agent = ScriptedPresenter()
        let registration = await machine.agent(agent)
        defer { registration.cancel() }
        callers.set(session: "b")
        #expect(await machine.ask().presenter.prompts.count == 1)
        callers.set(session: "a")
        #expect(await machine.ask().presenter.prompts.isEmpty)
        #expect(agent.prompts.count == 1)
    }

    @Test func `a passcode that the program has is handed in by it, past an agent`() async throws {
        let machine = try await HostMachine(reader: "mock:then=no-match,match", passcode: "2468 hunter")
        let agent = ScriptedPresenter()
        let registration = await machine.agent(agent)
        defer { registration.cancel() }
        let evaluation = try await machine.services.evaluate(
            EvaluationRequest("unlock"),
            presenter: PresetPasscode(secret("2468 hunter"), on: ScriptedPresenter())
        )
        #expect(evaluation.method == .passcode && agent.prompts.isEmpty)
    }

    // Docs/Security.md: C8
    @Test func `a prompt for a finger is the agent's, whatever the program has`() async throws {
        let machine = try await HostMachine(passcode: "2468 hunter")
        let item = try await machine.services.seal(
            secret("the secret"),
            access: .biometryAny,
            applicationPassword: nil
        )
        let (agent, own) = (ScriptedPresenter(), ScriptedPresenter())
        let registration = await machine.agent(agent)
        defer { registration.cancel() }
        let released = try await machine.services.secret(
            in: .sealed(item),
            ReleaseRequest(EvaluationRequest("open")),
            presenter: PresetPasscode(secret("2468 hunter"), on: own)
        )
        #expect(released.evaluations.map(\.method) == [.biometry])
        #expect(agent.prompts.map(\.reason) == ["open"] && own.prompts.isEmpty)
        #expect(agent.prompts.first?.purposeLine == "Unlocks an item stored by this program, once.")
    }

    @Test func `a program that hangs up takes its prompt away from the agent`() async throws {
        let machine = try await HostMachine(reader: "mock:hang*9")
        let agent = try await WildAgent(at: machine) { _ in }
        defer { agent.leave() }
        let asking = Task { await machine.ask().outcome }
        while agent.prompts.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        asking.cancel()
        #expect(await asking.value == .failure(ServiceError(.appCancel)))
        let deadline = ContinuousClock.now + .seconds(60)
        while agent.updates.last?.end == nil, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(agent.updates.last?.end == agent.prompts.first)
    }

    // Docs/Security.md: S52
    @Test func `a request waits no longer than the service allows, whatever it or its keys say`() async throws
    {
        var rules = PromptRules()
        rules.longestTimeout = .seconds(1)
        let machine = try await HostMachine(rules, reader: "mock:then=wait,match", passcode: "2468 hunter")
        let beginning = ContinuousClock.now
        let asked = await machine.ask(TypingPresenter(), timeout: .seconds(86_400))
        #expect(asked == .failure(ServiceError(.timedOut)))
        #expect(ContinuousClock.now - beginning < .seconds(600))
    }
}

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension HostMachine {
    /// Asks with any presenter, and returns the outcome.
    fileprivate func ask(
        _ presenter: any PromptPresenter,
        timeout: Duration
    ) async -> Result<Evaluation, ServiceError> {
        var request = EvaluationRequest("unlock")
        request.timeout = timeout
        do throws(ServiceError) {
            return .success(try await services.evaluate(request, presenter: presenter))
        } catch {
            return .failure(ServiceError(error.code))
        }
    }
}

/// A person who types without end.
private struct TypingPresenter: PromptPresenter {
    var isInteractive: Bool { get async { true } }
    var takesPasscode: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        let typing = Task {
            while !Task.isCancelled {
                entry.typing()
                // Cancelled with the prompt.
                try? await Task.sleep(for: .milliseconds(300))
            }
        }
        for await _ in entry.updates {}
        typing.cancel()
        return nil
    }
}

/// A screen of a process that a test makes up.
private final class CallerScreenStub: PromptScreen {
    let answerer: PeerUser
    init(_ answerer: PeerUser) { self.answerer = answerer }

    var abilities: PresenterAbilities { .none }
    var isGone: Bool { false }
    var isOfAgent: Bool { true }
    func begin(_ prompt: WirePrompt, _ content: ShownPrompt) {}
    func change(_ prompt: WirePrompt, _ update: PromptUpdate) {}
    func end(_ prompt: WirePrompt) {}
    func ended(_ prompt: WirePrompt, _ ending: PromptInterface.Ended?) {}
}
