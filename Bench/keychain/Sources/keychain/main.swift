// SPDX-License-Identifier: Apache-2.0

// Adds, finds and deletes items that ask for nobody, and does the same with a bare SQLite row and AES-GCM, in turns.
//
//     WHORL_STATE_DIR=/tmp/bench WHORL_TCTI=none keychain [rounds] [items that are there before]

import Crypto
import Foundation
import GRDB
import LocalAuthentication

let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 500
let before = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1000
let value = Data(repeating: 7, count: 64)

/// The row that a program would make without a keychain: a name, and what it encrypts, in a database with the same
/// settings.
struct BareRow {
    let queue: DatabaseQueue
    let key = SymmetricKey(size: .bits256)

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            _ = try Int.fetchOne(db, sql: "PRAGMA secure_delete = ON")
        }
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
        try queue.write {
            try $0.execute(
                sql: """
                    CREATE TABLE items (service TEXT NOT NULL, account TEXT NOT NULL, value BLOB NOT NULL,
                        PRIMARY KEY (service, account)) STRICT
                    """
            )
        }
    }

    func add(_ account: String) throws {
        let sealed = try AES.GCM.seal(value, using: key).combined
        try queue.write { db in
            try db.cachedStatement(sql: "INSERT INTO items VALUES (?, ?, ?)").execute(arguments: [
                "mail", account, sealed,
            ])
        }
    }

    func find(_ account: String) throws -> Data? {
        let sealed = try queue.unsafeRead { db in
            try Data.fetchOne(
                db.cachedStatement(sql: "SELECT value FROM items WHERE service = ? AND account = ?"),
                arguments: ["mail", account]
            )
        }
        return try sealed.map { try AES.GCM.open(AES.GCM.SealedBox(combined: $0), using: key) }
    }

    func delete(_ account: String) throws {
        try queue.write { db in
            try db.cachedStatement(sql: "DELETE FROM items WHERE service = ? AND account = ?")
                .execute(arguments: ["mail", account])
        }
    }
}

func query(_ account: String, _ more: [CFString: Any] = [:]) -> CFDictionary {
    var query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "mail", kSecAttrAccount: account,
    ]
    query.merge(more) { _, new in new }
    return query as CFDictionary
}

func expect(_ status: OSStatus) {
    guard status == errSecSuccess else { fatalError("status \(status)") }
}

/// Microseconds that `body` takes.
func time(_ body: () throws -> Void) rethrows -> Double {
    let took = try ContinuousClock().measure(body)
    return Double(took.components.attoseconds) / 1e12 + Double(took.components.seconds) * 1e6
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

guard let directory = ProcessInfo.processInfo.environment["WHORL_STATE_DIR"] else {
    fatalError("WHORL_STATE_DIR names no directory")
}
let bare = try BareRow(directory + ".bare.sqlite")
for number in 0..<before {
    expect(SecItemAdd(query("before \(number)", [kSecValueData: value]), nil))
    try bare.add("before \(number)")
}
var ours: [String: [Double]] = [:]
var theirs: [String: [Double]] = [:]
for round in 0..<rounds {
    let account = "account \(round)"
    theirs["add", default: []].append(try time { try bare.add(account) })
    ours["add", default: []].append(time { expect(SecItemAdd(query(account, [kSecValueData: value]), nil)) })
    theirs["find", default: []].append(
        try time { guard try bare.find(account) == value else { fatalError() } }
    )
    ours["find", default: []].append(
        time {
            var item: CFTypeRef?
            expect(SecItemCopyMatching(query(account, [kSecReturnData: true]), &item))
            guard item as? Data == value else { fatalError() }
        }
    )
    if round % 2 == 0 {
        theirs["delete", default: []].append(try time { try bare.delete(account) })
        ours["delete", default: []].append(time { expect(SecItemDelete(query(account))) })
    }
}
print("call     keychain µs   bare row µs   ratio (p50 of \(rounds), \(before) items before)")
for call in ["add", "find", "delete"] {
    let (one, other) = (median(ours[call] ?? [0]), median(theirs[call] ?? [0]))
    print(
        call.padding(toLength: 8, withPad: " ", startingAt: 0),
        String(format: "%11.1f %13.1f %7.2f", one, other, one / other)
    )
}
