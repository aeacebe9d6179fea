// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import WhorlSecretMemory
import SoftwareMachine
import Testing
import WhorlFingerprint
import WhorlIPC
import WhorlService
import WhorlSupport
import WhorlSystem

@testable import WhorlRemote

// Docs/Security.md: S49
extension LoginMachine {
    /// Turns the keyring on, by a touch.
    fileprivate func turnKeyringOn() async throws {
        try await root.services.ask(
            TurnKeyringOn(ConsentRequest(application: ApplicationID(rawValue: "org.example.app"))),
            presenter: ScriptedPresenter()
        )
    }

    /// The state of the keyring.
    fileprivate var keyring: KeyringStatus {
        get async throws { try await root.services.ask(ReadKeyringStatus()) }
    }

    /// Types a password at the login, which keeps it if that is wanted.
    @discardableResult
    fileprivate func type(_ password: String, changedOn day: Int? = 20_000) async throws -> Bool {
        try await typed(password, changedOn: day).value
    }

    /// Types a password at the login, and returns the whole reply.
    fileprivate func typed(
        _ password: String,
        changedOn day: Int? = 20_000
    ) async throws -> LoginInterface.Kept {
        let reply: CallReply<LoginInterface.Kept> = try await connection().call(
            LoginInterface.Keep.name,
            LoginInterface.Keep(user: 1000, password: secret(password), changedOn: day)
        )
        return reply.parameters
    }

    /// Changes the password, as `passwd` does; an administrator's does not know the old one.
    fileprivate func changePassword(from old: String?, to new: String?) async throws {
        let _: CallReply<NoValue> = try await connection().call(
            LoginInterface.PasswordChanged.name,
            LoginInterface.PasswordChanged(user: 1000, old: old.map(secret), new: new.map(secret))
        )
    }

    /// Touches the reader at a login, and returns the password that is handed over.
    fileprivate func touch(
        _ service: String = "gdm-password",
        asksForPassword: Bool? = true,
        changedOn day: Int? = 20_000
    ) async throws -> String? {
        let asking = LoginInterface.Verify(
            user: 1000,
            service: service,
            terminal: nil,
            remoteHost: nil,
            timeoutMilliseconds: 30_000,
            mostTries: nil,
            keyring: asksForPassword,
            passwordChangedOn: day
        )
        let reply: CallReply<LoginInterface.Answer> = try await connection().call(
            LoginInterface.Verify.name,
            asking
        ) { _ in }
        #expect(reply.parameters.matched == true)
        #expect(reply.parameters.password == nil || reply.parameters.keyringPassword == nil)
        let password = reply.parameters.password ?? reply.parameters.keyringPassword
        #expect(reply.descriptors.count == (password == nil ? 0 : 1))
        return password?.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

@Suite("The keyring at a login")
struct KeyringTests {
    @Test func `a password that was typed once is handed to a later login by touch`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        machine.rules.set(session: nil)
        #expect(try await machine.keyring == .off)
        try await machine.turnKeyringOn()
        #expect(try await machine.keyring == .waiting)
        #expect(try await machine.touch() == nil)
        #expect(try await machine.type("geheim"))
        #expect(try await machine.keyring == .ready)
        #expect(try await machine.touch() == "geheim")
        #expect(try await machine.touch() == "geheim")
    }

    @Test func `a touch for sudo in a session, and one that asks for none, hand no password over`()
        async throws
    {
        let machine = try await LoginMachine("mock:then=match")
        try await machine.turnKeyringOn()
        try await machine.type("geheim")
        machine.rules.set(session: "1")
        #expect(try await machine.touch("sudo") == nil)
        machine.rules.set(session: nil)
        #expect(try await machine.touch(asksForPassword: nil) == nil)
        #expect(try await machine.touch(asksForPassword: false) == nil)
        #expect(try await machine.touch() == "geheim")
    }

    @Test func `an added finger ends it until the password is typed again`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        machine.rules.set(session: nil)
        try await machine.turnKeyringOn()
        try await machine.type("geheim")
        try await machine.root.enroll(.rightThumb)
        #expect(try await machine.keyring == .enrollmentChanged)
        #expect(try await machine.touch() == nil)
        #expect(try await machine.type("geheim"))
        #expect(try await machine.touch() == "geheim")
    }

    @Test func `a password that was changed since is forgotten, and the new one is kept`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        machine.rules.set(session: nil)
        try await machine.turnKeyringOn()
        try await machine.type("old", changedOn: 20_000)
        #expect(try await machine.touch(changedOn: 20_001) == nil)
        #expect(try await machine.keyring == .waiting)
        #expect(try await machine.touch(changedOn: 20_000) == nil, "the old one does not come back")
        #expect(try await machine.type("new", changedOn: 20_001))
        #expect(try await machine.touch(changedOn: 20_001) == "new")
        try await machine.changePassword(from: "new", to: "newer")
        #expect(try await machine.keyring == .waiting)
        #expect(try await machine.touch(changedOn: 20_001) == nil)
    }

    @Test func `a password that still opens is not sealed again at each login`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        try await machine.turnKeyringOn()
        #expect(try await machine.type("geheim"))
        #expect(try await !machine.type("geheim"))
    }

    @Test func `nothing is kept while it is off, and turning it off deletes what was kept`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        machine.rules.set(session: nil)
        #expect(try await !machine.type("geheim"))
        #expect(try await machine.keyring == .off)
        try await machine.turnKeyringOn()
        try await machine.type("geheim")
        try await machine.root.services.ask(
            TurnKeyringOff(ConsentRequest(application: ApplicationID(rawValue: "org.example.app"))),
            presenter: ScriptedPresenter()
        )
        #expect(try await machine.keyring == .off)
        #expect(try await machine.touch() == nil)
        try await machine.turnKeyringOn()
        #expect(try await machine.touch() == nil)
    }

    @Test func `another finger turns nothing on, and gets no password at a login`() async throws {
        let machine = try await LoginMachine("mock:then=no-match,no-match*3,match")
        machine.rules.set(session: nil)
        await #expect(throws: ServiceError.self) { try await machine.turnKeyringOn() }
        #expect(try await machine.keyring == .off)
        try await machine.turnKeyringOn()
        try await machine.type("geheim")
        await #expect(throws: ServiceCallError.self) { try await machine.touch() }
    }

    @Test func `nobody but root keeps or forgets a password`() async throws {
        let machine = try await LoginMachine("mock:then=match", asker: getuid() + 1)
        try await machine.turnKeyringOn()
        let refusal = ServiceCallError.refused(ServiceRefusal(LoginRefused.rootAlone))
        await #expect(throws: refusal) { try await machine.type("planted") }
        await #expect(throws: refusal) { try await machine.changePassword(from: nil, to: nil) }
        #expect(try await machine.keyring == .waiting)
    }

    @Test func `the owner's programs see no password among the items`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        try await machine.turnKeyringOn()
        try await machine.type("geheim")
        #expect(try await machine.root.services.ask(ListItems()).isEmpty)
    }

    @Test func `no record names the password`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        machine.rules.set(session: nil)
        try await machine.type("geheim")
        #expect(machine.rules.records.isEmpty, "nothing was kept")
        try await machine.turnKeyringOn()
        try await machine.type("geheim")
        _ = try await machine.touch()
        #expect(machine.rules.records.map(\.method) == ["io.whorl.Login.Keep", "io.whorl.Login.Verify"])
        for record in machine.rules.records { #expect(!"\(record)".contains("geheim")) }
    }
}
