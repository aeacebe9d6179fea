// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSQLite
import Synchronization
@testable import WhorlStateStore
import Testing
import WhorlService

@testable import KeychainServices

/// What lies on the disk.
@Suite struct `Rows` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    @Test(arguments: [
        "record = CAST(replace(record, 'mail', 'fail') AS BLOB)", "agrp = 'org.example.other'",
        "value = zeroblob(length(value))", Self.editedBody,
        "mac = zeroblob(32)", "id = id + 1", "profile = 'eve'", "sealing = 2", "record = x'00'",
        "value = x''", "class = 'inet'", "svce = CAST('x' AS BLOB)",
    ])
    func `a row that was edited is not found, and keeps no new one out`(_ edit: String) throws {
        try bench.run {
            #expect(SecItemAdd(generic("a", [kSecValueData: Data("old".utf8)]), nil) == errSecSuccess)
            try bench.execute("UPDATE keychain_items SET \(edit)")
            #expect(value("a") == nil)
            bench.run(as: "org.example.other") { #expect(value("a") == nil) }
            #expect(SecItemAdd(generic("a", [kSecValueData: Data("new".utf8)]), nil) == errSecSuccess)
            #expect(value("a") == Data("new".utf8))
        }
    }

    /// Another byte in the middle of an encrypted value, before the tag that the row's code covers.
    private static let editedBody = """
        value = CAST(substr(value, 1, 28) || CASE substr(value, 29, 1) WHEN x'00' THEN x'01' ELSE x'00' END
            || substr(value, 30) AS BLOB)
        """

    @Test func `a row with an edited value keeps the others neither from being read nor from being changed`()
        throws
    {
        try bench.run {
            for name in ["a", "b", "c"] {
                #expect(SecItemAdd(generic(name, [kSecValueData: Data(name.utf8)]), nil) == errSecSuccess)
            }
            try bench.execute("UPDATE keychain_items SET \(Self.editedBody) WHERE acct = x'0161'")
            let mail: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"]
            let all = mail.merging([kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]) { $1 }
            #expect(find(all as CFDictionary).object as? [Data] == [Data("b".utf8), Data("c".utf8)])
            try bench.execute("UPDATE keychain_items SET \(Self.editedBody) WHERE acct = x'0162'")
            #expect(
                SecItemUpdate(generic("b"), [kSecValueData: Data("x".utf8)] as CFDictionary)
                    == errSecItemNotFound
            )
            #expect(
                SecItemUpdate(mail as CFDictionary, [kSecAttrLabel: "l"] as CFDictionary) == errSecSuccess
            )
            #expect(value("c", [kSecAttrLabel: "l"]) == Data("c".utf8))
        }
    }

    @Test(arguments: ["mac = zeroblob(32)", Self.editedBody])
    func `an item may take the name of a row that was edited`(_ edit: String) throws {
        try bench.run {
            for name in ["a", "b"] {
                #expect(SecItemAdd(generic(name, [kSecValueData: Data(name.utf8)]), nil) == errSecSuccess)
            }
            let rename = [kSecAttrAccount: "b"] as CFDictionary
            #expect(SecItemUpdate(generic("a"), rename) == errSecDuplicateItem)
            try bench.execute("UPDATE keychain_items SET \(edit) WHERE acct = x'0162'")
            #expect(SecItemUpdate(generic("a"), rename) == errSecSuccess)
            #expect(value("b") == Data("a".utf8))
            #expect(value("a") == nil)
        }
    }

    @Test func `no large value stays in memory once its row was written`() throws {
        try bench.run {
            #expect(SecItemAdd(generic("a"), nil) == errSecSuccess)
            let database = try bench.database()
            let keys = database.keys
            let record = KeychainRecord(.key, accessGroup: "g", protection: control([]), attributes: [:])
            for isNew in [true, false] {
                let isFreed = Atomic(false)
                let size = 1 << 20
                try { () throws in
                    let bytes = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
                    memset(bytes, 1, size)
                    let value = Data(
                        bytesNoCopy: bytes,
                        count: size,
                        deallocator: .custom { bytes, _ in
                            bytes.deallocate()
                            isFreed.store(true, ordering: .relaxed)
                        }
                    )
                    let row = StoredRow(id: 1, profile: "ada", record: record, contents: .sealed(value), keys)
                    _ = try database.transactionBlocking { db -> Result<Void, Never> in
                        if isNew { try row.insert(db, keys) } else { try row.replace(db, keys) }
                        return .success(())
                    }
                }()
                let isGone = isFreed.load(ordering: .relaxed)
                #expect(isGone, "\(isNew)")
            }
        }
    }

    @Test func `the row of a key whose tag was stored as a text is found, changed and deleted by it`() throws
    {
        try bench.run {
            #expect(SecItemAdd(generic("a"), nil) == errSecSuccess)
            let database = try bench.database()
            let keys = database.keys
            let record = KeychainRecord(
                .key,
                accessGroup: "org.example.app",
                protection: control([]),
                attributes: ["atag": .text("org.example.tag"), "klbl": .text("label")]
            )
            let new = NewKeychainRow(record, .plain(Data("k".utf8)))
            let item = try StoredRow(id: 1, profile: "ada", new, keys)
            _ = try database.transactionBlocking { db -> Result<Void, Never> in
                try item.insert(db, keys)
                return .success(())
            }
            for tag in ["org.example.tag", Data("org.example.tag".utf8)] as [Any] {
                let query: [CFString: Any] = [
                    kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecReturnData: true,
                ]
                #expect(find(query as CFDictionary).object as? Data == Data("k".utf8))
            }
            let query: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationLabel: "label"]
            #expect(
                SecItemUpdate(query as CFDictionary, [kSecAttrLabel: "l"] as CFDictionary) == errSecSuccess
            )
            #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
            #expect(SecItemDelete(query as CFDictionary) == errSecItemNotFound)
        }
    }

    @Test func `the values of two items cannot be exchanged`() throws {
        try bench.run {
            for name in ["a", "b"] {
                #expect(SecItemAdd(generic(name, [kSecValueData: Data(name.utf8)]), nil) == errSecSuccess)
            }
            try bench.execute(
                """
                CREATE TEMP TABLE old AS SELECT id, value FROM keychain_items;
                UPDATE keychain_items SET value = (SELECT value FROM old WHERE old.id <> keychain_items.id);
                """
            )
            #expect(value("a") == nil)
            #expect(value("b") == nil)
        }
    }

    @Test func `no value lies readable in the database's files`() throws {
        let needle = Data("a value that nobody shall find".utf8)
        bench.run {
            #expect(SecItemAdd(generic("a", [kSecValueData: needle]), nil) == errSecSuccess)
            #expect(value("a") == needle)
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: bench.path + "/state") {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: bench.path + "/state/" + name))
            #expect(bytes.range(of: needle) == nil, "\(name)")
        }
    }

    @Test func `a record reads back from its bytes as the same, and no other bytes give one`() {
        var record = KeychainRecord(
            .internetPassword,
            accessGroup: "g",
            protection: control([.biometryAny, .or, .devicePasscode]),
            isSynchronizable: false,
            attributes: [
                "acct": .data(Data([0, 255])), "port": .number(-1), "cdat": .date(.nan), "path": .text("é"),
            ]
        )
        #expect(KeychainRecord(encoded: record.encoded) == record)
        #expect(KeychainRecord(encoded: record.encoded + [0]) == nil)
        #expect(KeychainRecord(encoded: record.encoded.dropLast()) == nil)
        record.hasValue = false
        #expect(KeychainRecord(encoded: record.encoded) == record)
    }

    // MARK: - Indexes

    private static let wanted: [(what: String, attributes: [String: AttributeValue], index: String)] = [
        ("service and account", ["svce": .text("service 7"), "acct": .text("account 7")], "keychain_groups"),
        ("access group", [:], "keychain_groups"),
        ("service", ["svce": .text("service 7")], "keychain_groups"),
        ("account", ["acct": .text("account 7")], "keychain_accounts"),
        ("label", ["labl": .text("label 7")], "keychain_labels"),
        ("server", ["srvr": .text("server 7")], "keychain_servers"),
        ("key label", ["klbl": .data(Data([7]))], "keychain_key_labels"),
        ("tag", ["atag": .data(Data([7]))], "keychain_key_tags"),
    ]

    @Test func `each column that is copied for an index is tried with one`() {
        #expect(Set(Self.wanted.flatMap(\.attributes.keys)) == Set(StoredRow.columns))
    }

    @Test func `with 10,000 items, each usual query uses an index`() throws {
        let keychain = bench
        try keychain.run {
            #expect(SecItemAdd(generic("account 0", service: "service 0"), nil) == errSecSuccess)
            let database = try keychain.database()
            let keys = database.keys
            _ = try database.transactionBlocking { db -> Result<Void, Never> in
                for number in 0..<10_000 {
                    let item = Self.item(number, keys)
                    try item.insert(db, keys)
                }
                return .success(())
            }
            for groups in [["org.example.app"], ["org.example.app", "team"]] {
                for (what, attributes, index) in Self.wanted {
                    var match = KeychainMatch(.genericPassword, groups: groups)
                    match.attributes = attributes
                    let (sql, arguments) = match.statement("ada", withValues: true)
                    let plan = try database.readBlocking { db in
                        try db.all(sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments) { row in
                            row["detail"] ?? "nothing"
                        }
                    }
                    #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(what): \(plan)")
                    #expect(plan.joined().contains(index), "\(what): \(plan)")
                }
            }
            #expect(find(generic("account 7", service: "service 7")).status == errSecSuccess)
        }
    }

    private static func item(_ number: Int, _ keys: StateKeys) -> StoredRow {
        StoredRow(
            id: Int64(number + 1),
            profile: "ada",
            record: KeychainRecord(
                .genericPassword,
                accessGroup: number % 2 == 0 ? "team" : "org.example.app",
                protection: control([]),
                attributes: [
                    "svce": .text("service \(number)"), "acct": .text("account \(number)"),
                    "labl": .text("label \(number)"), "cdat": .date(0), "mdat": .date(0),
                ]
            ),
            contents: .sealed(Data(repeating: 1, count: 80)),
            keys
        )
    }
}
