// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSecretMemory
import SoftwareTPM
import Testing
import WhorlFingerprint
import WhorlService
import WhorlSystem

@testable import WhorlRemote

/// An operation that changes what the owner has, and asks its owner each time.
private enum Change: CaseIterable {
    case enroll, removeFinger, removeAllFingers, changePasscode, removePasscode, reseal, keyringOn,
        keyringOff, keyringPassword, deleteItem,
        denyAnotherProgram

    /// Tries the change; a prompt is seen by the presenter alone, which answers nothing.
    func attempt(_ services: Services, _ presenter: any PromptPresenter) async throws {
        let consent = ConsentRequest(application: services.application, timeout: .milliseconds(300))
        switch self {
        case .enroll:
            _ = try await services.ask(EnrollFinger(NewFinger(.rightIndex), consent), presenter: presenter) {
                _ in
            }
        case .removeFinger:
            let finger = FingerSelection.finger(.leftThumb, on: nil)
            _ = try await services.ask(RemoveFingers(finger, force: false, consent), presenter: presenter)
        case .removeAllFingers:
            _ = try await services.ask(RemoveFingers(.all, force: true, consent), presenter: presenter)
        case .changePasscode:
            try await services.ask(ChangePasscode(to: secret("1357 hunter"), consent), presenter: presenter)
        case .removePasscode:
            _ = try await services.ask(RemovePasscode(force: true, consent), presenter: presenter)
        case .reseal: _ = try await services.ask(ResealItems(consent), presenter: presenter)
        case .keyringOn: try await services.ask(TurnKeyringOn(consent), presenter: presenter)
        case .keyringOff: try await services.ask(TurnKeyringOff(consent), presenter: presenter)
        case .keyringPassword:
            let asked = MakeKeyringPassword(loginPassword: nil, hasSheet: true, consent)
            _ = try await services.ask(asked, presenter: presenter)
        case .deleteItem:
            let id = ItemID(.secret, try ItemName("bank"), of: "ada")
            try await services.ask(DeleteItem(id, consent), presenter: presenter)
        case .denyAnotherProgram:
            let other = ApplicationID(rawValue: "org.example.other")
            try await services.ask(SetOptedOut(true, for: other, consent), presenter: presenter)
        }
    }
}

