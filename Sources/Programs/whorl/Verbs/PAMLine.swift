// SPDX-License-Identifier: Apache-2.0

/// A line of a file of `/etc/pam.d`, as libpam takes it apart: by bytes, without its comment.
struct PAMLine {
    /// The words; one that begins with a bracket ends with the bracket that closes it.
    private let words: [String]
    /// Whether libpam reads the next line as a part of this one.
    let goesOn: Bool
    /// Whether the line has bytes that libpam reads otherwise than an editor shows them.
    let isUnclear: Bool

    init(_ text: String) {
        let bytes = Array(text.utf8)
        let content = bytes.prefix { $0 != UInt8(ascii: "#") }
        let last = content.last { !Self.isSpace($0) }
        goesOn = content.count == bytes.count && last == UInt8(ascii: "\\")
        isUnclear = bytes.contains { ($0 < 0x20 && !Self.isSpace($0)) || $0 == 0x7f }
        words = Self.words(content)
    }

    /// Whether the line is asked in a login.
    var isLogin: Bool { kind == "auth" || kind == "-auth" }

    /// The name of the file that stands here for all of its lines, by Debian's way to include.
    var wholeFile: String? { kind == "@include" && words.count > 1 ? words[1] : nil }

    /// The name of the file whose lines for logins stand here.
    var loginFile: String? {
        guard isLogin, words.count > 2, ["include", "substack"].contains(words[1].lowercased()) else {
            return nil
        }
        return words[2]
    }

    /// The name of the module's file, without its folder.
    var module: String? {
        guard wholeFile == nil, words.count > 2 else { return nil }
        return words[2].split(separator: "/").last.map(String.init)
    }

    /// Whether the line can pass over a number of lines after it.
    var canJump: Bool {
        guard isLogin, words.count > 1, words[1].hasPrefix("[") else { return false }
        return words[1].filter { $0 != " " && $0 != "\t" }.split(separator: "=").dropFirst().contains {
            $0.first?.isNumber ?? false
        }
    }

    private var kind: String? { words.first?.lowercased() }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func words(_ line: ArraySlice<UInt8>) -> [String] {
        var words: [String] = []
        var rest = line.drop(while: isSpace)
        while let first = rest.first {
            let closing = first == UInt8(ascii: "[") ? rest.firstIndex(of: UInt8(ascii: "]")) : nil
            let end = closing.map { $0 + 1 } ?? rest.firstIndex(where: isSpace) ?? rest.endIndex
            words.append(String(decoding: rest[..<end], as: UTF8.self))
            rest = rest[end...].drop(while: isSpace)
        }
        return words
    }
}
