// SPDX-License-Identifier: Apache-2.0

/// A type of an interface's description (varlink.org, "Interface Definition").
indirect enum InterfaceType: Hashable {
    struct Member: Hashable {
        let name: String
        let type: InterfaceType
    }

    case bool, int, float, string
    case optional(InterfaceType)
    case list(InterfaceType)
    case dictionary(InterfaceType)
    /// One of these words.
    case words([String])
    case members([Member])
    /// An object of which one member is set, as the comment before it says.
    case choice([Member])
    case named(String)

    /// The members of an object; empty for another type.
    var ownMembers: [Member] {
        switch self {
        case .members(let members), .choice(let members): members
        default: []
        }
    }

    /// The same object, of which one member is set.
    var asChoice: InterfaceType { .choice(ownMembers) }

    /// The names of the types in this one.
    var names: Set<String> {
        switch self {
        case .bool, .int, .float, .string, .words: []
        case .optional(let inner), .list(let inner), .dictionary(let inner): inner.names
        case .members, .choice: Set(ownMembers.flatMap(\.type.names))
        case .named(let name): [name]
        }
    }
}

/// A method with the types of its parameters and its reply.
struct InterfaceMethod {
    let name: String
    let parameters: InterfaceType
    let reply: InterfaceType
    let types: [String: InterfaceType]
}

/// Reads the description of an interface.
struct InterfaceReader {
    struct Unreadable: Error { let rest: String }

    private(set) var name = ""
    private(set) var types: [String: InterfaceType] = [:]
    private(set) var errors: [String: InterfaceType] = [:]
    private var calls: [(name: String, parameters: InterfaceType, reply: InterfaceType)] = []
    private var rest: Substring

    init(_ text: String) throws {
        // A comment says so before a type, or before the method whose reply it is.
        let choices = text.replacing(/#.*[Oo]ne member is set.*/, with: "choice")
        rest = Substring(choices.replacing(/#.*/, with: ""))
        guard word() == "interface" else { throw unreadable }
        name = String(rest.prefix { !$0.isNewline }.drop(while: \.isWhitespace))
        rest = rest.drop { !$0.isNewline }
        var names: Set<String> = []
        while let keyword = word() {
            let isChoice = keyword == "choice"
            let kind = isChoice ? word() : keyword
            guard let name = word(), names.insert(name).inserted else { throw unreadable }
            let type = try type()
            switch kind {
            case "type": types[name] = isChoice ? type.asChoice : type
            case "error": errors[name] = type
            case "method":
                guard take("->") else { throw unreadable }
                let reply = try self.type()
                // A prompt comes in an update, and the value in the reply.
                let isPrompting = reply.ownMembers.contains { $0.name == "elsewhere" }
                calls.append((name, type, isChoice || isPrompting ? reply.asChoice : reply))
            default: throw unreadable
            }
        }
        guard rest.isEmpty else { throw unreadable }
    }

    var methods: [InterfaceMethod] {
        calls.map {
            InterfaceMethod(
                name: "\(name).\($0.name)",
                parameters: $0.parameters,
                reply: $0.reply,
                types: types
            )
        }
    }

    /// The names of the types that something else is made of.
    var usedNames: Set<String> {
        let made = Array(types.values) + Array(errors.values) + calls.flatMap { [$0.parameters, $0.reply] }
        return made.reduce(into: []) { $0.formUnion($1.names) }
    }

    private var unreadable: Unreadable { Unreadable(rest: String(rest.prefix(60))) }

    private mutating func take(_ text: String) -> Bool {
        rest = rest.drop(while: \.isWhitespace)
        guard rest.hasPrefix(text) else { return false }
        rest = rest.dropFirst(text.count)
        return true
    }

    private mutating func word() -> String? {
        rest = rest.drop(while: \.isWhitespace)
        let word = rest.prefix { $0.isLetter || $0.isNumber }
        rest = rest.dropFirst(word.count)
        return word.isEmpty ? nil : String(word)
    }

    private mutating func type() throws -> InterfaceType {
        if take("?") { return .optional(try type()) }
        if take("[string]") { return .dictionary(try type()) }
        if take("[]") { return .list(try type()) }
        if take("(") { return try parts() }
        return switch word() {
        case "bool"?: .bool
        case "int"?: .int
        case "float"?: .float
        case "string"?: .string
        case let name? where name.first?.isUppercase == true: .named(name)
        // Among them `object`, of which no program can be made.
        default: throw unreadable
        }
    }

    /// Reads what follows a parenthesis: members with their types, or words without.
    private mutating func parts() throws -> InterfaceType {
        var members: [InterfaceType.Member] = []
        var words: [String] = []
        while !take(")") {
            guard members.isEmpty && words.isEmpty || take(","), let name = word() else { throw unreadable }
            if take(":") {
                members.append(.init(name: name, type: try type()))
            } else {
                words.append(name)
            }
        }
        guard words.isEmpty || members.isEmpty else { throw unreadable }
        return words.isEmpty ? .members(members) : .words(words)
    }
}

/// Compares values with the types of an interface.
struct InterfaceCheck {
    let types: [String: InterfaceType]
    /// The differences, each with its place.
    private(set) var faults: [String] = []
    /// The places of the members and words that occurred.
    private(set) var seen: Set<String> = []

    init(types: [String: InterfaceType]) { self.types = types }

    /// Compares a value, and goes on with its parts.
    mutating func compare(_ value: JSONTree, _ type: InterfaceType, at place: String) {
        switch (type, value) {
        case (.bool, .flag), (.int, .whole), (.float, .whole), (.float, .number), (.string, .text): break
        case (.words(let words), .text(let word)) where words.contains(word): seen.insert("\(place)=\(word)")
        case (.optional(let inner), _): compare(value, inner, at: place)
        case (.list(let inner), .list(let values)): for value in values { compare(value, inner, at: place) }
        case (.dictionary(let inner), .object(let values)):
            for value in values.values { compare(value, inner, at: place) }
        case (.members(let members), .object(let values)): compare(values, members, at: place)
        case (.choice(let members), .object(let values)):
            compare(values, members, at: place)
            if values.count != 1 { faults.append("\(place): \(values.count) members are set") }
        case (.named(let name), _):
            if let named = types[name] {
                compare(value, named, at: name)
            } else {
                faults.append("\(place): \(name) is not declared")
            }
        default: faults.append("\(place): another type")
        }
    }

    private mutating func compare(
        _ values: [String: JSONTree],
        _ members: [InterfaceType.Member],
        at place: String
    ) {
        for name in values.keys where !members.contains(where: { $0.name == name }) {
            faults.append("\(place).\(name): not declared")
        }
        for member in members {
            let path = "\(place).\(member.name)"
            if let value = values[member.name] {
                seen.insert(path)
                compare(value, member.type, at: path)
            } else if case .optional = member.type {
                continue
            } else {
                faults.append("\(path): missing")
            }
        }
    }

    /// The places of all members and words of a type.
    func places(_ type: InterfaceType, at place: String) -> Set<String> {
        switch type {
        case .bool, .int, .float, .string: []
        case .words(let words): Set(words.map { "\(place)=\($0)" })
        case .optional(let inner), .list(let inner), .dictionary(let inner): places(inner, at: place)
        case .named(let name): types[name].map { places($0, at: name) } ?? []
        case .members, .choice:
            type.ownMembers.reduce(into: []) { places, member in
                let path = "\(place).\(member.name)"
                places.insert(path)
                places.formUnion(self.places(member.type, at: path))
            }
        }
    }
}
