// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareMachine
import Synchronization
import Testing
import WhorlFingerprint
import WhorlSecretMemory
import WhorlService
import WhorlSystem

@testable import WhorlRemote

/// An administrator who enrolls the first finger of someone else.
@Suite("The first finger of another user", .timeLimit(.minutes(5)))
struct EnrollForTests {
    private let consent = ConsentRequest(application: ApplicationID(rawValue: "whorl"))

    private func machine(_ reader: String = "mock:touch left-thumb*9", enrolled: Finger? = nil) async throws
        -> RuledMachine
    {
        try await RuledMachine(reader: reader, enrolled: enrolled, loginsOf: getuid())
    }

    private func enroll(_ machine: RuledMachine, _ finger: Finger = .leftThumb) async throws(ServiceError)
        -> EnrolledFinger
    {
        let operation = EnrollFingerFor(1000, NewFinger(finger), consent)
        return try await machine.services(as: "whorl").ask(operation, presenter: ScriptedPresenter())
    }

    private func refusal(_ machine: RuledMachine) async -> ServiceError.Code? {
        do throws(ServiceError) {
            _ = try await enroll(machine)
            return nil
        } catch { return error.code }
    }

    // Docs/Security.md: A2d
    @Test func `is enrolled if the system's rules allow it, and is in the log of both`() async throws {
        let machine = try await machine()
        #expect(try await enroll(machine).finger == .leftThumb)
        #expect(machine.rules.asked == [.enrollOthers])
        let record = try #require(machine.rules.records.last)
        #expect(record.method == "io.whorl.Fingers.EnrollFor" && record.outcome == "done")
        #expect(record.purpose == "enroll the left-thumb of user 1000")
        let log = try await machine.services().ask(ReadLog(limit: 9)).map(\.outcome)
        #expect(log == ["fingerEnrolledFor", "fingerEnrolled"])
    }

    // Docs/Security.md: A2d
    @Test func `is not enrolled if the rules do not allow it, whether or not the user exists`() async throws {
        let machine = try await machine(enrolled: .leftThumb)
        machine.rules.set(refusal: ServiceError(.notPermitted))
        #expect(await refusal(machine) == .notPermitted)
        #expect(machine.rules.asked == [.enrollOthers])
    }

    // Docs/Security.md: A2d
    @Test func `is not enrolled for a user with a finger or a passcode`() async throws {
        let machine = try await machine(enrolled: .rightIndex)
        #expect(await refusal(machine) == .ownerNeeded)
        let other = try await self.machine()
        let passcode = SecretBox(SecretBytes(copying: Array("2468 hunter".utf8).span.bytes))
        try await other.services().ask(SetPasscode(passcode, consent, shown: OwnerSession()))
        #expect(await refusal(other) == .ownerNeeded)
        #expect(try await other.services().ask(ListFingers()).isEmpty)
    }

    @Test(arguments: ["named", "sealed", "keychain"])
    func `is not enrolled for a user with an item`(_ kind: String) async throws {
        let machine = try await machine()
        let services = machine.services()
        let secret = SecretBox(SecretBytes(copying: Array("s".utf8).span.bytes))
        switch kind {
        case "named":
            let id = ItemID(.secret, try ItemName("wifi"), of: "ada")
            let item = MakeItem(.secret(secret), access: .biometryAny, applicationPassword: nil)
            _ = try await services.ask(AddItem(id, item)) as SigningKeyPublic?
        case "sealed": _ = try await services.seal(secret, access: .biometryAny, applicationPassword: nil)
        default:
            let record = KeychainRecord(
                .genericPassword,
                accessGroup: services.application.rawValue,
                accessible: "ak",
                flags: 0,
                isSynchronizable: false,
                attributes: ["acct": .text("a"), "svce": .text("s")]
            )
            try await blocking {
                _ = try services.keychain.add([NewKeychainRow(record, .plain(Data([1])))], replacing: [])
            }
        }
        #expect(await refusal(machine) == .ownerNeeded)
        #expect(try await services.ask(ListFingers()).isEmpty)
    }

    // Docs/Security.md: A2d
    @Test func `is not enrolled if an item appears while the reader is touched`() async throws {
        let machine = try await machine("mock:touch left-thumb*2,delay:1s,touch left-thumb*9")
        let services = machine.services()
        let secret = SecretBox(SecretBytes(copying: Array("s".utf8).span.bytes))
        let enrolling = Task { await refusal(machine) }
        try await Task.sleep(for: .milliseconds(300))
        let id = ItemID(.secret, try ItemName("wifi"), of: "ada")
        let item = MakeItem(.secret(secret), access: .biometryAny, applicationPassword: nil)
        _ = try await services.ask(AddItem(id, item)) as SigningKeyPublic?
        #expect(await enrolling.value == .ownerNeeded)
        #expect(try await services.ask(ListFingers()).isEmpty)
    }

    // Docs/Security.md: A2d
    @Test func `is not enrolled by a confined, remote or locked program`() async throws {
        let machine = try await machine()
        machine.rules.set(.id("snap.vault.app"))
        #expect(await refusal(machine) == .notPermitted)
        machine.rules.set(obstacle: ServiceError(.notInteractive))
        #expect(await refusal(machine) == .notPermitted)
        machine.rules.set(lock: ServiceError(.notInteractive))
        #expect(await refusal(machine) == .notInteractive)
        #expect(machine.rules.asked.isEmpty)
    }

    @Test func `is not enrolled by a service of one user`() async throws {
        let machine = try await RuledMachine(reader: "mock:touch left-thumb*9")
        #expect(await refusal(machine) == .notPermitted)
        #expect(machine.rules.asked.isEmpty)
    }
}
