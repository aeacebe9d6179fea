// SPDX-License-Identifier: Apache-2.0

/// Why no passcode was read.
public struct PasscodeReadingError: Error, Sendable, Hashable {
    /// What kind of failure it is.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The person pressed Escape, or the task was cancelled.
        case cancelled
        /// There is no terminal to ask on.
        case noTerminal
        /// The descriptor that it shall be read from is a terminal, which would show it.
        case isTerminal
        /// The two entries of a new passcode differed too often.
        case different
        /// It is empty.
        case empty
        /// It is longer than 1,024 bytes.
        case tooLong
        /// It holds a control character, such as NUL.
        case control
        /// The descriptor cannot be read.
        case unreadable
    }

    /// What kind of failure it is.
    public let code: Code
    /// What the system said; may be empty.
    public let cause: String

    init(_ code: Code, cause: String = "") {
        self.code = code
        self.cause = cause
    }

    /// What happened, in one sentence.
    public var message: String {
        switch code {
        case .cancelled: "No passcode was given."
        case .noTerminal: "There is no terminal to ask for the passcode on."
        case .isTerminal: "The passcode shall be read from a terminal, which would show it."
        case .different: "The two passcodes differ."
        case .empty: "The passcode is empty."
        case .tooLong: PasscodeLine.Fault.tooLong.text
        case .control: PasscodeLine.Fault.control.text
        case .unreadable: "The passcode cannot be read\(cause.isEmpty ? "" : ": " + cause)."
        }
    }

    /// What the person can do, in one sentence.
    public var recovery: String {
        switch code {
        case .cancelled: "Start again when ready."
        case .noTerminal: "Run it in a terminal, or give the passcode with --passcode-fd."
        case .isTerminal: "Leave --passcode-fd out: the terminal is asked without it."
        case .different, .empty, .tooLong: "Start again, and type the passcode with care."
        case .control: "Choose a passcode that can be typed; a file's line ends with a line feed alone."
        case .unreadable: "Open the descriptor for reading, as in `3< passcode.txt`."
        }
    }
}

extension PasscodeReadingError {
    /// What spoiled a line.
    init(spoiledBy fault: PasscodeLine.Fault) {
        switch fault {
        case .tooLong: self.init(.tooLong)
        case .control: self.init(.control)
        }
    }
}
