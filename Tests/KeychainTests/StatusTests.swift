// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainServices
import LocalAuthentication
import Testing

/// What each wrong dictionary is answered with.
@Suite struct `Statuses` {
    private let bench: KeychainBench

    init() throws { bench = try KeychainBench() }

    enum Call: String, CaseIterable {
        case add
        case copy
        case delete
        case update
        case change
    }

    struct Case: @unchecked Sendable, CustomTestStringConvertible {
        let what: String
        let calls: [Call]
        let dictionary: [AnyHashable: Any]
        let status: OSStatus

        var testDescription: String { what }

        /// As the second dictionary of an update, where the class stands alone or not at all.
        var changes: NSDictionary {
            var changes = dictionary
            if changes.count > 1 { changes["class"] = nil }
            return changes as NSDictionary
        }
    }

    private static var genp: [AnyHashable: Any] { ["class": "genp", "acct": "a"] }
    private static let asking: [Call] = [.copy, .delete, .update]
    private static let all: [Call] = [.add] + asking

    private static func with(_ key: AnyHashable, _ value: Any) -> [AnyHashable: Any] {
        genp.merging([key: value]) { $1 }
    }

    static let cases: [Case] = [
        Case(what: "nothing", calls: all, dictionary: [:], status: errSecParam),
        Case(what: "no class", calls: all, dictionary: ["acct": "a"], status: errSecParam),
        Case(what: "unknown class", calls: all, dictionary: ["class": "abcd"], status: errSecNoSuchClass),
        Case(what: "class of another type", calls: all, dictionary: ["class": 7], status: errSecParam),
        Case(what: "a key that is bytes", calls: all, dictionary: with(Data(), "x"), status: errSecParam),
        Case(what: "a key that is a number", calls: all, dictionary: with(7, "x"), status: errSecNoSuchAttr),
        Case(what: "a key of no kind", calls: all, dictionary: with("account", "x"), status: errSecParam),
        Case(what: "a key of one letter", calls: all, dictionary: with("m", "x"), status: errSecParam),
        Case(what: "a key of none", calls: all, dictionary: with("", "x"), status: errSecParam),
        Case(what: "almost the class", calls: all, dictionary: with("classes", "x"), status: errSecParam),
        Case(what: "account as a list", calls: all, dictionary: with("acct", ["a"]), status: errSecParam),
        Case(what: "label as a date", calls: all, dictionary: with("labl", Date()), status: errSecParam),
        Case(what: "date as a text", calls: all, dictionary: with("cdat", "now"), status: errSecParam),
        Case(what: "flag as a text", calls: all, dictionary: with("invi", "yes"), status: errSecParam),
        Case(
            what: "an account of 65 KiB",
            calls: all,
            dictionary: with("acct", String(repeating: "a", count: 65 << 10)),
            status: errSecParam
        ),
        Case(what: "unknown attribute", calls: all, dictionary: with("abcd", "x"), status: errSecNoSuchAttr),
        Case(
            what: "server of a generic one",
            calls: all,
            dictionary: with("srvr", "x"),
            status: errSecNoSuchAttr
        ),
        Case(what: "unknown match", calls: asking, dictionary: with("m_Other", 1), status: errSecParam),
        Case(what: "unknown return", calls: all, dictionary: with("r_Other", true), status: errSecParam),
        Case(what: "unknown use", calls: all, dictionary: with("u_Other", true), status: errSecParam),
        Case(what: "unknown value", calls: all, dictionary: with("v_Other", true), status: errSecParam),
        Case(what: "limit 0", calls: asking, dictionary: with("m_Limit", 0), status: errSecParam),
        Case(what: "limit -1", calls: asking, dictionary: with("m_Limit", -1), status: errSecParam),
        Case(what: "limit 1.5", calls: asking, dictionary: with("m_Limit", 1.5), status: errSecParam),
        Case(what: "limit of words", calls: asking, dictionary: with("m_Limit", "two"), status: errSecParam),
        Case(
            what: "a limit where something is added",
            calls: [.add],
            dictionary: with("m_Limit", 1),
            status: errSecParam
        ),
        Case(
            what: "one of several in the data protection keychain",
            calls: [.delete, .update],
            dictionary: with("m_Limit", 1).merging(["nleg": true]) { $1 },
            status: errSecParam
        ),
        Case(
            what: "a limit of all where something is added",
            calls: [.add],
            dictionary: with("m_Limit", "m_LimitAll"),
            status: errSecParam
        ),
        Case(
            what: "a limit of all where something is changed in the data protection keychain",
            calls: [.update],
            dictionary: with("m_Limit", "m_LimitAll").merging(["nleg": true]) { $1 },
            status: errSecParam
        ),
        Case(
            what: "a match in a change",
            calls: [.change],
            dictionary: ["m_Limit": "m_LimitAll"],
            status: errSecNoSuchAttr
        ),
        Case(
            what: "a result of a change",
            calls: [.change],
            dictionary: ["r_Data": false, "labl": "x"],
            status: errSecNoSuchAttr
        ),
        Case(
            what: "a reference in a change",
            calls: [.change],
            dictionary: ["v_PersistentRef": Data("genp\0\0\0\0\0\0\0\0".utf8), "labl": "x"],
            status: errSecNoSuchAttr
        ),
        Case(
            what: "a result of none",
            calls: [.update],
            dictionary: with("r_Data", true),
            status: errSecParam
        ),
        Case(what: "return as a text", calls: all, dictionary: with("r_Data", "yes"), status: errSecParam),
        Case(what: "value as a text", calls: all, dictionary: with("v_Data", "x"), status: errSecParam),
        Case(what: "reference as a text", calls: all, dictionary: with("v_Ref", "x"), status: errSecParam),
        Case(
            what: "persistent reference of 3 bytes",
            calls: asking,
            dictionary: with("v_PersistentRef", Data(count: 3)),
            status: errSecParam
        ),
        Case(
            what: "persistent reference of another class",
            calls: asking,
            dictionary: with("v_PersistentRef", Data("inet\0\0\0\0\0\0\0\0".utf8)),
            status: errSecNoSuchClass
        ),
        Case(
            what: "persistent reference and an attribute",
            calls: asking,
            dictionary: with("v_PersistentRef", Data("genp\0\0\0\0\0\0\0\0".utf8)),
            status: errSecParam
        ),
        Case(
            what: "persistent reference and a group",
            calls: asking,
            dictionary: [
                "v_PersistentRef": Data("genp\0\0\0\0\0\0\0\0".utf8), "agrp": "org.example.app",
            ],
            status: errSecParam
        ),
        Case(what: "unknown accessible", calls: all, dictionary: with("pdmn", "zz"), status: errSecParam),
        Case(what: "accessible as a number", calls: all, dictionary: with("pdmn", 3), status: errSecParam),
        Case(
            what: "access control as a text",
            calls: all,
            dictionary: with("accc", "x"),
            status: errSecParam
        ),
        Case(
            what: "accessible and another access control",
            calls: all + [.change],
            dictionary: ["class": "genp", "pdmn": "ck", "accc": control([])],
            status: errSecParam
        ),
        Case(
            what: "leaves, and is guarded",
            calls: [.add, .change],
            dictionary: [
                "class": "genp", "sync": true, "accc": control(.biometryAny, kSecAttrAccessibleWhenUnlocked),
            ],
            status: errSecParam
        ),
        Case(
            what: "of both kinds at once",
            calls: [.add],
            dictionary: with("sync", "syna"),
            status: errSecParam
        ),
        Case(
            what: "another group",
            calls: all,
            dictionary: with("agrp", "other"),
            status: errSecMissingEntitlement
        ),
        Case(
            what: "context of another type",
            calls: all,
            dictionary: with("u_AuthCtx", "x"),
            status: errSecParam
        ),
        Case(what: "unknown interface", calls: all, dictionary: with("u_AuthUI", "x"), status: errSecParam),
        Case(
            what: "skip",
            calls: [.add, .delete, .update],
            dictionary: with("u_AuthUI", "u_AuthUIS"),
            status: errSecParam
        ),
        Case(what: "prompt as a number", calls: all, dictionary: with("u_OpPrompt", 1), status: errSecParam),
        Case(
            what: "an identity is added",
            calls: [.add],
            dictionary: ["class": "idnt"],
            status: errSecUnimplemented
        ),
        Case(
            what: "an identity",
            calls: [.copy, .delete],
            dictionary: ["class": "idnt"],
            status: errSecItemNotFound
        ),
        Case(
            what: "an identity is changed",
            calls: [.update],
            dictionary: ["class": "idnt"],
            status: errSecUnimplemented
        ),
        Case(
            what: "a match that is not there",
            calls: [.copy, .delete],
            dictionary: with("m_Policy", "x"),
            status: errSecUnimplemented
        ),
        Case(
            what: "a context in the change",
            calls: [.change],
            dictionary: ["u_AuthCtx": LAContext()],
            status: errSecNoSuchAttr
        ),
        Case(
            what: "a class in the change",
            calls: [.change],
            dictionary: ["class": "genp"],
            status: errSecNoSuchAttr
        ),
        Case(what: "no change", calls: [.change], dictionary: [:], status: errSecParam),
        Case(
            what: "a value of a wrong type",
            calls: [.change],
            dictionary: ["v_Data": 1],
            status: errSecParam
        ),
        Case(
            what: "no such item",
            calls: asking,
            dictionary: ["class": "genp", "acct": "b"],
            status: errSecItemNotFound
        ),
        Case(what: "there already", calls: [.add], dictionary: genp, status: errSecDuplicateItem),
    ]

