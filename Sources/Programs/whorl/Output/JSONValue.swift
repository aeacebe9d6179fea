// SPDX-License-Identifier: Apache-2.0

import WhorlSupport

/// A JSON value that preserves the order of its members, so that output can be compared as text.
enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    /// A number of seconds, rounded to milliseconds.
    case seconds(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    struct Member: Sendable, Equatable {
        let name: String
        let value: JSONValue
    }

    /// The value as JSON text on one line (RFC 8259).
    var line: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .seconds(let value): Self.number(value)
        case .string(let value): Self.quoted(value)
        case .array(let values): "[" + values.map(\.line).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.line }.joined(separator: ",") + "}"
        }
    }

    /// Returns the value as JSON text on several lines, with one member or element on each.
    func lines(indent: Int = 0) -> [String] {
        let inner: [(start: String, value: JSONValue)]
        let (open, close): (String, String)
        switch self {
        case .array(let values) where values.contains(where: \.hasParts):
            inner = values.map { ("", $0) }
            (open, close) = ("[", "]")
        case .object(let members) where members.contains { $0.value.hasParts } || members.count > 3:
            inner = members.map { (Self.quoted($0.name) + ": ", $0.value) }
            (open, close) = ("{", "}")
        default: return [line]
        }
        let margin = String(repeating: " ", count: indent + 2)
        var result = [open]
        for (number, part) in inner.enumerated() {
            var lines = part.value.lines(indent: indent + 2)
            lines[0] = margin + part.start + lines[0]
            lines[lines.count - 1] += number + 1 < inner.count ? "," : ""
            result += lines
        }
        return result + [String(margin.dropLast(2)) + close]
    }

    /// Whether the value is a nonempty array or object.
    private var hasParts: Bool {
        switch self {
        case .array(let values): !values.isEmpty
        case .object(let members): !members.isEmpty
        case .null, .bool, .integer, .seconds, .string: false
        }
    }

    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        return String((value * 1000).rounded() / 1000)
    }

    /// Returns the text as a JSON string.
    ///
    /// Characters that a terminal may interpret or display in a special way are escaped: control and format characters,
    /// and those that Unicode has not assigned yet.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where DisplayText.isHidden(scalar): quoted += escaped(scalar)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(integerLiteral value: Int) { self = .integer(value) }
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Creates an object with its members in the order of the literal; members with the value `nil` are omitted.
    init(dictionaryLiteral elements: (String, JSONValue?)...) {
        self = .object(elements.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }

    /// Returns the object with one more member; if its value is `nil`, returns the object unchanged.
    ///
    /// A value that is not an object is returned unchanged.
    func adding(_ name: String, _ value: JSONValue?) -> JSONValue {
        guard case .object(let members) = self, let value else { return self }
        return .object(members + [Member(name: name, value: value)])
    }

    static func strings(_ values: [String]) -> JSONValue { .array(values.map(JSONValue.string)) }
}
