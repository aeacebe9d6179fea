// SPDX-License-Identifier: Apache-2.0

/// A file of `/etc/pam.d`, in which the line of the finger's module is put or taken out; every other line stays as it is.
struct PAMStack: Equatable {
    /// The reason for which a line cannot be put in or taken out.
    enum Fault: Error, Equatable {
        /// The line is there already.
        case there
        /// No line of the file asks for a password, which has to stay the other way in.
        case withoutPassword
        /// Further lines follow the password's, which a touch would skip.
        case linesFollow
        /// A line before passes over a number of lines, and would get elsewhere.
        case linesCounted
        /// A line that libpam reads otherwise than it looks, or does not know.
        case unclear
        /// An included file cannot be read, or includes itself.
        case unreadable(String)
        /// Another module asks for a finger already, in the file with this name.
        case asksFinger(String, String)
        /// A touch would skip this module, in the file with this name.
        case skips(String, String)
    }

    /// The line: a touch ends the part, anything else leaves it to the lines below.
    static let line = "auth\t[success=done conv_err=die default=ignore]\tpam_whorl.so"
    private static let module = "pam_whorl.so"
    /// The modules that ask for a password.
    static let passwords: Set = [
        "pam_unix.so", "pam_sss.so", "pam_ldap.so", "pam_krb5.so", "pam_systemd_home.so", "pam_winbind.so",
    ]

    let text: String

    /// The lines by their bytes: a carriage return and the end of a line would be one character.
    private var lines: [String] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a line of the file has the module prompt for a touch.
    var hasModule: Bool { lines.contains { Self.promptsForTouch(PAMLine($0)) } }

    /// Whether the module stands in a file with a line that libpam reads otherwise than it looks: nothing is known of it then.
    var isModuleUnclear: Bool {
        lines.contains { $0.utf8.contains(Self.module.utf8) } && (try? clearLines()) == nil
    }

    /// Whether a line of the file is asked in a login.
    var hasLogins: Bool { lines.contains { PAMLine($0).isLogin } }

    /// The files that this one includes for logins.
    var included: [String] {
        lines.map { PAMLine($0) }.compactMap { $0.wholeFile ?? $0.loginFile }
    }

    /// Returns the file with the line before the one that asks for the password.
    ///
    /// - Parameter hasLogins: Whether a line of the file with this name, which stands as a whole in this one, is asked in
    ///   a login.
    /// - Returns: The new file.
    /// - Throws: the reason for which the line cannot be put in.
    func adding(hasLogins: (String) -> Bool = { _ in false }) throws(Fault) -> PAMStack {
        guard !isModuleUnclear else { throw .unclear }
        guard !hasModule else { throw .there }
        var all = lines
        let read = try clearLines()
        guard let place = read.firstIndex(where: Self.asksPassword) else { throw .withoutPassword }
        guard !read[..<place].contains(where: \.canJump) else { throw .linesCounted }
        // The end of the part by a touch would skip them.
        let follows = read[(place + 1)...].contains { line in
            line.isLogin || line.wholeFile.map { $0.hasSuffix("-auth") || hasLogins($0) } ?? false
        }
        guard !follows else { throw .linesFollow }
        all.insert(Self.line, at: place)
        return PAMStack(text: all.joined(separator: "\n"))
    }

    /// The number of the line before which the module's line is put; `nil` if none asks for a password.
    var passwordLine: Int? { lines.firstIndex { Self.asksPassword(PAMLine($0)) } }

    /// Returns the file without the lines that name the module.
    func removing() throws(Fault) -> PAMStack {
        guard !isModuleUnclear else { throw .unclear }
        guard hasModule else { return self }
        let read = try clearLines()
        let last = read.lastIndex(where: Self.promptsForTouch) ?? 0
        guard !read[..<last].contains(where: { $0.canJump && !Self.promptsForTouch($0) }) else {
            throw .linesCounted
        }
        let rest = zip(lines, read).filter { !Self.promptsForTouch($1) }.map(\.0)
        return PAMStack(text: rest.joined(separator: "\n"))
    }

    /// The lines, each of which libpam reads as it stands.
    func clearLines() throws(Fault) -> [PAMLine] {
        let read = lines.map { PAMLine($0) }
        guard !read.contains(where: { $0.goesOn || $0.isUnclear }) else { throw .unclear }
        return read
    }

    /// Whether it is a line for logins with the module, and not the one that only keeps the password.
    private static func promptsForTouch(_ line: PAMLine) -> Bool {
        line.isLogin && line.module == module && !line.arguments.contains("keep")
    }

    private static func asksPassword(_ line: PAMLine) -> Bool {
        if let file = line.wholeFile { return file.hasSuffix("-auth") }
        return line.loginFile != nil
            || (line.isLogin && line.module.map(passwords.contains) ?? false)
    }
}

/// A line of a file of `/etc/pam.d`, as libpam takes it apart: by bytes, without its comment.
struct PAMLine {
    /// The words; one that begins with a bracket ends with the bracket that closes it.
    private let words: [String]
    /// Whether libpam reads the next line as a part of this one.
    let goesOn: Bool
    /// Whether the line has bytes that libpam reads otherwise than an editor shows them, is cut by libpam, or is unknown to it.
    ///
    /// libpam 1.5 reads a line of more than 1,022 bytes as two, and refuses everybody where it does not know a line.
    let isUnclear: Bool

    init(_ text: String) {
        let bytes = Array(text.utf8)
        let content = bytes.prefix { $0 != UInt8(ascii: "#") }
        let last = content.last { !Self.isSpace($0) }
        goesOn = content.count == bytes.count && last == UInt8(ascii: "\\")
        words = Self.words(content)
        isUnclear =
            bytes.contains { ($0 < 0x20 && !Self.isSpace($0)) || $0 == 0x7f } || bytes.count > Self.longest
            || !Self.isKnown(words)
    }

    /// The most bytes of a line that every libpam reads as one (BUF_SIZE in libpam's pam_private.h).
    private static let longest = 1022

    private static let kinds: Set = ["auth", "account", "password", "session"]

    private static func isKnown(_ words: [String]) -> Bool {
        guard let first = words.first?.lowercased() else { return true }
        if first == "@include" { return words.count > 1 }
        let kind = first.hasPrefix("-") ? String(first.dropFirst()) : first
        return kinds.contains(kind) && words.count > 2
    }

    /// The words after the module's name.
    var arguments: ArraySlice<String> { words.dropFirst(3) }

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
