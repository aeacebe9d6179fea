// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import Testing
import WhorlService
import WhorlSupport

@testable import WhorlRemote

@Suite("The keychain's rows over a socket")
struct RemoteKeychainTests {
    private func record(_ account: String, group: String = "org.example.app") -> KeychainRecord {
        KeychainRecord(
            .genericPassword,
            accessGroup: group,
            accessible: "ak",
            flags: 0,
            isSynchronizable: false,
            attributes: ["acct": .text(account), "svce": .text("s"), "gena": .data(Data([0, 255]))]
        )
    }

    @Test func `rows are stored, found, changed and deleted, with their values`() async throws {
        let machine = try await RemoteMachine()
        let keychain = machine.services.keychain
        let match = KeychainMatch(.genericPassword, groups: keychain.groups)
        let large = Data(repeating: 7, count: 300_000)
        let rows = (0..<100).map {
            NewKeychainRow(record("a\($0)"), .plain($0 == 50 ? large : Data([UInt8($0)])))
        }
        try await blocking { () throws in
            #expect(try keychain.rows(match, withValues: true, limit: .max).isEmpty)
            guard case .stored(let stored) = try keychain.add(rows, replacing: []) else {
                Issue.record("not stored")
                return
            }
            #expect(stored.count == 100)
            let found = try keychain.rows(match, withValues: true, limit: .max)
            #expect(found.map(\.id) == stored.map(\.id))
            #expect(found[50].contents == .value(large) && found[9].contents == .value(Data([9])))
            #expect(found[9].record == stored[9].record)
            #expect(
                try keychain.rows(match, withValues: false, limit: 3).map(\.contents) == [
                    .encrypted, .encrypted, .encrypted,
                ]
            )
            #expect(try keychain.add([rows[3]], replacing: []).takenID == stored[3].id)
            let change = KeychainRowChange(
                stored[3].version,
                to: NewKeychainRow(record("a3"), .plain(Data("new".utf8)))
            )
            guard case .stored = try keychain.update([change], replacing: []) else {
                Issue.record("not changed")
                return
            }
            #expect(try keychain.update([change], replacing: []) == .stale)
            #expect(try keychain.delete([match]) == 100)
        }
    }

    @Test func `a group that the program does not name is refused, and its rows are not found`() async throws
    {
        let machine = try await RemoteMachine()
        let keychain = machine.services.keychain
        let foreign = NewKeychainRow(record("x", group: "org.example.other"), .plain(Data([1])))
        try await blocking { () throws in
            let outcome = try keychain.add([foreign], replacing: [])
            let match = KeychainMatch(.genericPassword, groups: ["org.example.other"])
            let found = try keychain.rows(match, withValues: true, limit: .max)
            #expect(outcome == .groupRefused && found.isEmpty)
        }
    }

    @Test func `a sealed item comes back as it was`() async throws {
        let machine = try await RemoteMachine(enrolled: .leftThumb)
        let services = machine.services
        let item = try await services.seal(
            secret("x"),
            access: .biometryAny,
            applicationPassword: nil
        )
        let keychain = services.keychain
        let row = NewKeychainRow(record("sealed"), .sealed(item))
        try await blocking { () throws in
            guard case .stored = try keychain.add([row], replacing: []) else {
                Issue.record("not stored")
                return
            }
            let match = KeychainMatch(.genericPassword, groups: keychain.groups)
            #expect(try keychain.rows(match, withValues: true, limit: 1).first?.contents == .sealed(item))
        }
    }
}

extension KeychainOutcome {
    fileprivate var takenID: Int64? {
        guard case .taken(let row) = self else { return nil }
        return row.id
    }
}
