// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSecretMemory
import SoftwareMachine
import SoftwareTPM
import Testing
import WhorlFingerprint
import WhorlIPC
import WhorlService
import WhorlSystem

@testable import WhorlRemote

extension SecretBox {
    fileprivate var text: String { bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension LoginMachine {
    fileprivate var services: Services { root.services }
    fileprivate var consent: ConsentRequest {
        ConsentRequest(application: services.application, timeout: .milliseconds(300))
    }

    /// Makes the password; what follows is outside any session.
    fileprivate func makePassword(login: String? = "geheim", hasSheet: Bool = true) async throws -> String {
        let asked = MakeKeyringPassword(loginPassword: login.map(secret), hasSheet: hasSheet, consent)
        rules.set(session: nil)
        return try await services.ask(asked, presenter: ScriptedPresenter()).password.text
    }

    fileprivate func open() async throws -> String {
        try await services.ask(OpenKeyring(consent), presenter: ScriptedPresenter()).password.text
    }

    fileprivate var keyring: KeyringStatus {
        get async throws { try await services.ask(ReadKeyringStatus()) }
    }

    /// Types a password at a login, and returns the keyring's password that the login gets.
    fileprivate func logIn(with password: String) async throws -> String? {
        let reply: CallReply<LoginInterface.Kept> = try await connection().call(
            LoginInterface.Keep.name,
            LoginInterface.Keep(user: 1000, password: secret(password), changedOn: 20_000)
        )
        return reply.parameters.keyringPassword?.text
    }

    fileprivate func changePassword(from old: String?, to new: String?) async throws {
        let _: CallReply<NoValue> = try await connection().call(
            LoginInterface.PasswordChanged.name,
            LoginInterface.PasswordChanged(user: 1000, old: old.map(secret), new: new.map(secret))
        )
    }

    /// Touches the reader at a login that can unlock a keyring.
    fileprivate func logInByTouch() async throws -> LoginInterface.Answer {
        let asking = LoginInterface.Verify(
            user: 1000,
            service: "gdm-password",
            terminal: nil,
            remoteHost: nil,
            timeoutMilliseconds: 30_000,
            mostTries: nil,
            keyring: true,
            passwordChangedOn: 20_000
        )
        let reply: CallReply<LoginInterface.Answer> = try await connection().call(
            LoginInterface.Verify.name,
            asking
        ) { _ in }
        return reply.parameters
    }
}

// Docs/Security.md: S56
@Suite("A keyring with its own password", .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct OwnKeyringPasswordTests {
    @Test func `is random, can be typed, and stays the same`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let password = try await machine.makePassword()
        let groups = password.split(separator: "-", omittingEmptySubsequences: false)
        #expect(groups.count == 8)
        #expect(
            groups.allSatisfy { $0.count == 4 && $0.allSatisfy("0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains) }
        )
        #expect(try await machine.open() == password)
        #expect(try await machine.makePassword() == password)
        let another = try await LoginMachine("mock:then=match")
        #expect(try await another.makePassword() != password)
    }

    @Test func `is released to a login with the password that was given, and to no other one`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let password = try await machine.makePassword()
        #expect(try await machine.keyring == .ownPassword)
        #expect(try await machine.logIn(with: "geheim") == password)
        #expect(try await machine.logIn(with: "geheim") == password, "each time")
        #expect(try await machine.logIn(with: "another") == nil)
        // What a login with the right password does not open is of no use any more.
        #expect(try await machine.keyring == .ownPasswordWithoutLogin)
        #expect(try await machine.logIn(with: "geheim") == nil)
        #expect(try await machine.makePassword(login: "another") == password)
        #expect(try await machine.logIn(with: "another") == password)
    }

    @Test func `is not released to a password that is typed in a session, as for sudo`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let password = try await machine.makePassword()
        machine.rules.set(session: "1")
        #expect(try await machine.logIn(with: "geheim") == nil)
        #expect(try await machine.logIn(with: "another") == nil)
        // Where the kernel names no process, it may be anywhere.
        machine.rules.set(process: nil)
        #expect(try await machine.logIn(with: "geheim") == nil)
        machine.rules.set(session: nil)
        #expect(try await machine.logIn(with: "geheim") == password)
    }

    @Test func `follows the login password when its owner changes it`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let password = try await machine.makePassword()
        try await machine.changePassword(from: "geheim", to: "neu")
        #expect(try await machine.keyring == .ownPassword)
        #expect(try await machine.logIn(with: "neu") == password)
    }

    @Test(arguments: [(nil, "neu"), ("geheim", nil), (nil, nil), ("wrong", "neu")] as [(String?, String?)])
    func `does not follow a login password that is changed without the old one`(
        _ old: String?,
        _ new: String?
    ) async throws {
        let machine = try await LoginMachine("mock:then=match")
        let password = try await machine.makePassword()
        try await machine.changePassword(from: old, to: new)
        #expect(try await machine.keyring == .ownPasswordWithoutLogin)
        #expect(try await machine.logIn(with: "neu") == nil)
        #expect(try await machine.open() == password, "a touch still does")
    }

