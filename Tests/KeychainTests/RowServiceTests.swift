// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import WhorlStateStore
import Testing
import WhorlService

/// The rows as a client sees them, which may be in another process.
@Suite struct `The service of the rows` {
    private let bench: KeychainBench
    private let rows: KeychainRows

    init() throws {
        bench = try KeychainBench()
        rows = bench.rows(of: ["org.example.app", "team"])
    }

    private func new(
        _ account: String,
        _ value: String = "value",
        group: String = "org.example.app",
        accessible: String = "ak"
    ) -> NewKeychainRow {
        let record = KeychainRecord(
            .genericPassword,
            accessGroup: group,
            accessible: accessible,
            flags: 0,
            isSynchronizable: false,
            attributes: ["svce": .text("mail"), "acct": .text(account)]
        )
        return NewKeychainRow(record, .plain(Data(value.utf8)))
    }

    private func all(withValues: Bool = true) throws -> [KeychainRow] {
        try rows.rows(
            KeychainMatch(.genericPassword, groups: rows.groups),
            withValues: withValues,
            limit: .max
        )
    }

    private func stored(_ new: NewKeychainRow...) throws -> [KeychainRow] {
        guard case .stored(let stored) = try rows.add(new, replacing: []) else { return [] }
        return stored
    }

    private var values: [String: String] {
        get throws {
            try all().reduce(into: [:]) { values, row in
                guard case .text(let account)? = row.record.attributes["acct"],
                    case .value(let value) = row.contents
                else { return }
                values[account] = String(decoding: value, as: UTF8.self)
            }
        }
    }

    @Test func `the groups of all programs are told, with the number of rows, readable or not`() throws {
        let nobodys = bench.rows(of: [])
        #expect(try nobodys.stored() == ([], 0))
        _ = try stored(new("a"), new("b", group: "team"), new("c", group: "team"))
        #expect(try nobodys.stored() == (["org.example.app", "team"], 3))
        try bench.execute("UPDATE keychain_items SET mac = zeroblob(32) WHERE acct = x'0163'")
        #expect(try nobodys.stored() == (["org.example.app", "team"], 3))
        #expect(try all().count == 2)
    }

    @Test func `several items are stored together, or none of them`() throws {
        let first = try #require(try stored(new("a")).first)
        #expect(try rows.add([new("b"), new("a")], replacing: []) == .taken(by: first))
        #expect(try values == ["a": "value"])
        #expect(try rows.add([new("b"), new("c"), new("b")], replacing: []).isTaken)
        #expect(try rows.add([new("b"), new("c", accessible: "akpu")], replacing: []) == .noPasscode)
        #expect(try values == ["a": "value"])
        #expect(try stored(new("b"), new("c")).count == 2)
        #expect(try values.keys.sorted() == ["a", "b", "c"])
    }

    @Test func `a row is replaced only in the state that the caller has seen`() throws {
        let old = try #require(try stored(new("a", "old")).first)
        let change = KeychainRowChange(old.version, to: new("a", "changed"))
        guard case .stored(let changed) = try rows.update([change], replacing: []) else {
            return #expect(Bool(false), "it was not stored")
        }
        #expect(changed.first?.id == old.id)
        #expect(changed.first?.version != old.version)
        #expect(try rows.update([change], replacing: []) == .stale)
        #expect(try rows.add([new("a", "new")], replacing: [old.version]) == .taken(by: changed[0]))
        #expect(try values == ["a": "changed"])
        #expect(try stored(new("b")).count == 1)
        _ = try rows.add([new("a", "new")], replacing: [changed[0].version])
        #expect(try values == ["a": "new", "b": "value"])
        #expect(try rows.update([change], replacing: []) == .stale)
    }

