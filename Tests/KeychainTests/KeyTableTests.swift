// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import LocalAuthentication
import Testing

/// Docs/Keychain.md has a table of every key and every call, and each of its cells is tried.
@Suite struct `The table of keys and calls` {
    /// A call of the keychain, in the order of the table's columns.
    enum Call: Int, CaseIterable {
        case add, find, update, change, delete, create
    }

    /// A key in the table, and what each call does with it.
    struct Row: Sendable, CustomTestStringConvertible {
        let item: String
        let key: String
        let cells: [String]

        var testDescription: String { "\(key) of \(item)" }
        subscript(call: Call) -> String { cells[call.rawValue] }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let rows: [Row] = {
        guard let text = try? String(contentsOf: root.appending(path: "Docs/Keychain.md"), encoding: .utf8),
            let rest = text.components(separatedBy: "## Every key in every call").dropFirst().first,
            let table = rest.components(separatedBy: "\n## ").first
        else { return [] }
        let lines = table.split(separator: "\n").filter { $0.hasPrefix("|") && $0.contains("`kSec") }
        return lines.flatMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let results = cells.dropFirst(2).map { $0.replacing("`", with: "") }
            return cells[1].matches(of: /`(\w+)`/).map {
                Row(item: cells[0], key: String($0.1), cells: Array(results))
            }
        }
    }()

    @Test func `every key is in the table`() throws {
        #expect(Self.rows.count > 80)
        #expect(Self.rows.allSatisfy { $0.cells.count == Call.allCases.count })
        let inTable = Set(Self.rows.map(\.key))
        #expect(Set(KeySamples.keys.keys).subtracting(inTable).sorted() == [])
        #expect(inTable.subtracting(KeySamples.keys.keys).sorted() == [])
        #expect(try Self.declared().subtracting(inTable).sorted() == [])
    }

    /// The constants that are keys of a dictionary, and not values.
    private static func declared() throws -> Set<String> {
        let folder = root.appending(path: "Sources/Faces/KeychainServices/Constants")
        let values = [
            /kSec(Class|AttrKeyClass|AttrKeyType|AttrProtocol|AttrAuthenticationType)[A-Z]\w*/,
            /kSecAttr(Accessible|PRF|KeyType3)[A-Z]\w*/, /kSecMatchLimit(One|All)/,
            /kSecUseAuthenticationUI(Allow|Fail|Skip)/,
            /kSecAttr(SynchronizableAny|TokenIDSecureEnclave|AccessGroupToken)/,
        ]
        var names: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where file.hasPrefix("KeychainConstants") {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for match in text.matches(of: /public let (kSec\w+): CFString/) {
                let name = String(match.1)
                if !values.contains(where: { name.wholeMatch(of: $0) != nil }) { names.insert(name) }
            }
        }
        #expect(names.count > 50, "the constants are not where they are looked for")
        return names
    }

    @Test(arguments: rows) func `a key does in each call what the table says`(_ row: Row) throws {
        for call in Call.allCases {
            let bench = try KeychainBench()
            try bench.run(groups: ["shared"]) { try Trial(row, row[call]).run(call) }
        }
    }
}

/// One cell of the table.
private struct Trial {
    private let row: `The table of keys and calls`.Row
    private let said: String
    private let sample: KeySamples.Sample

    init(_ row: `The table of keys and calls`.Row, _ said: String) throws {
        self.row = row
        self.said = said
        sample = try KeySamples.sample(row.key, of: row.item)
    }

