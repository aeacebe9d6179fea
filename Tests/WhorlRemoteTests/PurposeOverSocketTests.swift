// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlRemote

/// A touch counts for the purpose that its prompt named, over the service's socket as in a program's own engine.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A touch for one purpose, over the socket` {
    private let consent = ConsentRequest(application: ApplicationID(rawValue: "org.example.app"))

    private func request(_ purpose: TouchPurpose, _ session: OwnerSession?, asks: Bool = true)
        -> EvaluationRequest
    {
        var request = EvaluationRequest("unlock", session: session)
        request.policy = .biometrics
        request.purpose = purpose
        request.interactionAllowed = asks
        return request
    }

    /// Returns whether an item opens without a prompt.
    private func opens(_ item: ProtectedItem, _ services: Services, _ request: EvaluationRequest) async
        -> Bool
    {
        (try? await services.secret(in: item, ReleaseRequest(request), presenter: ScriptedPresenter()))
            != nil
    }

    // Docs/Security.md: C3a
    @Test func `a yes opens nothing and sets no passcode`() async throws {
        let machine = try await HostMachine()
        let (services, session) = (machine.services, OwnerSession())
        let item = try await services.seal(secret("x"), access: .biometryAny, applicationPassword: nil)
        let id = ItemID(.secret, try ItemName("bank"), of: "ada")
        _ = try await services.ask(
            AddItem(id, MakeItem(.secret(secret("y")), access: .biometryAny, applicationPassword: nil))
        )
        let presenter = ScriptedPresenter()
        _ = try await services.evaluate(request(.yes, session), presenter: presenter)
        #expect(presenter.prompts.map(\.purposeLine) == ["Confirms your identity. Unlocks nothing."])
        for purpose in [TouchPurpose.yes, .storedByProgram, .item("bank")] {
            #expect(await !opens(.sealed(item), services, request(purpose, session, asks: false)))
            #expect(await !opens(.named(id), services, request(purpose, session, asks: false)))
        }
        await #expect {
            try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: session))
        } throws: {
            ($0 as? ServiceError)?.code == .accessDenied
        }
    }

    @Test func `what a program stored opens again, a named item and a passcode do not`() async throws {
        let machine = try await HostMachine()
        let (services, session) = (machine.services, OwnerSession())
        let item = try await services.seal(secret("x"), access: .biometryAny, applicationPassword: nil)
        let id = ItemID(.secret, try ItemName("bank"), of: "ada")
        _ = try await services.ask(
            AddItem(id, MakeItem(.secret(secret("y")), access: .biometryAny, applicationPassword: nil))
        )
        let presenter = ScriptedPresenter()
        _ = try await services.evaluate(request(.storedByProgram, session), presenter: presenter)
        #expect(presenter.prompts.map(\.limits) == [.standard])
        let quiet = request(.storedByProgram, session, asks: false)
        for _ in 0..<2 { #expect(await opens(.sealed(item), services, quiet)) }
        #expect(await !opens(.named(id), services, quiet))
        await #expect(throws: ServiceError.self) {
            try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: session))
        }
        #expect(await opens(.sealed(item), services, quiet))
    }

    @Test func `a program cannot name a purpose that is the service's own`() async throws {
        let machine = try await HostMachine()
        for purpose in [
            TouchPurpose.item("bank"), .deleteItem("bank"), .setPasscode, .changePasscode, .removePasscode,
            .reseal, .changeFingers, .listItems, .deleteEverything, .sshLogin("ada@SHA256:x"),
            .sshLoginBound("ada@SHA256:x"),
            .sshLoginUnproven("ada"),
            .gitSignature, .sshSignature("file"), .sshAuthentication("root (sudo)"), .sshUnknownData("x"),
            .sshPins("x: *"), .keyring, .keyringOff,
            .keyringPassword, .openKeyring,
            .optOut("org.example.app"), .logIn("sudo"), .unlockScreen("swaylock"),
        ] {
            let presenter = ScriptedPresenter()
            await #expect(throws: ServiceError.self) {
                try await machine.services.evaluate(
                    request(purpose, OwnerSession()),
                    presenter: presenter
                )
            }
            #expect(presenter.prompts.isEmpty)
        }
    }

    @Test func `the service names the item in the prompt, whatever the message says`() async throws {
        let machine = try await HostMachine()
        let services = machine.services
        let id = ItemID(.secret, try ItemName("bank"), of: "ada")
        _ = try await services.ask(
            AddItem(id, MakeItem(.secret(secret("y")), access: .biometryAny, applicationPassword: nil))
        )
        let presenter = ScriptedPresenter()
        _ = try await services.secret(
            in: .named(id),
            ReleaseRequest(request(.yes, nil)),
            presenter: presenter
        )
        #expect(presenter.prompts.map(\.purposeLine) == ["Unlocks “bank”, once."])
    }

    // Docs/Security.md: C3a
    @Test func `the touch for a first passcode sets one, once`() async throws {
        let machine = try await HostMachine()
        let (services, session) = (machine.services, OwnerSession())
        let presenter = ScriptedPresenter()
        try await services.ask(AskForFinger(consent, in: session), presenter: presenter)
        #expect(
            presenter.prompts.map(\.purposeLine) == ["Sets the passcode entered in this program."]
        )
        // Too short: it is refused, and the touch is used up.
        await #expect(throws: ServiceError.self) {
            try await services.ask(SetPasscode(secret("1"), consent, shown: session))
        }
        await #expect {
            try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: session))
        } throws: {
            ($0 as? ServiceError)?.code == .accessDenied
        }
        try await services.ask(AskForFinger(consent, in: session), presenter: presenter)
        try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: session))
    }

    // Docs/Security.md: C2a
    @Test func `what was shown ends in another login session of the same process`() async throws {
        let rules = ScriptedRules()
        rules.set(session: "2")
        let machine = try await HostMachine(callers: rules)
        let (services, session) = (machine.services, OwnerSession())
        let item = try await services.seal(secret("x"), access: .biometryAny, applicationPassword: nil)
        let quiet = request(.storedByProgram, session, asks: false)
        _ = try await services.evaluate(
            request(.storedByProgram, session),
            presenter: ScriptedPresenter()
        )
        #expect(await opens(.sealed(item), services, quiet))
        rules.set(session: "3")
        #expect(await !opens(.sealed(item), services, quiet))
        rules.set(session: "2")
        #expect(await !opens(.sealed(item), services, quiet))
    }

    @Test func `what was shown does not count where a finger could not be asked for now`() async throws {
        let rules = ScriptedRules()
        let machine = try await HostMachine(callers: rules)
        let (services, session) = (machine.services, OwnerSession())
        let item = try await services.seal(secret("x"), access: .biometryAny, applicationPassword: nil)
        let quiet = request(.storedByProgram, session, asks: false)
        _ = try await services.evaluate(
            request(.storedByProgram, session),
            presenter: ScriptedPresenter()
        )
        rules.set(obstacle: ServiceError(.notInteractive))
        #expect(await !opens(.sealed(item), services, quiet))
        rules.set()
        #expect(await opens(.sealed(item), services, quiet))
    }
}
