// SPDX-License-Identifier: Apache-2.0

/// The numbers of badges, and the users who carry them.
///
/// A badge identifies a user but proves nothing; the touch does.
public struct Badges: Equatable, Sendable {
    private var names: [String: String] = [:]

    /// Creates an empty list.
    public init() {}

    /// Reads the machine's list of badges.
    ///
    /// - Parameters:
    ///   - path: The file's path. If the file does not exist, there are no badges.
    ///   - owner: The user who must own the file.
    /// - Throws: ``FileFault`` if the file is invalid or others can change it.
    public init(path: String, owner: UInt32 = 0) throws(FileFault) {
        try self.init(lines: Lines.read(path, owner: owner) ?? [], of: path)
    }

    /// Parses lines with a number and a name each.
    init(lines: [Substring], of file: String) throws(FileFault) {
        for (index, line) in lines.enumerated() {
            let line = Lines.content(line)
            if line.isEmpty { continue }
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count == 2 else {
                throw FileFault(file, index + 1, "a line has a number and a name")
            }
            guard Self.isNumber(words[0]) else {
                throw FileFault(file, index + 1, "a number has 1 to 32 digits")
            }
            guard Person.isName(words[1]) else { throw FileFault(file, index + 1, "this is no user's name") }
            guard names.updateValue(String(words[1]), forKey: String(words[0])) == nil else {
                throw FileFault(file, index + 1, "this number is there twice")
            }
        }
    }

    func name(_ number: Substring) -> String? { names[String(number)] }

    static func isNumber(_ text: Substring) -> Bool {
        (1...32).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// The user identified by a typed line.
enum Person: Equatable {
    case name(String)
    case unknownBadge
    case none

    /// Parses typed text.
    ///
    /// Digits are a badge number; anything else is a name.
    init(typed line: String, _ badges: Badges) {
        let line = Lines.content(Substring(line.prefix(100)))
        if Badges.isNumber(line) {
            self = badges.name(line).map(Person.name) ?? .unknownBadge
        } else {
            self = Person.isName(line) ? .name(String(line)) : .none
        }
    }

    /// Returns whether a string can be a user name: letters, digits and a few symbols, and not only digits.
    static func isName(_ text: Substring) -> Bool {
        let bytes = text.utf8
        guard (1...64).contains(bytes.count), let first = bytes.first, first != UInt8(ascii: "-") else {
            return false
        }
        return !Badges.isNumber(text)
            && bytes.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                case UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "@"): true
                default: false
                }
            }
    }
}
