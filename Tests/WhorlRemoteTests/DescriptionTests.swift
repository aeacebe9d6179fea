// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlService

@testable import WhorlRemote

/// The types in the interfaces' descriptions, from which programs generate clients.
@Suite("The types of messages")
struct DescriptionTests {
    private let interfaces: [InterfaceReader]

    init() throws { interfaces = try InterfaceText.all.map { try InterfaceReader($0.text) } }

    @Test func `messages of every method have the declared types, and every declared member occurs`() throws {
        var samples = Dictionary(grouping: try MessageSamples.all(), by: \.place)
        for interface in interfaces {
            var check = InterfaceCheck(types: interface.types)
            var declared: Set<String> = []
            for method in interface.methods {
                for (part, type) in [("call", method.parameters), ("reply", method.reply)] {
                    let place = "\(method.name) \(part)"
                    let messages = samples.removeValue(forKey: place) ?? []
                    #expect(!messages.isEmpty, "\(place) has no message")
                    for message in messages { check.compare(message.value, type, at: place) }
                    declared.formUnion(check.places(type, at: place))
                }
            }
            #expect(Set(check.faults).sorted() == [])
            #expect(declared.subtracting(check.seen).sorted() == [], "these occur in no message")
        }
        #expect(samples.keys.sorted() == [], "these methods are not declared")
    }

    @Test func `errors have the declared members`() throws {
        let failed = try #require(errorType(ServiceError.name))
        let refused = try #require(errorType(LoginRefused.name))
        var check = InterfaceCheck(types: [:])
        for error in [MessageSamples.error, ServiceError(.appCancel)] {
            check.compare(try JSONTree(encoding: error), failed, at: ServiceError.name)
        }
        for reason in LoginReason.allCases {
            let refusal = LoginRefused(MessageSamples.error, reason)
            check.compare(try JSONTree(encoding: refusal), refused, at: LoginRefused.name)
        }
        #expect(check.faults == [])
    }

    private func errorType(_ name: String) -> InterfaceType? {
        for interface in interfaces {
            for (error, type) in interface.errors where "\(interface.name).\(error)" == name { return type }
        }
        return nil
    }

    @Test func `a call of version 0.1 has the declared types, and so have the members of its reply`() throws {
        let methods = try InterfaceMethod.all()
        let lines = try String(contentsOf: VersionTests.transcript, encoding: .utf8).split(separator: "\n")
        var count = 0
        for line in lines {
            let pair = try JSONDecoder().decode(VersionTests.Pair.self, from: Data(line.utf8))
            guard case .text(let name)? = pair.call["method"], let method = methods[name] else { continue }
            var check = InterfaceCheck(types: method.types)
            check.compare(pair.call["parameters"] ?? .object([:]), method.parameters, at: name)
            #expect(check.faults == [])
            guard pair.reply["error"] == nil else { continue }
            // Later versions added members to replies.
            let faults = method.faults(of: pair.reply["parameters"] ?? .object([:]))
            #expect(faults.filter { !$0.hasSuffix(": missing") } == [])
            count += 1
        }
        #expect(count > 20)
    }

    @Test func `every named type is declared and used, and is the same in all interfaces`() {
        var types: [String: InterfaceType] = [:]
        for interface in interfaces {
            #expect(Set(interface.types.keys) == interface.usedNames, "\(interface.name)")
            for (name, type) in interface.types {
                #expect(types.updateValue(type, forKey: name) ?? type == type, "\(interface.name).\(name)")
            }
        }
    }

    @Test(arguments: [
        "method M(a: object) -> ()", "method M(a: int)", "type T (a: int, b)", "type T (a: number)",
        "type T (a: int", "type T (a: int) method T() -> ()",
    ])
    func `a description from which no client can be generated is refused`(text: String) {
        #expect(throws: InterfaceReader.Unreadable.self) { try InterfaceReader("interface a.b\n\(text)\n") }
    }
}

extension InterfaceMethod {
    /// The methods of all interfaces, by name.
    static func all() throws -> [String: InterfaceMethod] {
        let methods = try InterfaceText.all.flatMap { try InterfaceReader($0.text).methods }
        return Dictionary(uniqueKeysWithValues: methods.map { ($0.name, $0) })
    }

    /// The differences of an update or a reply from the declared types.
    func faults(of answer: JSONTree) -> [String] {
        var check = InterfaceCheck(types: types)
        check.compare(answer, reply, at: name)
        return check.faults
    }
}

extension JSONTree {
    /// A member of an object.
    fileprivate subscript(name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }
}