    @Test func `is released to a login by touch outside a session, and not in place of the login password`()
        async throws
    {
        let machine = try await LoginMachine("mock:then=match")
        let password = try await machine.makePassword()
        let answer = try await machine.logInByTouch()
        #expect(answer.password == nil)
        #expect(answer.keyringPassword?.text == password)
        machine.rules.set(session: "1")
        #expect(try await machine.logInByTouch().keyringPassword == nil)
    }

    @Test func `replaces what was sealed for logins`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        try await machine.services.ask(TurnKeyringOn(machine.consent), presenter: ScriptedPresenter())
        #expect(try await machine.logIn(with: "geheim") == nil)
        #expect(try await machine.keyring == .ready)
        let password = try await machine.makePassword(login: nil)
        #expect(try await machine.keyring == .ownPasswordWithoutLogin)
        try await machine.services.ask(ForgetKeyringPassword(secret(password)))
        #expect(try await machine.keyring == .off)
    }

    @Test func `is not made without a passcode or a recovery sheet, nor without a finger`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let refusal = await #expect(throws: ServiceError.self) {
            try await machine.makePassword(hasSheet: false)
        }
        #expect(refusal?.code == .passcodeNotSet)
        #expect(try await machine.keyring == .off)
    }

    @Test func `is released to no other finger, and not without a touch`() async throws {
        let machine = try await LoginMachine("mock:match,no-match*3,hang")
        _ = try await machine.makePassword()
        await #expect(throws: ServiceError.self) { try await machine.open() }
        await #expect(throws: ServiceError.self) { try await machine.open() }
    }

    @Test func `is opened by a passcode that was set later, once it is made again`() async throws {
        let machine = try await LoginMachine("mock:match*3,no-match*3,hang")
        let password = try await machine.makePassword()
        let session = OwnerSession()
        let consent = ConsentRequest(application: machine.services.application)
        try await machine.services.ask(AskForFinger(consent, in: session), presenter: ScriptedPresenter())
        try await machine.services.ask(SetPasscode(secret("2468 hunter"), consent, shown: session))
        #expect(try await machine.makePassword() == password)
        await #expect(throws: ServiceError.self) { try await machine.open() }
        let typing = ScriptedPresenter(typing: ["2468 hunter"])
        let opened = try await machine.services.ask(OpenKeyring(consent), presenter: typing).password.text
        #expect(opened == password)
    }

    @Test func `is forgotten only by a program that has it`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let password = try await machine.makePassword()
        for wrong in ["", "x", String(password.dropLast()), password.lowercased()] where !wrong.isEmpty {
            await #expect(throws: ServiceError.self) {
                try await machine.services.ask(ForgetKeyringPassword(secret(wrong)))
            }
        }
        #expect(try await machine.keyring == .ownPassword)
        try await machine.services.ask(ForgetKeyringPassword(secret(password)))
        #expect(try await machine.keyring == .off)
        await #expect(throws: ServiceError.self) { try await machine.open() }
    }

    @Test func `is known to be lost after the vault was reset`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let password = try await machine.makePassword()
        _ = try await machine.services.ask(ResetVault(withoutChip: false))
        #expect(try await machine.keyring == .ownPasswordLost)
        await #expect { try await machine.open() } throws: {
            ($0 as? ServiceError)?.recovery.contains("--from-sheet") == true
        }
        #expect(try await machine.logIn(with: "geheim") == nil)
        #expect(try await machine.logInByTouch().keyringPassword == nil)
        // The password on the sheet is still recognized, so that the row can be deleted.
        await #expect(throws: ServiceError.self) {
            try await machine.services.ask(ForgetKeyringPassword(secret("another")))
        }
        #expect(try await machine.keyring == .ownPasswordLost)
        try await machine.services.ask(ForgetKeyringPassword(secret(password)))
        #expect(try await machine.keyring == .off)
    }

    @Test func `is replaced by a new one after it was lost`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let lost = try await machine.makePassword()
        _ = try await machine.services.ask(ResetVault(withoutChip: false))
        let password = try await machine.makePassword()
        #expect(password != lost)
        #expect(try await machine.open() == password)
        #expect(try await machine.keyring == .ownPassword)
    }

    @Test func `is not stored at all if it cannot be stored for logins`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        try await machine.services.ask(TurnKeyringOn(machine.consent), presenter: ScriptedPresenter())
        let tooLong = String(repeating: "x", count: 1025)
        await #expect(throws: ServiceError.self) { try await machine.makePassword(login: tooLong) }
        #expect(try await machine.keyring == .waiting)
    }

    @Test func `survives a new finger, which then opens it as well`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let password = try await machine.makePassword()
        try await machine.root.enroll(.rightThumb)
        #expect(try await machine.open() == password)
        #expect(try await machine.logIn(with: "geheim") == password)
    }

    @Test func `is in no record and no log`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let password = try await machine.makePassword()
        _ = try await machine.open()
        _ = try await machine.logIn(with: "geheim")
        try await machine.changePassword(from: "geheim", to: "neu")
        let log = try await machine.services.ask(ReadLog(limit: 99))
        #expect(log.contains { $0.event == .release })
        for text in machine.rules.records.map({ "\($0)" }) + log.map({ "\($0)" }) {
            #expect(!text.contains(password) && !text.contains("geheim") && !text.contains("neu"))
        }
    }
}
