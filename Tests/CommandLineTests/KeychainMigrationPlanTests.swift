// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlService

@testable import whorl

@Suite struct `The plan of a keychain's migration` {
    private func record(
        _ attributes: [String: AttributeValue],
        as itemClass: KeychainClass = .genericPassword,
        group: String = "org.example.mail",
        accessible: String = "ak"
    ) -> KeychainRecord {
        KeychainRecord(
            itemClass,
            accessGroup: group,
            accessible: accessible,
            flags: 0,
            isSynchronizable: false,
            attributes: attributes
        )
    }

    private func item(
        _ record: KeychainRecord,
        _ access: AccessControl? = nil,
        kind: ItemKind = .secret,
        _ standing: VaultItem.Standing = .valid
    ) -> KeychainMigrationPlan.Own {
        let sealed = access.map {
            SealedItem(kind: kind, profile: "ada", access: $0, publicKey: nil, encoded: Data([1]))
        }
        let version = KeychainRowVersion(id: Int64.random(in: 1 ... .max), revision: Data())
        return .init(
            row: KeychainRow(version, record, sealed.map { .sealed($0) } ?? .encrypted),
            standing: standing
        )
    }

    private func password(_ account: String, accessible: String = "ak") -> KeychainRecord {
        record(["svce": .text("mail"), "acct": .text(account)], accessible: accessible)
    }

    private let ready = KeychainMigrationPlan.Conditions(hasPasscode: true, hasFingers: true)

    @Test func `moves what opens, first what asks no one, and names the rest with its reason`() {
        let plan = KeychainMigrationPlan(
            own: [
                item(password("guarded"), .biometryAny), item(password("plain")),
                item(record(["labl": .text("a certificate")], as: .certificate)),
                item(record(["labl": .text("chip key")], as: .key), .biometryAny, kind: .key),
                item(password("old set"), .biometryCurrentSet, .enrollmentChanged),
                item(password("edited"), nil, .tampered),
                item(password("own"), .biometryAny.withApplicationPassword),
                item(password("unsure"), .biometryCurrentSet, .unknown),
                item(record(["svce": .text("whorl login example.org"), "acct": .text("ada")])),
                item(record(["svce": .text("whorl.right"), "acct": .data(Data("door".utf8))]), .biometryAny),
            ],
            unreadable: 2,
            service: [],
            conditions: ready
        )
        #expect(
            plan.moves.map { KeychainItemName($0.record).text } == [
                "mail, plain", "a certificate", "mail, guarded", "mail, unsure",
            ]
        )
        #expect(
            plan.rests.map { "\($0.kind) \($0.name)" } == [
                "keychain key chip key (org.example.mail)",
                "keychain password mail, old set (org.example.mail)",
                "keychain password mail, edited (org.example.mail)",
                "keychain password mail, own (org.example.mail)",
                "login whorl login example.org, ada (org.example.mail)",
                "saved right whorl.right, door (org.example.mail)", "number of keychain items 2",
            ]
        )
        #expect(plan.rests.allSatisfy { !$0.reason.isEmpty && !$0.remedy.isEmpty })
    }

    @Test func `leaves alone what the service has under the same primary key, whatever else differs`() {
        var renamed = password("a")
        renamed.attributes["labl"] = .text("another label")
        renamed.attributes["desc"] = .text("")
        let plan = KeychainMigrationPlan(
            own: [item(password("a")), item(password("b")), item(password("c"), .biometryAny)],
            unreadable: 0,
            service: [
                item(renamed).row, item(password("c")).row,
                item(record(["svce": .text("mail"), "acct": .text("b")], group: "org.example.bank")).row,
            ],
            conditions: ready
        )
        #expect(plan.there.map(\.text) == ["mail, a", "mail, c"])
        #expect(plan.moves.map { KeychainItemName($0.record).text } == ["mail, b"])
        #expect(plan.rests == [])
    }

    @Test func `names what the service cannot seal while it has no passcode or no finger`() {
        let plan = KeychainMigrationPlan(
            own: [
                item(password("passcode"), .devicePasscode), item(password("presence"), .userPresence),
                item(password("when set", accessible: "akpu")), item(password("set"), .biometryCurrentSet),
                item(password("finger"), .biometryAny),
            ],
            unreadable: 0,
            service: [],
            conditions: .init(hasPasscode: false, hasFingers: false)
        )
        #expect(plan.moves.map { KeychainItemName($0.record).text } == ["mail, finger"])
        #expect(
            plan.rests.map(\.remedy) == [
                "whorl passcode set", "whorl passcode set", "whorl passcode set", "whorl enroll",
            ]
        )
    }

    @Test func `names an item in words that a terminal can show, whatever a program has called it`() {
        let text = "a\u{1B}[2J\u{202E}b\n" + String(repeating: "c", count: 5_000)
        let name = KeychainItemName(record(["acct": .text(text)], group: "pro\u{7}gram"))
        #expect(name.words.hasPrefix("the password a[2Jb ccc") && name.words.hasSuffix("… (program)"))
        #expect(name.words.count < 300)
        let unnamed = KeychainItemName(record(["acct": .data(Data([0xFF])), "svce": .text("\u{7}")]))
        #expect(unnamed.whole == "without a name (org.example.mail)")
    }
}
