// SPDX-License-Identifier: Apache-2.0

/// The kiosk's configuration, set by its administrator.
public struct Configuration: Equatable, Sendable {
    /// The effects of a touch.
    public enum Mode: String, Equatable, Sendable {
        /// Starts the user's session.
        case session
        /// Checks the user in. The screen stays.
        case counter
    }

    /// The effect of a touch.
    public var mode = Mode.session
    /// A command for `sh`, run in a terminal in cage as a user who has checked in; `nil` for none.
    public var till: String?
    /// A command for `sh`, run in cage as the authenticated user; empty if touches do not start a session.
    public var command = ""
    /// The users whose touch opens a terminal instead of the command or the till.
    public var operators: Set<String> = []
    /// The title above the field.
    public var title = "Welcome"
    /// Whether to accept a password if no touch is possible.
    public var takesPasswords = false
    /// The number of seconds after which a screen that waits for keys returns to the first page.
    public var idle = 30
    /// The number of seconds for which a reason is shown.
    public var reason = 8

    /// Creates the default configuration.
    public init() {}

    /// Reads the machine's configuration.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - owner: The user who must own the file.
    /// - Throws: ``FileFault`` if the file is missing or invalid, or others can change it.
    public init(path: String, owner: UInt32 = 0) throws(FileFault) {
        guard let lines = try Lines.read(path, owner: owner) else {
            throw FileFault(path, nil, "this file does not exist")
        }
        try self.init(lines: lines, of: path)
    }

    /// Parses lines with one setting each: `Name=value`.
    init(lines: [Substring], of file: String) throws(FileFault) {
        for (index, line) in lines.enumerated() {
            let line = Lines.content(line)
            if line.isEmpty { continue }
            guard let sign = line.firstIndex(of: "=") else {
                throw FileFault(file, index + 1, "a line has a name, =, and a value")
            }
            let value = Lines.content(line[line.index(after: sign)...])
            guard set(Lines.content(line[..<sign]), value) else {
                throw FileFault(file, index + 1, "this name is not known, or this value is not allowed")
            }
        }
        if mode == .session, command.isEmpty { throw FileFault(file, nil, "Command= is missing") }
    }

    /// Returns the command line of a user's session, for greetd.
    ///
    /// It runs in cage, never on a bare console, where keys could switch to another one.
    func sessionCommand(of name: String) -> String { terminal(of: name) ?? Self.inCage(Self.shell(command)) }

    /// Returns the command line of the till, in a terminal; `nil` for none.
    func tillCommand(of name: String) -> String? {
        terminal(of: name) ?? till.map { Self.inCage("foot -- \(Self.shell($0))") }
    }

    /// Returns the command line of an operator's terminal; `nil` for other users.
    ///
    /// The name must be spelled as in the configuration: another spelling of the same account gets no terminal.
    private func terminal(of name: String) -> String? { operators.contains(name) ? Self.inCage("foot") : nil }

    /// Returns a command line that runs another one in cage.
    ///
    /// cage ends only when no process has its pipe open, and processes that the user leaves running keep it open. The
    /// command line therefore ends cage itself.
    private static func inCage(_ command: String) -> String {
        #"cage -- /bin/sh -c '"$@"; kill "$PPID"' sh \#(command)"#
    }

    /// Returns the words that run a command with `sh`, quoted for the shell with which greetd starts them.
    private static func shell(_ line: String) -> String {
        let parts = line.split(separator: "'", omittingEmptySubsequences: false)
        return "/bin/sh -c '\(parts.joined(separator: #"'\''"#))'"
    }

    private mutating func set(_ name: Substring, _ value: Substring) -> Bool {
        switch name {
        case "Mode":
            guard let mode = Mode(rawValue: String(value)) else { return false }
            self.mode = mode
        case "Command", "Till":
            guard (1...4096).contains(value.utf8.count) else { return false }
            if name == "Till" { till = String(value) } else { command = String(value) }
        case "Operators":
            let names = value.split { $0 == " " || $0 == "\t" }
            guard !names.isEmpty, names.allSatisfy(Person.isName) else { return false }
            operators = Set(names.map(String.init))
        case "Title": title = PlainText.clean(String(value), limit: 60)
        case "Passwords":
            guard value == "yes" || value == "no" else { return false }
            takesPasswords = value == "yes"
        case "IdleSeconds":
            guard let seconds = Int(value), (5...600).contains(seconds) else { return false }
            idle = seconds
        case "ReasonSeconds":
            guard let seconds = Int(value), (2...60).contains(seconds) else { return false }
            reason = seconds
        default: return false
        }
        return true
    }
}
