// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareTPM
import Testing
import WhorlFingerprint
import WhorlService

@testable import WhorlRemote

@Suite(
    "The keychain items of all programs",
    .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools")
)
struct ProgramItemTests {
    private func row(_ name: String, in group: String) -> NewKeychainRow {
        let record = KeychainRecord(
            .genericPassword,
            accessGroup: group,
            accessible: "ak",
            flags: 0,
            isSynchronizable: false,
            attributes: ["svce": .text(name), "acct": .text("ada")]
        )
        return NewKeychainRow(record, .plain(Data("x".utf8)))
    }

    /// Stores items for two programs.
    private func store(_ names: [String], in group: String, _ machine: HostMachine) async throws {
        let program = Services.remote(
            profile: "ada",
            application: ApplicationID(rawValue: group),
            over: machine.transport
        )
        let rows = names.map { row($0, in: group) }
        try await blocking { () throws in _ = try program.keychain.add(rows, replacing: []) }
    }

    private func list(
        _ machine: HostMachine,
        _ presenter: ScriptedPresenter = ScriptedPresenter()
    ) async throws -> ProgramItems {
        let consent = ConsentRequest(application: machine.services.application, timeout: .milliseconds(300))
        return try await machine.services.ask(ListProgramItems(consent), presenter: presenter)
    }

    @Test func `are listed by name after a touch, and one can be deleted`() async throws {
        let machine = try await HostMachine()
        try await store(["mail", "chat"], in: "org.example.one", machine)
        try await store(["bank"], in: "org.example.two", machine)
        let presenter = ScriptedPresenter()
        let items = try await list(machine, presenter)
        #expect(presenter.prompts.map(\.purpose) == [.listItems])
        #expect(items.programs.map(\.accessGroup) == ["org.example.one", "org.example.two"])
        #expect(items.programs[0].items.map(\.name) == ["mail, ada", "chat, ada"])
        #expect(items.programs[1].items.allSatisfy { !$0.needsOwner && $0.kind == .password })
        #expect(items.omitted == 0)
        let bank = items.programs[1].items[0].version
        try await machine.services.ask(DeleteProgramItem(bank))
        await #expect { try await machine.services.ask(DeleteProgramItem(bank)) } throws: {
            ($0 as? ServiceError)?.code == .noSuchItem
        }
        #expect(try await list(machine).programs.map(\.accessGroup) == ["org.example.one"])
    }

    @Test func `are not deleted by a program that has not seen them`() async throws {
        let machine = try await HostMachine()
        try await store(["mail"], in: "org.example.one", machine)
        let item = try await list(machine).programs[0].items[0].version
        for revision in [Data(), Data(repeating: 0, count: item.revision.count)] {
            let guess = KeychainRowVersion(id: item.id, revision: revision)
            await #expect(throws: ServiceError.self) {
                try await machine.services.ask(DeleteProgramItem(guess))
            }
        }
        #expect(try await list(machine).programs.count == 1)
    }

    @Test func `are not listed for another finger, or without any owner`() async throws {
        let stranger = try await HostMachine(reader: "mock:then=no-match")
        try await store(["mail"], in: "org.example.one", stranger)
        await #expect(throws: ServiceError.self) { _ = try await list(stranger) }
        let ownerless = try await HostMachine(enrolled: nil)
        try await store(["mail"], in: "org.example.one", ownerless)
        await #expect(throws: ServiceError.self) { _ = try await list(ownerless) }
    }

    @Test func `are not listed for a confined program, nor for one at another place`() async throws {
        let machine = try await RuledMachine(enrolled: .leftThumb)
        let services = machine.services()
        let consent = ConsentRequest(application: services.application, timeout: .milliseconds(300))
        machine.rules.set(.id("snap.vault.app"))
        await #expect(throws: ServiceError.self) {
            _ = try await services.ask(ListProgramItems(consent), presenter: ScriptedPresenter())
        }
        await #expect(throws: ServiceError.self) {
            try await services.ask(DeleteProgramItem(KeychainRowVersion(id: 1, revision: Data())))
        }
        machine.rules.set(obstacle: ServiceError(.biometryNotAvailable, cause: "over SSH"))
        let typing = ScriptedPresenter(typing: ["2468 hunter"])
        await #expect(throws: ServiceError.self) {
            _ = try await services.ask(ListProgramItems(consent), presenter: typing)
        }
        #expect(typing.prompts.isEmpty)
    }

    @Test func `fit into a reply, however long the names are`() async throws {
        let machine = try await HostMachine()
        let long = String(repeating: "\u{1}\u{1F600}", count: 20_000)
        for index in 0..<40 { try await store(["\(index)\(long)"], in: "org.example.one", machine) }
        // A control character takes six bytes in the message.
        for index in 0..<4 {
            let group = "\(index)" + String(repeating: "\u{1}", count: 60_000)
            try await store(["mail"], in: group, machine)
        }
        let items = try await list(machine)
        #expect(items.programs.flatMap(\.items).count + items.omitted == 44)
        #expect(items.omitted > 0)
        #expect(
            items.programs.contains { $0.accessGroup == "org.example.one" },
            "others have taken its share"
        )
        #expect(items.programs.flatMap(\.items).allSatisfy { $0.name.count <= 200 })
    }
}
