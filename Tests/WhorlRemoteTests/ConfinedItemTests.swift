// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import Testing
import WhorlIPC
import WhorlService
import WhorlSupport

@testable import WhorlRemote

@Suite("Items of confined programs")
struct ConfinedItemTests {
    private func id(_ name: String) throws -> ItemID { ItemID(.secret, try ItemName(name), of: "ada") }

    private func add(_ name: String, _ services: Services) async throws {
        _ = try await services.ask(
            AddItem(
                try id(name),
                MakeItem(.secret(secret(name)), access: .biometryAny, applicationPassword: nil)
            )
        )
    }

    private func delete(_ name: String, _ services: Services) async throws {
        try await services.ask(
            DeleteItem(try id(name), ConsentRequest(application: services.application)),
            presenter: ScriptedPresenter()
        )
    }

    private func names(_ services: Services) async throws -> [String] {
        try await services.ask(ListItems()).map(\.id.name.text)
    }

    // Docs/Security.md: S8
    @Test func `a confined program finds its own items, whatever names it gives`() async throws {
        let machine = try await RuledMachine(enrolled: .leftThumb)
        let services = machine.services()
        try await add("wifi", services)
        machine.rules.set(.id("snap.vault.app"))
        #expect(try await names(services) == [])
        try await add("wifi", services)
        try await add("own", services)
        #expect(try await names(services) == ["own", "wifi"])
        let released = try await services.ask(
            UseItem(.named(try id("own")), for: .secret, ReleaseRequest(EvaluationRequest("x"))),
            presenter: ScriptedPresenter()
        )
        guard case .secret(let own) = released.product else {
            Issue.record("no secret")
            return
        }
        #expect(own.bytes.withUnsafeBytes { Data($0) } == Data("own".utf8))
        machine.rules.set(.id("snap.vault"))
        for name in ["wifi", "own", "snap.vault.app:own", "confined.snap.vault.app:own", "app:own"] {
            #expect(try await names(services) == [])
            await #expect { try await delete(name, services) } throws: {
                ($0 as? ServiceError)?.code == .noSuchItem
            }
            await #expect { _ = try await services.ask(ReadItemAccess(of: try id(name))) } throws: {
                ($0 as? ServiceError)?.code == .noSuchItem
            }
        }
        machine.rules.set()
        #expect(try await names(services).count == 3)
    }

    private struct Spelled: Encodable, Sendable {
        let id: [String: String]
        let item: MakeItem
    }

    private func outcome(of adding: Spelled, _ client: ServiceConnection) async -> String {
        do throws(ServiceCallError) {
            _ = try await client.call("io.whorl.Items.Add", adding, returning: NoValue.self)
            return "added"
        } catch {
            guard case .refused(let refusal) = error else { return "\(error)" }
            return refusal.failure(as: ServiceError.self)?.codeName ?? refusal.name
        }
    }

    // Docs/Security.md: C4a
    /// The letter U+0CCB, whole and in two other spellings, which libraries put together in different ways.
    @Test func `spellings of one name are one item, and listing them ends nothing`() async throws {
        let machine = try await RuledMachine()
        let client = try ServiceConnection(try machine.connect())
        let spellings = ["a\u{0CCB}", "a\u{0CC6}\u{0CC2}\u{0CD5}", "a\u{0CCA}\u{0CD5}"]
        var outcomes: [String] = []
        for spelling in spellings {
            let item = MakeItem(.key, access: .none, applicationPassword: nil)
            let adding = Spelled(id: ["profile": "ada", "kind": "key", "name": spelling], item: item)
            outcomes.append(await outcome(of: adding, client))
        }
        #expect(outcomes == ["added", "itemExists", "itemExists"])
        let listed = try await names(machine.services())
        #expect(listed.map { Array($0.utf8) } == [Array("a\u{0CCB}".utf8)])
    }

    @Test func `what is about the items of all programs is refused to a confined one`() async throws {
        let machine = try await RuledMachine()
        let services = machine.services()
        try await services.ask(
            SetPasscode(
                secret("2468 hunter"),
                ConsentRequest(application: services.application),
                shown: OwnerSession()
            )
        )
        try await add("wifi", services)
        for isUnknown in [false, true] {
            machine.rules.set(.id("snap.vault.app"), isUnknown: isUnknown)
            await #expect(throws: ServiceError.self) {
                try await services.ask(ListItemsLostWithoutPasscode())
            }
            let typing = ScriptedPresenter(typing: ["2468 hunter"])
            let consent = ConsentRequest(application: services.application)
            await #expect(throws: ServiceError.self) {
                try await services.ask(RemovePasscode(force: true, consent), presenter: typing)
            }
            await #expect(throws: ServiceError.self) {
                try await services.ask(ResealItems(consent), presenter: typing)
            }
            #expect(typing.prompts.isEmpty)
            await #expect(throws: ServiceError.self) {
                try await services.ask(ResetVault(withoutChip: false))
            }
        }
        machine.rules.set()
        #expect(try await names(services) == ["wifi"])
        #expect(try await services.ask(IsPasscodeSet()))
    }

    // Docs/Security.md: S8
    @Test(arguments: [
        ("a", "a:b"), ("a.b", "a+2eb"), ("/usr/bin/x", "+2fusr+2fbin+2fx"), ("ä", "+c3+a4"), ("a b", "a+20b"),
    ]) func `no two ids have one beginning of names`(one: String, other: String) throws {
        let (first, second) = (Confinement.id(one).prefix ?? "", Confinement.id(other).prefix ?? "")
        #expect(!first.hasPrefix(second) && !second.hasPrefix(first))
        #expect(first.filter { $0 == ":" }.count == 1)
        #expect((try? ItemName(first + "x")) != nil)
    }

    @Test func `a program that may be any is refused items and rows`() async throws {
        let machine = try await RuledMachine()
        let services = machine.services()
        try await add("wifi", services)
        machine.rules.set(isUnknown: true)
        await #expect(throws: ServiceError.self) { _ = try await services.ask(ListItems()) }
        await #expect(throws: ServiceError.self) { try await delete("wifi", services) }
        await #expect(throws: ServiceError.self) {
            _ = try await blocking {
                try services.keychain.rows(
                    KeychainMatch(.genericPassword, groups: ["org.example.app"]),
                    withValues: true,
                    limit: 9
                )
            }
        }
        machine.rules.set()
        #expect(try await names(services) == ["wifi"])
    }

    private func row(_ account: String, _ group: String) -> NewKeychainRow {
        NewKeychainRow(
            KeychainRecord(
                .genericPassword,
                accessGroup: group,
                accessible: "ak",
                flags: 0,
                isSynchronizable: false,
                attributes: ["acct": .text(account)]
            ),
            .plain(Data(account.utf8))
        )
    }

    // Docs/Security.md: S8
    @Test func `a confined program finds the rows of its own id, whatever groups it names`() async throws {
        let machine = try await RuledMachine()
        let keychain = machine.services().keychain
        let match = KeychainMatch(.genericPassword, groups: ["org.example.app"])
        func accounts() async throws -> [AttributeValue?] {
            try await blocking {
                try keychain.rows(match, withValues: true, limit: 9).map { $0.record.attributes["acct"] }
            }
        }
        let mine = row("mine", "org.example.app")
        let others = row("others", "org.example.app")
        guard case .stored(let stored) = try await blocking({ try keychain.add([others], replacing: []) })
        else {
            Issue.record("not stored")
            return
        }
        machine.rules.set(.id("snap.vault.app"))
        #expect(try await accounts().isEmpty)
        guard case .stored(let own) = try await blocking({ try keychain.add([mine], replacing: []) }) else {
            Issue.record("not stored")
            return
        }
        // The program sees the group that it named.
        #expect(own.map(\.record.accessGroup) == ["org.example.app"])
        #expect(try await accounts() == [.text("mine")])
        let change = KeychainRowChange(stored[0].version, to: mine)
        let outcome = try await blocking { try keychain.update([change], replacing: []) }
        if case .stored = outcome { Issue.record("another program's row was changed") }
        // What is to be replaced is not there for this program, and stays.
        _ = try await blocking {
            try keychain.add([row("new", "org.example.app")], replacing: [stored[0].version])
        }
        var byNumber = match
        byNumber.id = stored[0].id
        let wanted = byNumber
        #expect(try await blocking { try keychain.delete([wanted]) } == 0)
        machine.rules.set()
        #expect(try await accounts() == [.text("others")])
    }
}
