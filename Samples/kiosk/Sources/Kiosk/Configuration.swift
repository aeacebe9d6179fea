// SPDX-License-Identifier: Apache-2.0

/// The choices of the kiosk's administrator.
public struct Configuration: Equatable, Sendable {
    /// The uses of a touch.
    public enum Mode: String, Equatable, Sendable {
        /// It starts the person's session.
        case session
        /// It checks the person in, and the screen stays.
        case counter
    }

    /// The use of a touch.
    public var mode = Mode.session
    /// A line for `sh`, run in a terminal in cage as a person who has checked in; `nil` for none.
    public var till: String?
    /// A line for `sh`, run in cage as the person who was let in; empty where none begins a session.
    public var command = ""
    /// The words above the field.
    public var title = "Welcome"
    /// Whether a password is taken where no touch can be asked for.
    public var takesPasswords = false
    /// The seconds after which a screen that waits for keys goes back to the first one.
    public var idle = 30
    /// The seconds for which a reason is shown.
    public var reason = 8

    /// Makes the choices that hold without a file.
    public init() {}

    /// Reads the choices of the machine.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - owner: The user whom the file belongs to.
    /// - Throws: ``FileFault`` for a file that is missing or wrong, or that others may change.
    public init(path: String, owner: UInt32 = 0) throws(FileFault) {
        guard let lines = try Lines.read(path, owner: owner) else {
            throw FileFault(path, nil, "this file does not exist")
        }
        try self.init(lines: lines, of: path)
    }

    /// Reads lines with a choice in each: `Name=value`.
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

    /// The command line of a person's session, as greetd takes it.
    ///
    /// It runs in cage, never on a bare console, which other keys lead away from.
    var sessionCommand: String { Self.inCage(Self.shell(command)) }

    /// The command line of the till, in a terminal; `nil` for none.
    var tillCommand: String? { till.map { Self.inCage("foot -- \(Self.shell($0))") } }

    /// Returns a command line that runs another one in cage.
    ///
    /// cage ends when no process has its pipe any more, and what a person leaves running has it. So it is ended here.
    private static func inCage(_ command: String) -> String {
        #"cage -- /bin/sh -c '"$@"; kill "$PPID"' sh \#(command)"#
    }

    /// Returns the words that have `sh` run a line, quoted for the shell by which greetd starts them.
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