    @Test(arguments: cases) func `wrong dictionaries get the status that says so`(_ one: Case) {
        bench.run {
            let item = ["class": "genp", "acct": "a"] as CFDictionary
            #expect(SecItemAdd(item, nil) == errSecSuccess)
            let dictionary = one.dictionary as NSDictionary
            for call in one.calls {
                let status =
                    switch call {
                    case .add: SecItemAdd(dictionary, nil)
                    case .copy: SecItemCopyMatching(dictionary, nil)
                    case .delete: SecItemDelete(dictionary)
                    case .update: SecItemUpdate(dictionary, ["labl": "x"] as CFDictionary)
                    case .change:
                        SecItemUpdate(item, one.changes)
                    }
                #expect(status == one.status, "\(call.rawValue)")
            }
            #expect(SecItemCopyMatching(item, nil) == errSecSuccess, "nothing was done")
        }
    }

    @Test func `a status that is returned has a sentence, and other numbers say what they are`() {
        #expect(
            SecCopyErrorMessageString(errSecItemNotFound, nil) == "The item was not found in the keychain."
        )
        #expect(SecCopyErrorMessageString(errSecNoDefaultKeychain, nil) == "OSStatus -25307")
        #expect(SecCopyErrorMessageString(4711, nil) == "OSStatus 4711")
    }

    @Test func `nothing is made on the disk where nothing is stored`() {
        bench.run {
            #expect(SecItemCopyMatching(generic("a"), nil) == errSecItemNotFound)
            #expect(SecItemDelete(generic("a")) == errSecItemNotFound)
            #expect(!FileManager.default.fileExists(atPath: bench.path + "/state"))
        }
    }
}
