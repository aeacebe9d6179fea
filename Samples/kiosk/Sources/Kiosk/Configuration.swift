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
    /// The command of the till, which a person who has checked in may start in a session of the person's own; `nil` for none.
    public var till: String?
    /// The command that a person's session consists of, for a shell of the person's own.
    public var command = "/bin/bash --login"
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
    ///   - path: The file's path; without the file nothing is chosen.
    ///   - owner: The user whom the file belongs to.
    /// - Throws: ``FileFault`` for a file that is wrong, or that others may change.
    public init(path: String, owner: UInt32 = 0) throws(FileFault) {
        try self.init(lines: Lines.read(path, owner: owner), of: path)
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
                throw FileFault(file, index + 1, "this is no choice, or has no such value")
            }
        }
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