    @Test func `changes of several rows are made together, or none of them`() throws {
        let found = try stored(new("a"), new("b"), new("c"))
        let good = KeychainRowChange(found[0].version, to: new("a", "changed"))
        let taken = KeychainRowChange(found[1].version, to: new("c"))
        let gone = KeychainRowChange(KeychainRowVersion(id: 1, revision: Data()), to: new("d"))
        let untold = KeychainRowChange(
            KeychainRowVersion(id: found[1].id, revision: Data(count: 32)),
            to: new("b", "changed")
        )
        #expect(try rows.update([good, taken], replacing: []) == .taken(by: found[2]))
        #expect(try rows.update([good, gone], replacing: []) == .stale)
        #expect(try rows.update([good, untold], replacing: []) == .stale)
        #expect(try rows.update([good], replacing: [found[0].version]) == .stale)
        #expect(try values == ["a": "value", "b": "value", "c": "value"])
        _ = try rows.update([good, taken], replacing: [found[2].version])
        #expect(try values == ["a": "changed", "c": "value"])
    }

    @Test func `a program sees and changes no rows of a group that is not its own`() throws {
        let other = bench.rows(of: ["org.example.other", "team"])
        let own = try #require(try stored(new("a")).first)
        let all = KeychainMatch(.genericPassword, groups: ["org.example.app", "team"])
        var byNumber = all
        byNumber.id = own.id
        for match in [all, byNumber] {
            #expect(try other.rows(match, withValues: true, limit: .max) == [])
            #expect(try other.delete([match]) == 0)
        }
        let change = KeychainRowChange(own.version, to: new("a", group: "team"))
        #expect(try other.update([change], replacing: []) == .stale)
        #expect(try other.add([new("a")], replacing: []) == .groupRefused)
        guard case .stored = try other.add([new("x", group: "team")], replacing: [own.version]) else {
            return #expect(Bool(false), "it was not stored")
        }
        let foreign = KeychainRowChange(own.version, to: new("a", group: "org.example.other"))
        #expect(try rows.update([foreign], replacing: []) == .groupRefused)
        #expect(try values == ["a": "value", "x": "value"])
    }

    @Test func `values are decrypted only when they are asked for`() throws {
        _ = try stored(new("a"))
        #expect(try all(withValues: false).map(\.contents) == [.encrypted])
        #expect(try all().map(\.contents) == [.value(Data("value".utf8))])
        try bench.execute(
            "UPDATE keychain_items SET value = CAST(x'0000' || substr(value, 3) AS BLOB)"
        )
        #expect(try all().map(\.contents) == [.damaged])
    }

    @Test func `nothing is made by reading, deleting and changing where nothing was stored`() throws {
        #expect(try all() == [])
        #expect(try rows.delete([KeychainMatch(.genericPassword, groups: rows.groups)]) == 0)
        let change = KeychainRowChange(KeychainRowVersion(id: 1, revision: Data()), to: new("a"))
        #expect(try rows.update([change], replacing: []) == .stale)
        #expect(!FileManager.default.fileExists(atPath: bench.path + "/state"))
    }

    @Test func `a record and a filter read back from their form on a wire`() throws {
        var record = new("a").record
        record.attributes["cdat"] = .date(.nan)
        record.attributes["labl"] = .text("e\u{301}")
        record.attributes["gena"] = .data(Data([0, 255]))
        record.attributes["type"] = .number(.min)
        let wire = try JSONEncoder().encode(record)
        #expect(try JSONDecoder().decode(KeychainRecord.self, from: wire) == record)
        var match = KeychainMatch(.key, groups: ["a", "é"])
        match.attributes = record.attributes
        match.isSynchronizable = nil
        match.leftOut = [1, 2]
        let bytes = try JSONEncoder().encode(match)
        #expect(try JSONDecoder().decode(KeychainMatch.self, from: bytes) == match)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(AttributeValue.self, from: Data("\"BQ==\"".utf8))
        }
    }
}

extension KeychainOutcome {
    fileprivate var isTaken: Bool {
        guard case .taken = self else { return false }
        return true
    }
}
