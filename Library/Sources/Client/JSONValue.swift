// SPDX-License-Identifier: Apache-2.0

/// A message from the service, or a part of it, as a tree.
enum JSONValue {
    /// The maximum size of a message in bytes.
    static let longest = 1 << 20
    /// The maximum number of values in a message, and of members in an object.
    private static let most = (values: 100_000, members: 64)

    case null
    case flag(Bool)
    /// The integer part of a number; `nil` if it is out of range.
    case number(Int64?)
    case text(Bytes)
    case list([JSONValue])
    case object([Member])

    /// A member of an object.
    struct Member {
        let name: Bytes
        let value: JSONValue
    }

    /// Parses a message; `nil` if it is invalid or an object has duplicate members.
    init?(_ bytes: Bytes) {
        var reader = JSONReader(bytes, longest: Self.longest)
        var members: [Member] = []
        var room = Self.most.values
        do throws(NotJSON) {
            try reader.whole { (reader, name) throws(NotJSON) in
                let value = try Self.read(&reader, 2, &room)
                try Self.add(Member(name: name, value: value), to: &members)
            }
        } catch {
            return nil
        }
        self = .object(members)
    }

    private static func read(
        _ reader: inout JSONReader,
        _ depth: Int,
        _ room: inout Int
    ) throws(NotJSON) -> JSONValue {
        guard room > 0 else { throw NotJSON() }
        room -= 1
        switch try reader.first() {
        case UInt8(ascii: "{"):
            var members: [Member] = []
            try reader.object(depth: depth) { (reader, name) throws(NotJSON) in
                let value = try read(&reader, depth + 1, &room)
                try add(Member(name: name, value: value), to: &members)
            }
            return .object(members)
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            try reader.list(depth: depth) { (reader) throws(NotJSON) in
                elements.append(try read(&reader, depth + 1, &room))
            }
            return .list(elements)
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .flag(try reader.flag())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(whole(reader.number()))
        default:
            guard let text = try reader.text() else { return .null }
            return .text(text)
        }
    }

    private static func add(_ member: Member, to members: inout [Member]) throws(NotJSON) {
        guard members.count < most.members else { throw NotJSON() }
        for other in members where other.name == member.name { throw NotJSON() }
        members.append(member)
    }

    /// The integer part of a number in decimal digits; `nil` if it is out of range or has an exponent.
    static func whole(_ characters: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        var isNegative = false
        var isFraction = false
        for (place, character) in characters.enumerated() {
            switch character {
            case UInt8(ascii: "-") where place == 0: isNegative = true
            case UInt8(ascii: ".") where !isFraction: isFraction = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if isFraction { continue }
                let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
                let (sum, isTooMuch) = tens.addingReportingOverflow(Int64(character - UInt8(ascii: "0")))
                guard !isTooLarge, !isTooMuch else { return nil }
                number = sum
            default: return nil
            }
        }
        return isNegative ? -number : number
    }
}

extension JSONValue {
    /// The value of a member; `nil` if it is missing or null.
    subscript(_ name: StaticString) -> JSONValue? {
        @inline(never) get { member(name) }
    }

    private func member(_ name: StaticString) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        for member in members where member.name.isText(name) {
            if case .null = member.value { return nil }
            return member.value
        }
        return nil
    }

    /// Returns whether an object has a member, even if it is null.
    func has(_ name: StaticString) -> Bool {
        guard case .object(let members) = self else { return false }
        for member in members where member.name.isText(name) { return true }
        return false
    }

    /// The string; `nil` for any other value.
    @inline(never) var text: Bytes? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The number; `nil` for any other value.
    @inline(never) var number: Int64? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// The Boolean; `nil` for any other value.
    @inline(never) var flag: Bool? {
        guard case .flag(let flag) = self else { return nil }
        return flag
    }

    /// The elements of a list; `nil` for any other value.
    @inline(never) var list: [JSONValue]? {
        guard case .list(let list) = self else { return nil }
        return list
    }

    /// Whether the value is an object.
    var isObject: Bool {
        guard case .object = self else { return false }
        return true
    }

    /// The bytes of a Base64 string or a list of numbers; `nil` for any other value.
    var bytes: Bytes? {
        switch self {
        case .text(let text): return Bytes(base64: text)
        case .list(let list):
            var bytes: Bytes = []
            for element in list {
                guard let number = element.number, let byte = UInt8(exactly: number) else { return nil }
                bytes.append(byte)
            }
            return bytes
        default: return nil
        }
    }
}
