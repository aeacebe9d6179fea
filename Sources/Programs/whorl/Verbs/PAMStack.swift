// SPDX-License-Identifier: Apache-2.0

/// A file of `/etc/pam.d`, in which the line of the finger's module is put or taken out; every other line stays as it is.
struct PAMStack: Equatable {
    /// The reason for which a line cannot be put in.
    enum Fault: Error, Equatable {
        /// The line is there already.
        case there
        /// No line of the file asks for a password, which has to stay the other way in.
        case withoutPassword
        /// Further lines follow the password's, which a touch would skip.
        case linesFollow
    }

    /// The line: a touch ends the part, anything else leaves it to the lines below.
    static let line = "auth\t[success=done conv_err=die default=ignore]\tpam_whorl.so"
    private static let module = "pam_whorl.so"
    /// The modules that ask for a password.
    private static let passwords = [
        "pam_unix.so", "pam_sss.so", "pam_ldap.so", "pam_krb5.so", "pam_winbind.so",
    ]

    let text: String

    private var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// Whether a line of the file names the module.
    var hasModule: Bool { lines.contains { Self.words($0).contains(Self.module) } }

    /// The files that this one includes for logins.
    var included: [String] {
        lines.compactMap { line in
            let words = Self.words(line)
            if words.first == "@include", words.count > 1 { return words[1] }
            return Self.isInclusion(words) ? words.last : nil
        }
    }

    /// Returns the file with the line before the one that asks for the password.
    func adding() throws(Fault) -> PAMStack {
        guard !hasModule else { throw .there }
        let all = lines
        guard let place = all.firstIndex(where: { Self.asksPassword(Self.words($0)) }) else {
            throw .withoutPassword
        }
        // The end of the part by a touch would skip them.
        guard !all[(place + 1)...].contains(where: { Self.isLogin(Self.words($0)) }) else {
            throw .linesFollow
        }
        var changed = all.map(String.init)
        changed.insert(Self.line, at: place)
        return PAMStack(text: changed.joined(separator: "\n"))
    }

    /// Returns the file without the lines that name the module.
    func removing() -> PAMStack {
        PAMStack(text: lines.filter { !Self.words($0).contains(Self.module) }.joined(separator: "\n"))
    }

    /// The words of a line without its comment; a control in brackets is several.
    private static func words(_ line: Substring) -> [String] {
        line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }.map(String.init)
    }

    private static func isLogin(_ words: [String]) -> Bool {
        words.first == "auth" || words.first == "-auth" || isCommonLogin(words)
    }

    /// Whether a line includes a file of the distribution for logins, by Debian's way to include.
    private static func isCommonLogin(_ words: [String]) -> Bool {
        words.first == "@include" && words.count > 1 && words[1].hasSuffix("-auth")
    }

    private static func isInclusion(_ words: [String]) -> Bool {
        words.first == "auth" && words.count > 2 && ["include", "substack"].contains(words[1])
    }

    private static func asksPassword(_ words: [String]) -> Bool {
        isCommonLogin(words) || isInclusion(words)
            || (words.first == "auth" && passwords.contains { words.contains($0) })
    }
}