/// What an evaluation showed changes nothing that has a purpose of its own: each purpose is tried with each change.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A touch for an evaluation` {
    @Test(arguments: [TouchPurpose.yes, .storedByProgram, .signIn("bank.example")])
    func `changes nothing, in the same program and in another`(_ purpose: TouchPurpose) async throws {
        // Touches for the passcode, the keyring and the evaluation; then nothing lies on the reader.
        let machine = try await HostMachine(
            reader: "mock:match*3,hang",
            passcode: "2468 hunter"
        )
        let services = machine.services
        let id = ItemID(.secret, try ItemName("bank"), of: "ada")
        _ = try await services.ask(
            AddItem(id, MakeItem(.secret(secret("y")), access: .biometryAny, applicationPassword: nil))
        )
        let session = OwnerSession()
        try await services.ask(
            TurnKeyringOn(ConsentRequest(application: services.application)),
            presenter: ScriptedPresenter()
        )
        var request = EvaluationRequest("unlock", session: session)
        request.policy = .biometrics
        request.purpose = purpose
        _ = try await services.evaluate(request, presenter: ScriptedPresenter())
        let another = HostMachine.services(over: machine.transport)
        // It is on already, which needs no one.
        for change in Change.allCases where change != .keyringOn {
            for program in [services, another] {
                await #expect(throws: (any Error).self, "\(change) after \(purpose)") {
                    try await change.attempt(program, ScriptedPresenter())
                }
            }
        }
        #expect(try await services.ask(ListFingers()).map(\.finger) == [.leftThumb])
        #expect(try await services.ask(IsPasscodeSet()))
        #expect(try await services.ask(ReadKeyringStatus()) == .waiting)
        #expect(try await services.ask(ListItems()).map(\.id) == [id])
        #expect(try await !services.ask(IsOptedOut(ApplicationID(rawValue: "org.example.other"))))
        let outcomes = try await services.ask(ReadLog(limit: 99)).map(\.outcome)
        #expect(!outcomes.contains("vaultResealed"))
        // The passcode is the one that was set, and each of these works with it.
        _ = try await services.ask(
            ResealItems(ConsentRequest(application: services.application)),
            presenter: ScriptedPresenter(typing: ["2468 hunter"])
        )
        try await services.changePasscode("2468 hunter", to: "1357 hunter")
    }

    @Test(arguments: [TouchPurpose.yes, .storedByProgram, .signIn("bank.example")])
    func `opens no keyring, in the same program and in another`(_ purpose: TouchPurpose) async throws {
        // Touches for the passcode, the keyring and the evaluation; then nothing lies on the reader.
        let machine = try await HostMachine(reader: "mock:match*3,hang", passcode: "2468 hunter")
        let services = machine.services
        let consent = ConsentRequest(application: services.application, timeout: .milliseconds(300))
        let make = MakeKeyringPassword(loginPassword: nil, hasSheet: false, consent)
        let made = try await services.ask(make, presenter: ScriptedPresenter()).password
        var request = EvaluationRequest("unlock", session: OwnerSession())
        request.policy = .biometrics
        request.purpose = purpose
        _ = try await services.evaluate(request, presenter: ScriptedPresenter())
        for program in [services, HostMachine.services(over: machine.transport)] {
            await #expect(throws: ServiceError.self) {
                try await program.ask(OpenKeyring(consent), presenter: ScriptedPresenter())
            }
            await #expect(throws: ServiceError.self) {
                try await program.ask(make, presenter: ScriptedPresenter())
            }
            await #expect(throws: ServiceError.self) {
                try await program.ask(ForgetKeyringPassword(secret("another")))
            }
        }
        let passcode = ScriptedPresenter(typing: ["2468 hunter"])
        let patient = OpenKeyring(ConsentRequest(application: services.application))
        let opened = try await services.ask(patient, presenter: passcode).password
        let isSame = SecretBytes.areEqual(opened.bytes, made.bytes)
        #expect(isSame, "the passcode does")
    }
}

/// The one operation that every program of a user may call without an agent: each change is tried after it.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A touch for the screen` {
    @Test func `changes nothing, even in a program that is asked for no further proof`() async throws {
        // Touches for the passcode, the keyring and the screen; then nothing lies on the reader.
        let machine = try await LoginMachine("mock:match*3,hang", asker: getuid() + 1)
        machine.rules.set(session: "2")
        let services = machine.root.services
        let consent = ConsentRequest(application: services.application)
        let session = OwnerSession()
        try await services.ask(AskForFinger(consent, in: session), presenter: ScriptedPresenter())
        try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: session))
        try await services.ask(TurnKeyringOn(consent), presenter: ScriptedPresenter())
        let id = ItemID(.secret, try ItemName("bank"), of: "ada")
        _ = try await services.ask(
            AddItem(id, MakeItem(.secret(secret("y")), access: .biometryAny, applicationPassword: nil))
        )
        #expect(try await machine.unlockScreen().outcome.get().matched == true)
        // It is on already, which needs no one.
        for change in Change.allCases where change != .keyringOn {
            await #expect(throws: (any Error).self, "\(change) after a touch for the screen") {
                try await change.attempt(services, ScriptedPresenter())
            }
        }
        #expect(try await services.ask(ListFingers()).map(\.finger) == [.leftThumb])
        #expect(try await services.ask(IsPasscodeSet()))
        #expect(try await services.ask(ReadKeyringStatus()) == .waiting)
        #expect(try await services.ask(ListItems()).map(\.id) == [id])
    }
}
