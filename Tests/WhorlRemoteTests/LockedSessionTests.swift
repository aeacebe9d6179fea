// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlRemote

/// In a locked session, only the program that unlocks it may ask.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A locked session` {
    private func request(_ purpose: TouchPurpose, _ session: OwnerSession? = nil, asks: Bool = true)
        -> EvaluationRequest
    {
        var request = EvaluationRequest("unlock", session: session)
        request.purpose = purpose
        request.interactionAllowed = asks
        return request
    }

    // Docs/Security.md: C9a
    @Test func `a lock ends an open prompt, and refuses those that come`() async throws {
        let rules = ScriptedRules()
        rules.set(session: "2")
        let machine = try await HostMachine(callers: rules, reader: "mock:hang*9")
        let presenter = ScriptedPresenter()
        let owner = machine.services
        let asking = Task {
            _ = await #expect(throws: ServiceError.sessionLocked) {
                try await owner.evaluate(EvaluationRequest("unlock"), presenter: presenter)
            }
        }
        while presenter.prompts.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        machine.host.lock("3")
        machine.host.lock("2")
        await asking.value
        let late = await machine.ask()
        #expect(late.outcome == .failure(.sessionLocked))
        machine.host.unlock("2")
        machine.host.unlock("3")
        let next = ScriptedPresenter(pressing: .cancel)
        #expect(await machine.ask(next).outcome == .failure(ServiceError(.userCancel)))
    }

    @Test func `a caller in a locked session is refused before a prompt`() async throws {
        let rules = ScriptedRules()
        rules.set(lock: .sessionLocked, session: "2")
        let machine = try await HostMachine(callers: rules)
        let asked = await machine.ask()
        #expect(asked.outcome == .failure(.sessionLocked) && asked.presenter.prompts.isEmpty)
        await #expect(throws: ServiceError.sessionLocked) {
            try await machine.services.ask(
                RemoveFingers(.all, force: false, ConsentRequest(application: machine.services.application)),
                presenter: ScriptedPresenter()
            )
        }
    }

    @Test(arguments: ["lock", "leave", "sleep"])
    func `what was shown ends with a lock, a switch to another session and a sleep`(_ event: String)
        async throws
    {
        let rules = ScriptedRules()
        rules.set(session: "2")
        let machine = try await HostMachine(callers: rules)
        let (services, session) = (machine.services, OwnerSession())
        let item = try await services.seal(secret("x"), access: .biometryAny, applicationPassword: nil)
        func opens() async -> Bool {
            let quiet = ReleaseRequest(request(.storedByProgram, session, asks: false))
            return
                (try? await services.secret(in: .sealed(item), quiet, presenter: ScriptedPresenter()))
                != nil
        }
        _ = try await services.evaluate(
            request(.storedByProgram, session),
            presenter: ScriptedPresenter()
        )
        #expect(await opens())
        switch event {
        case "lock":
            machine.host.lock("2")
            machine.host.unlock("2")
        case "leave": machine.host.leave("2", endsCalls: true)
        default: machine.host.sleep()
        }
        #expect(await !opens())
    }

    // Docs/Security.md: C2c
    @Test(arguments: ["lock", "beginLocking", "leave", "sleep"])
    func `an earlier match ends with a lock, a switch to another session and a sleep`(_ event: String)
        async throws
    {
        let rules = ScriptedRules()
        rules.set(session: "2")
        let machine = try await HostMachine(callers: rules)
        func isReused(asks: Bool = false) async -> Bool? {
            var again = request(.yes, asks: asks)
            again.policy = .biometrics
            again.reuse = .seconds(300)
            return try? await machine.services.evaluate(again, presenter: ScriptedPresenter()).isReused
        }
        #expect(await isReused(asks: true) == false)
        #expect(machine.host.stays.isHeld)
        machine.host.lock("3")
        #expect(await isReused() == true)
        switch event {
        case "lock":
            machine.host.lock("2")
            machine.host.unlock("2")
        case "beginLocking": machine.host.beginLocking("2")
        case "leave": machine.host.leave("2", endsCalls: true)
        default: machine.host.sleep()
        }
        #expect(await isReused() == nil)
        #expect(await isReused(asks: true) == false)
    }

    @Test func `a locker that is asked to lock and never says that it has unlocked keeps no one out`()
        async throws
    {
        let rules = ScriptedRules()
        rules.set(session: "2")
        let machine = try await HostMachine(callers: rules, reader: "mock:then=match,hang")
        let presenter = ScriptedPresenter()
        let owner = machine.services
        let asking = Task {
            _ = await #expect(throws: ServiceError.sessionLocked) {
                try await owner.evaluate(EvaluationRequest("unlock"), presenter: presenter)
            }
        }
        while presenter.prompts.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        machine.host.beginLocking("2")
        await asking.value
        #expect(await machine.ask().outcome != .failure(.sessionLocked))
    }

    // Docs/Security.md: C9a
    @Test(arguments: ["locked", "unknown"])
    func `a lock that is heard of too late gives nothing to the caller`(_ state: String) async throws {
        let rules = ScriptedRules()
        rules.set(session: "2")
        let machine = try await HostMachine(callers: rules, reader: "mock:then=match,delay:700ms")
        let presenter = ScriptedPresenter()
        let owner = machine.services
        let asking = Task {
            try await owner.evaluate(EvaluationRequest("unlock"), presenter: presenter)
        }
        while presenter.prompts.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        if state == "locked" {
            rules.set(lock: .sessionLocked, session: "2")
        } else {
            rules.set(session: nil)
        }
        await #expect(throws: ServiceError.sessionLocked) { _ = try await asking.value }
    }

    // Docs/Security.md: C9a
    @Test func `a switch of the seat ends an open prompt where only the session that is shown may ask`()
        async throws
    {
        let rules = ScriptedRules()
        rules.set(session: "2")
        let machine = try await HostMachine(callers: rules, reader: "mock:hang")
        let presenter = ScriptedPresenter()
        let owner = machine.services
        let asking = Task {
            _ = await #expect(throws: ServiceError.sessionInBackground) {
                try await owner.evaluate(EvaluationRequest("unlock"), presenter: presenter)
            }
        }
        while presenter.prompts.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        machine.host.leave("2", endsCalls: false)
        machine.host.leave("3", endsCalls: true)
        try await Task.sleep(for: .milliseconds(50))
        machine.host.leave("2", endsCalls: true)
        await asking.value
    }

    // Docs/Security.md: C10
    @Test func `no passcode is set or compared behind the lock`() async throws {
        let rules = ScriptedRules()
        let machine = try await HostMachine(callers: rules, passcode: "2468 hunter")
        let services = machine.services
        rules.set(lock: .sessionLocked, session: "2")
        let consent = ConsentRequest(application: services.application)
        for wrong in 0..<9 {
            let typing = ScriptedPresenter(typing: ["\(wrong)000"])
            await #expect(throws: ServiceError.self) {
                try await services.ask(ChangePasscode(to: secret("1357 hunter"), consent), presenter: typing)
            }
            await #expect(throws: ServiceError.self) {
                try await services.ask(RemovePasscode(force: false, consent), presenter: typing)
            }
            await #expect(throws: ServiceError.self) {
                try await services.ask(ResealItems(consent), presenter: typing)
            }
            #expect(typing.prompts.isEmpty)
        }
        await #expect(throws: ServiceError.self) {
            try await services.ask(SetPasscode(secret("1357 hunter"), consent, shown: OwnerSession()))
        }
        // Nothing was compared, so no try was charged.
        rules.set(session: "2")
        try await services.changePasscode("2468 hunter", to: "1357 hunter")
    }
}