    func run(_ call: `The table of keys and calls`.Call) throws {
        let place: Comment = "\(call) with \(row.key) is \(said)"
        guard call != .create else { return try create() }
        guard call != .add else {
            let status = SecItemAdd(item(with: sample.value) as CFDictionary, nil)
            #expect(status == wanted, place)
            if said == "taken", sample.other != nil, !sample.namesItself {
                #expect(read() == sample.stored, place)
            }
            return
        }
        try store()
        let (value, other) = (try sample.known(read), sample.other)
        switch call {
        case .add, .create: break
        case .find: query(value, other, place) { SecItemCopyMatching($0, nil) }
        case .update: query(value, other, place) { SecItemUpdate($0, ["labl": "new"] as CFDictionary) }
        case .delete: query(value, other, place) { SecItemDelete($0) }
        case .change:
            let change: [CFString: Any] = [sample.key: other ?? value]
            let more = said.hasPrefix("errSec") || said == "ignored" ? [kSecAttrLabel: "new" as Any] : [:]
            let changes = more.merging(change) { $1 } as CFDictionary
            #expect(SecItemUpdate(anyKind as CFDictionary, changes) == wanted, place)
            if said == "taken", let other { #expect(read() == other as? NSObject, place) }
        }
    }

    /// A key is made with the value; a value of no type that any key has tells whether the key is looked at.
    private func create() throws {
        let place: Comment = "create with \(row.key) is \(said)"
        let right = KeySamples.ofNewKeys[row.key] ?? sample.value
        if row.key == "kSecAttrTokenID" {
            // The chip of this bench makes no keys.
            #expect(make(right).code == status(errSecNotAvailable), place)
        } else {
            let key = try make(right).get()
            if let wanted = KeySamples.ofNewKeys[row.key] as? NSObject, !(wanted is NSDictionary) {
                let query: [CFString: Any] = [
                    kSecClass: kSecClassKey, kSecValueRef: key, kSecReturnAttributes: true,
                    kSecAttrSynchronizable: kSecAttrSynchronizableAny,
                ]
                let stored = find(query as CFDictionary).object as? NSDictionary
                #expect(stored?.object(forKey: sample.key) as? NSObject == wanted, place)
            }
        }
        let wrong = make(NSNull())
        #expect(said == "ignored" ? wrong.code == nil : wrong.code == status(errSecParam), place)
    }

    private func make(_ value: Any) -> Result<SecKey, NSError> {
        let isOutside = [kSecPrivateKeyAttrs, kSecPublicKeyAttrs].contains(sample.key)
        var query: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: 256]
        var half: [CFString: Any] = [kSecAttrIsPermanent: true]
        if isOutside { query[sample.key] = value } else { half[sample.key] = value }
        if sample.key != kSecPrivateKeyAttrs { query[kSecPrivateKeyAttrs] = half }
        return outcome { SecKeyCreateRandomKey(query as CFDictionary, $0) }
    }

    /// Another value is asked for first: it finds nothing where the key is taken, and all where it is ignored.
    private func query(_ value: Any, _ other: Any?, _ place: Comment, _ call: (CFDictionary) -> OSStatus) {
        func asked(_ value: Any) -> CFDictionary {
            var asked: [CFString: Any] = [kSecClass: KeySamples.classes[row.item] ?? ""]
            if sample.namesItself { asked = [:] }
            asked[sample.key] = value
            return asked as CFDictionary
        }
        if let other {
            let status = said == "taken" ? errSecItemNotFound : wanted
            #expect(call(asked(other)) == status, place)
            // What is ignored has deleted the item already.
            if said == "ignored" { return }
        }
        #expect(call(asked(value)) == wanted, place)
    }

    private var wanted: OSStatus { KeySamples.statuses[said] ?? 1 }
    private var base: [CFString: Any] { [kSecClass: KeySamples.classes[row.item] ?? ""] }

    /// Items that may leave the device and others.
    private var anyKind: [CFString: Any] {
        base.merging([kSecAttrSynchronizable: kSecAttrSynchronizableAny]) { $1 }
    }

    private func item(with value: Any) -> [CFString: Any] {
        var item = (try? KeySamples.item(row.item)) ?? [:]
        if sample.key == kSecValueRef { item[kSecValueData] = nil }
        item[sample.key] = value
        return item
    }

    /// Stores an item that has the value, or one without it where adding refuses the key.
    private func store() throws {
        let whole = item(with: sample.value) as CFDictionary
        guard SecItemAdd(whole, nil) != errSecSuccess else { return }
        try #require(SecItemAdd(KeySamples.item(row.item) as CFDictionary, nil) == errSecSuccess)
    }

    /// What the stored item has under the key.
    private func read() -> NSObject? {
        let wanted: [CFString: Any] = [
            kSecReturnAttributes: true, kSecReturnData: true, kSecReturnPersistentRef: true,
        ]
        let query = anyKind.merging(wanted) { $1 }
        return (find(query as CFDictionary).object as? NSDictionary)?.object(forKey: sample.key) as? NSObject
    }
}
