// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareMachine
import Testing
import WhorlFingerprint
import WhorlIPC
import WhorlService

@testable import WhorlRemote

private let consent = ConsentRequest(application: ApplicationID(rawValue: "org.example.app"))
private let remote = ServiceError(.notInteractive, message: "This session is at another machine.")

@Suite("Deleting what belongs to the owner")
struct DeletionTests {
    private func id(_ name: String) throws -> ItemID { ItemID(.secret, try ItemName(name), of: "ada") }

    private func add(_ name: String, _ access: AccessControl, _ services: Services) async throws {
        _ = try await services.ask(
            AddItem(try id(name), MakeItem(.secret(secret(name)), access: access, applicationPassword: nil))
        )
    }

    private func delete(
        _ name: String,
        _ services: Services,
        _ presenter: ScriptedPresenter = ScriptedPresenter()
    ) async throws -> [Prompt] {
        try await services.ask(DeleteItem(try id(name), consent), presenter: presenter)
        return presenter.prompts
    }

    // Docs/Security.md: C12
    @Test func `the owner is asked before an item that requires its owner is deleted`() async throws {
        let machine = try await RuledMachine(reader: "mock:then=match,no-match*3", enrolled: .leftThumb)
        let services = machine.services()
        try await add("wifi", .biometryAny, services)
        await #expect(throws: ServiceError.self) { _ = try await delete("wifi", services) }
        #expect(try await services.ask(ListItems()).map(\.id.name.text) == ["wifi"])
        // Nor is it planted over: the name stays taken.
        await #expect(throws: ServiceError.self) { try await add("wifi", .none, services) }
        machine.rules.set(obstacle: remote)
        await #expect(throws: ServiceError.self) { _ = try await delete("wifi", services) }
        machine.rules.set()
        let prompts = try await delete("wifi", services)
        #expect(prompts.map(\.reason) == ["touch an enrolled finger to delete the secret \"wifi\""])
        #expect(prompts.map(\.purposeLine) == ["Deletes “wifi”."])
        #expect(try await services.ask(ListItems()).isEmpty)
    }

    // Docs/Security.md: C12
    @Test func `an item that needs no owner, or can never be opened again, is deleted without one`()
        async throws
    {
        let machine = try await RuledMachine(enrolled: .leftThumb)
        let services = machine.services()
        try await add("plain", .none, services)
        try await add("bound", .biometryCurrentSet, services)
        #expect(try await delete("plain", services).isEmpty)
        try await machine.root.enroll(.rightIndex)
        #expect(try await services.ask(ListItems()).map(\.standing) == [.enrollmentChanged])
        #expect(try await delete("bound", services).isEmpty)
    }

    // Docs/Security.md: C12
    @Test func `the opt-out of another program needs the owner, a confined one's own does not`() async throws
    {
        let machine = try await RuledMachine(reader: "mock:then=match,no-match*3", enrolled: .leftThumb)
        let services = machine.services()
        let other = ApplicationID(rawValue: "org.example.other")
        func deny(_ application: ApplicationID) async throws -> Int {
            let presenter = ScriptedPresenter()
            try await services.ask(SetOptedOut(true, for: application, consent), presenter: presenter)
            let line = "Changes whether \(application.rawValue) may use fingerprints."
            #expect(presenter.prompts.allSatisfy { $0.purposeLine == line })
            return presenter.prompts.count
        }
        await #expect(throws: ServiceError.self) { _ = try await deny(other) }
        #expect(try await !services.ask(IsOptedOut(other)))
        // An unconfined program's name is its own word.
        #expect(try await deny(services.application) == 1)
        machine.rules.set(.id("snap.vault.app"))
        #expect(try await deny(other) == 0)
        #expect(try await services.ask(IsOptedOut(other)))
        machine.rules.set()
        #expect(try await !services.ask(IsOptedOut(other)))
    }
}

