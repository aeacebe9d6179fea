// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlService

@testable import KeychainServices
@testable import WhorlStateStore

extension FuzzTarget {
    static let keychainTargets: [FuzzTarget] = [
        FuzzTarget(name: "keychain-query", longestInput: 1024, check: keychainQuery),
        FuzzTarget(name: "keychain-record", longestInput: 1024, check: keychainRecord),
    ]

    /// Every dictionary is a request that makes sense, or an error with a number that programs know.
    private static func keychainQuery(_ input: [UInt8]) throws(BrokenPromise) {
        var reader = InputReader(input)
        let purposes = KeychainRequest.Purpose.allCases
        let purpose = purposes[Int(reader.byte()) % purposes.count]
        let dictionary = reader.dictionary(depth: 0)
        let request: KeychainRequest
        do {
            request = try KeychainRequest(dictionary, for: purpose)
        } catch {
            try promise(
                [errSecParam, errSecNoSuchAttr, errSecNoSuchClass, errSecUnimplemented]
                    .contains(error.status),
                "\(error.status) for a dictionary"
            )
            return
        }
        try promise(purpose != .delete && purpose != .select || request.returns.isEmpty, "a result of none")
        try promise(purpose != .add || request.limit == nil, "an item is added with a limit")
        let hasLimit = request.limit.map { $0 < .max } ?? false
        let changes = purpose == .delete || purpose == .select
        try promise(
            !hasLimit || !changes || !request.requestsDataProtection,
            "a limit that no keychain accepts"
        )
        try promise(request.interface != .skip || purpose == .copy, "skip where nothing is looked for")
        guard case .stored(let itemClass)? = request.itemClass else { return }
        for name in request.attributes.keys {
            try promise(itemClass.forms[name] != nil, "\(itemClass) has \(name)")
        }
        let record = KeychainRecord(
            itemClass,
            accessGroup: request.accessGroup ?? "",
            protection: request.protection,
            isSynchronizable: request.synchronizable == .yes,
            hasValue: request.value != nil,
            attributes: request.attributes
        )
        try promise(KeychainRecord(encoded: record.encoded) == record, "a record does not read back")
        try promise(record.matches(request.attributes), "an item does not match its own attributes")
        if let reference = request.persistentReference {
            try promise(PersistentReference(reference.data) == reference, "a reference does not read back")
        }
        var match = KeychainMatch(itemClass, groups: ["a", "b"])
        match.attributes = request.attributes
        try promise(
            match.statement("p", withValues: true).sql.utf8.allSatisfy { $0 < 128 },
            "a value is in a statement"
        )
    }

    /// Only canonical bytes are read.
    private static func keychainRecord(_ input: [UInt8]) throws(BrokenPromise) {
        let bytes = Data(input)
        try promise(
            KeychainRecord(encoded: bytes).map { $0.encoded == bytes } ?? true,
            "a record has other bytes"
        )
        for sealing in 0..<4 {
            try promise(
                StoredContents(sealing: sealing, encoded: bytes).map { $0.encoded == bytes } ?? true,
                "a sealed value has other bytes"
            )
        }
        try promise(
            PersistentReference(bytes).map { $0.data == bytes } ?? true,
            "a reference has other bytes"
        )
    }
}

extension InputReader {
    /// Keys and values that a program may have put together, right ones and wrong ones.
    fileprivate mutating func dictionary(depth: Int) -> NSDictionary {
        let dictionary = NSMutableDictionary()
        while !isAtEnd, dictionary.count < 24 {
            let key: AnyHashable =
                switch byte() {
                case let known where known < 200:
                    InputReader.keys[Int(known) % InputReader.keys.count] as NSString
                case 200..<250: text() as NSString
                default: NSNumber(value: number())
                }
            dictionary.setObject(value(depth: depth), forKey: key)
        }
        return dictionary
    }

    private mutating func value(depth: Int) -> Any {
        switch byte() % 12 {
        case 0: text() as NSString
        case 1: Data(bytes()) as NSData
        case 2: NSNumber(value: number())
        case 3: NSNumber(value: flag())
        case 4: NSNumber(value: Double(bitPattern: UInt64(bitPattern: number())))
        case 5: Date(timeIntervalSince1970: Double(bitPattern: UInt64(bitPattern: number()))) as NSDate
        case 6: NSNull()
        case 7: depth < 3 ? dictionary(depth: depth + 1) : NSArray()
        case 8: [text(), text()] as NSArray
        case 9: control()
        case 10: Data((flag() ? "genp" : "idnt").utf8 + bytes()) as NSData
        default: InputReader.values[Int(byte()) % InputReader.values.count] as NSString
        }
    }

    private mutating func control() -> NSObject {
        let flags = SecAccessControlCreateFlags(rawValue: UInt(truncatingIfNeeded: number()))
        return SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil) ?? NSObject()
    }

    private static let keys: [String] = [
        "class", "acct", "svce", "agrp", "pdmn", "accc", "sync", "labl", "cdat", "mdat", "srvr", "ptcl",
        "atyp",
        "port", "path", "sdmn", "kcls", "klbl", "atag", "type", "bsiz", "perm", "issr", "slnr", "ctyp",
        "gena", "crtr",
        "invi", "nleg", "m_Limit", "m_CaseInsensitive", "m_Policy", "m_Issuers", "m_SubjectContains",
        "m_SubjectEndsWith", "m_EmailAddressIfPresent", "m_ValidOnDate", "r_Data", "r_Attributes", "r_Ref",
        "r_PersistentRef", "u_AuthCtx", "u_AuthUI", "u_NoAuthUI", "u_OpPrompt", "v_Data", "v_Ref",
        "v_PersistentRef",
        "vwht", "tkid", "acls",
    ]

    private static let values: [String] = [
        "genp", "inet", "keys", "cert", "idnt", "ak", "ck", "aku", "akpu", "m_LimitOne", "m_LimitAll", "syna",
        "u_AuthUIA", "u_AuthUIF", "u_AuthUIS", "http", "73", "1", "",
    ]
}
