// SPDX-License-Identifier: Apache-2.0

/// A file from `/etc/pam.d` into which Whorl's line can be inserted, and from which it can be removed.
///
/// All other lines stay unchanged.
struct PAMStack: Equatable {
    /// The reason why the line cannot be inserted or removed.
    enum Fault: Error, Equatable {
        /// The line already exists.
        case there
        /// The file has no line that prompts for a password, which must remain available as the alternative.
        case withoutPassword
        /// Other lines follow the one that prompts for the password, and a touch would skip them.
        case linesFollow
        /// An earlier line skips a fixed number of lines, so an inserted line would change its target.
        case linesCounted
        /// The file has a line that libpam does not know, or reads differently than it appears.
        case unclear
        /// An included file cannot be read, or includes itself.
        case unreadable(String)
        /// Another module already prompts for a finger; the values are its name and the file's.
        case asksFinger(String, String)
        /// A touch would skip a module; the values are its name and the file's.
        case skips(String, String)
        /// The file has no line, or several, in which a finger's module could be replaced.
        case withoutFinger
    }

    /// The line to insert: a touch ends the authentication; otherwise the lines below it run.
    static let line = "auth\t[success=done conv_err=die default=ignore]\tpam_whorl.so"
    static let module = "pam_whorl.so"
    /// The modules that prompt for a password.
    static let passwords: Set = [
        "pam_unix.so", "pam_sss.so", "pam_ldap.so", "pam_krb5.so", "pam_systemd_home.so", "pam_winbind.so",
    ]

    let text: String

    /// The file's lines, without their line breaks.
    ///
    /// They are split by bytes, because Swift treats a carriage return with a line feed as a single character.
    private var lines: [String] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a line in the file makes the module prompt for a touch.
    var hasModule: Bool { lines.contains { Self.promptsForTouch(PAMLine($0)) } }

    /// Whether the file names the module but also has a line that libpam reads differently than it appears, so that the
    /// effect is unknown.
    var isModuleUnclear: Bool {
        lines.contains { $0.utf8.contains(Self.module.utf8) } && (try? clearLines()) == nil
    }

    /// Whether any line in the file takes part in authentication.
    var hasLogins: Bool { lines.contains { PAMLine($0).isLogin } }

    /// The names of the files that this one includes for authentication.
    var included: [String] {
        lines.map { PAMLine($0) }.compactMap { $0.wholeFile ?? $0.loginFile }
    }

    /// Returns the file with Whorl's line inserted before the one that prompts for the password.
    ///
    /// - Parameter hasLogins: Returns whether the file with a given name, which this one includes as a whole, has lines
    ///   that take part in authentication.
    /// - Returns: The new file.
    /// - Throws: A fault if the line cannot be inserted.
    func adding(hasLogins: (String) -> Bool = { _ in false }) throws(Fault) -> PAMStack {
        guard !isModuleUnclear else { throw .unclear }
        guard !hasModule else { throw .there }
        var all = lines
        let read = try clearLines()
        guard let place = read.firstIndex(where: Self.asksPassword) else { throw .withoutPassword }
        guard !read[..<place].contains(where: \.canJump) else { throw .linesCounted }
        // A touch ends the authentication, and would skip them.
        let follows = read[(place + 1)...].contains { line in
            line.isLogin || line.wholeFile.map { $0.hasSuffix("-auth") || hasLogins($0) } ?? false
        }
        guard !follows else { throw .linesFollow }
        all.insert(Self.line, at: place)
        return PAMStack(text: all.joined(separator: "\n"))
    }

    /// The number of the line before which the module's line is inserted; `nil` if no line prompts for a password.
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

    /// Returns the file with Whorl's module in place of the only one that prompts for a finger.
    func replacingFinger() throws(Fault) -> PAMStack {
        let read = try clearLines()
        guard !hasModule else { throw .there }
        let places = read.indices.filter {
            read[$0].isLogin && PAMChain.fingers.contains(read[$0].module ?? "")
        }
        guard places.count == 1, let place = places.first else { throw .withoutFinger }
        var all = lines
        all[place] = Self.fingerLine(instead: all[place], read[place].module ?? "")
        // The module for fprintd may also have a line for changing passwords, which means nothing here.
        let rest = zip(all.indices, all).filter { index, _ in
            index == place || !PAMChain.fingers.contains(read[index].module ?? "")
        }
        return PAMStack(text: rest.map(\.1).joined(separator: "\n"))
    }

    /// Returns a line with Whorl's module and without the options of another one, whose control stays.
    private static func fingerLine(instead line: String, _ module: String) -> String {
        guard let found = line.firstRange(of: module) else { return line }
        let control = line[..<found.lowerBound].split(separator: "/", maxSplits: 1).first ?? ""
        return control + Self.module
    }

    /// Returns the parsed lines; throws `unclear` if libpam reads one of them differently than it appears.
    func clearLines() throws(Fault) -> [PAMLine] {
        let read = lines.map { PAMLine($0) }
        guard !read.contains(where: { $0.goesOn || $0.isUnclear }) else { throw .unclear }
        return read
    }

    /// Returns whether a line is an authentication line with the module, other than the one that only stores the
    /// password.
    private static func promptsForTouch(_ line: PAMLine) -> Bool {
        line.isLogin && line.module == module && !line.arguments.contains("keep")
    }

    private static func asksPassword(_ line: PAMLine) -> Bool {
        if let file = line.wholeFile { return file.hasSuffix("-auth") }
        return line.loginFile != nil
            || (line.isLogin && line.module.map(passwords.contains) ?? false)
    }
}

/// A line in a file from `/etc/pam.d`, parsed in the same way as by libpam: by bytes, and without the comment.
struct PAMLine {
    /// The words of the line; a word that begins with a bracket extends to the matching bracket.
    private let words: [String]
    /// Whether libpam reads the next line as a continuation of this one.
    let goesOn: Bool
    /// Whether libpam does not know the line, truncates it, or reads some of its bytes differently than an editor shows
    /// them.
    ///
    /// libpam 1.5 reads a line of more than 1,022 bytes as two lines, and refuses all users if it does not know a line.
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

    /// The maximum length, in bytes, of a line that every version of libpam reads as one (BUF_SIZE in libpam's
    /// pam_private.h).
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

    /// Whether the line takes part in authentication.
    var isLogin: Bool { kind == "auth" || kind == "-auth" }

    /// The name of the file that is included here with all of its lines, in Debian's syntax.
    var wholeFile: String? { kind == "@include" && words.count > 1 ? words[1] : nil }

    /// The name of the file whose authentication lines are included here.
    var loginFile: String? {
        guard isLogin, words.count > 2, ["include", "substack"].contains(words[1].lowercased()) else {
            return nil
        }
        return words[2]
    }

    /// The module's file name; with its path, if it is not in one of PAM's folders.
    ///
    /// Their name is `security` everywhere, such as `/usr/lib/x86_64-linux-gnu/security` or, on NixOS, below `/nix/store`.
    var module: String? {
        guard wholeFile == nil, words.count > 2 else { return nil }
        let parts = words[2].split(separator: "/")
        let isOfPAM = !words[2].hasPrefix("/") || parts.dropLast().last == "security"
        return isOfPAM ? parts.last.map(String.init) : words[2]
    }

    /// Whether the line can make libpam skip later lines.
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