@Suite("Changes in the journal and the owner's log")
struct ChangeTests {
    /// The methods that change nothing stored: questions, prompts, and sessions that last as long as their connection.
    private static let questions: Set<String> = [
        "io.whorl.Owner.Evaluate", "io.whorl.Owner.Session", "io.whorl.Items.Use", "io.whorl.Items.Decode",
        "io.whorl.Keyring.Open", "io.whorl.Items.ListOfPrograms", "io.whorl.Items.SignForSSH",
        "io.whorl.Passcode.AskForFinger", "io.whorl.Readers.Watch", "io.whorl.Agent.Register",
        "io.whorl.Prompt.Submit", "io.whorl.Prompt.Typing", "io.whorl.Prompt.Close", "io.whorl.Prompt.Ended",
        "io.whorl.Owner.Preflight", "io.whorl.Owner.IsOptedOut", "io.whorl.Items.HasChip",
        "io.whorl.Items.Standing", "io.whorl.Items.List", "io.whorl.Items.Access", "io.whorl.Items.PublicKey",
        "io.whorl.Keychain.Find", "io.whorl.Fingers.List", "io.whorl.Fingers.State",
        "io.whorl.Fingers.Difference", "io.whorl.Fingers.Acceptable", "io.whorl.Passcode.IsSet",
        "io.whorl.Passcode.ItemsLostWithout", "io.whorl.Keyring.Status", "io.whorl.Maintenance.Facts",
        "io.whorl.Maintenance.HasState", "io.whorl.Maintenance.ChangeMark", "io.whorl.Maintenance.Status",
        "io.whorl.Maintenance.Attempts", "io.whorl.Maintenance.Log", "io.whorl.Maintenance.LockFileFault",
        "io.whorl.Readers.List", "io.whorl.Readers.Chosen", "io.whorl.Readers.Prints",
        "io.whorl.Readers.LockTrouble", "io.whorl.Items.SSHKeyRules",
    ]

    @Test func `every method is a question, or has a line for its change`() {
        let described = InterfaceText.all.filter { $0.name != "io.whorl.Login" }.flatMap { interface in
            interface.text.matches(of: /(?m)^method (\w+)\(/).map { "\(interface.name).\($0.1)" }
        }
        let methods = InterfaceTests.host.guarded(version: "test").methods
        let changes = Set(methods.filter { $0.rules.effect.change != nil }.map(\.name))
        #expect(changes.isDisjoint(with: Self.questions))
        #expect(Set(described) == changes.union(Self.questions))
    }

    // Docs/Security.md: C14a
    @Test func `a change is in both, with the program that made it`() async throws {
        let machine = try await RuledMachine()
        let services = machine.services()
        try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: OwnerSession()))
        let id = ItemID(.secret, try ItemName("wifi"), of: "ada")
        _ = try await services.ask(
            AddItem(id, MakeItem(.secret(secret("s")), access: .none, applicationPassword: nil))
        )
        let wrongAndRight = ScriptedPresenter(typing: ["0000", "2468 hunter"])
        try await services.ask(ChangePasscode(to: secret("1357 hunter"), consent), presenter: wrongAndRight)
        try await services.ask(DeleteItem(id, consent), presenter: ScriptedPresenter())
        let log = try await services.ask(ReadLog(limit: 9))
        #expect(
            log.map { "\($0.event.rawValue) \($0.outcome)" }.reversed() == [
                "change passcodeSet", "change itemAdded", "passcode wrong", "evaluation passcode",
                "change passcodeChanged", "change itemDeleted",
            ]
        )
        #expect(log.allSatisfy { $0.asker?.process == "test" })
        #expect(log.first?.detail == "secret \"wifi\"")
        let records = machine.rules.records.map { "\($0.method) \($0.outcome)" }
        #expect(
            records == [
                "io.whorl.Passcode.Set done", "io.whorl.Items.Add done",
                "io.whorl.Passcode.Change done",
                "io.whorl.Items.Delete done",
            ]
        )
    }

    // Docs/Security.md: C10
    @Test func `failed tries are reported at the next success, and no longer afterwards`() async throws {
        let machine = try await RuledMachine(enrolled: .leftThumb)
        let services = machine.services()
        let session = OwnerSession()
        try await services.ask(AskForFinger(consent, in: session), presenter: ScriptedPresenter())
        try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: session))
        var alone = EvaluationRequest("unlock")
        alone.takesPasscodeAlone = true
        let asked = alone
        for (number, guess) in ["0000", "1111"].enumerated() {
            // The presenter types one passcode and then nothing, so the request ends once that was compared.
            let request = Task {
                _ = await #expect(throws: ServiceError.self) {
                    try await services.evaluate(asked, presenter: ScriptedPresenter(typing: [guess]))
                }
            }
            while try await services.ask(ReadLog(limit: 20)).count(where: { $0.outcome == "wrong" })
                <= number
            {
                try await Task.sleep(for: .milliseconds(20))
            }
            request.cancel()
            await request.value
        }
        let touch = EvaluationRequest("unlock")
        let presenter = ScriptedPresenter()
        let first = try await services.evaluate(touch, presenter: presenter).failedTries
        #expect(first == 2)
        #expect(try await services.evaluate(touch, presenter: presenter).failedTries == 0)
    }
}
