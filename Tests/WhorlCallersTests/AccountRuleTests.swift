// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlIPC

@testable import WhorlCallers

@Suite struct `A user of the service` {
    @Test(arguments: [0, 1000, 1001, 60_000, 200_000, 4_000_000] as [UInt32])
    func `is root, or a person with an account`(uid: UInt32) {
        #expect(AccountRule(definitions: "/nowhere") { _ in true }.refusal(of: uid) == nil)
    }

    // Docs/Security.md: C19
    @Test(arguments: [1, 33, 999, 61_184, 65_519, 65_534] as [UInt32])
    func `is no user of the system's`(uid: UInt32) {
        let refusal = AccountRule(definitions: "/nowhere") { _ in true }.refusal(of: uid)
        #expect(refusal?.name == "io.whorl.Connection.NoAccount")
    }

    // Docs/Security.md: C11a
    @Test(arguments: [false, nil]) func `has an account, and the database says so`(hasAccount: Bool?) {
        let rule = AccountRule(definitions: "/nowhere") { _ in hasAccount }
        #expect(rule.refusal(of: 100_000)?.name == "io.whorl.Connection.NoAccount")
        #expect(rule.refusal(of: 0) == nil)
    }

    @Test func `has a number from the one on that the machine's definitions name`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "whorl-login.defs-\(UUID())")
        try Data("# UID_MIN 5\nUID_MAX\t60000\nUID_MIN\t\t  500\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let rule = AccountRule(definitions: file.path) { _ in true }
        #expect(rule.firstPerson == 500)
        #expect(rule.refusal(of: 500) == nil && rule.refusal(of: 499) != nil)
        #expect(AccountRule(definitions: "/nowhere").firstPerson == 1000)
    }

    @Test func `is looked for in the machine's own database`() {
        #expect(AccountRule(definitions: "/nowhere").refusal(of: 3_999_999_999) != nil)
    }
}
