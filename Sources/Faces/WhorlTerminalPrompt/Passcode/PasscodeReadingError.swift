// SPDX-License-Identifier: Apache-2.0

/// An error that occurs when a passcode is read.
package struct PasscodeReadingError: Error, Sendable, Hashable {
    /// The kind of failure.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The user pressed Escape, or the task was canceled.
        case cancelled = "cancelled"
        /// The process has no terminal for the prompt.
        case noTerminal = "noTerminal"
        /// The descriptor is a terminal, which would show the passcode.
        case isTerminal = "isTerminal"
        /// The two entries of a new passcode differed too many times.
        case different = "different"
        /// The passcode is empty.
        case empty = "empty"
        /// The passcode is longer than 1,024 bytes.
        case tooLong = "tooLong"
        /// The passcode contains a control character, such as NUL.
        case control = "control"
        /// The descriptor cannot be read.
        case unreadable = "unreadable"
    }

    /// The kind of failure.
    package let code: Code
    /// The system's error message, which may be empty.
    package let cause: String

    init(_ code: Code, cause: String = "") {
        self.code = code
        self.cause = cause
    }

    /// A sentence that describes what happened.
    package var message: String {
        switch code {
        case .cancelled: "No passcode entered."
        case .noTerminal: "Cannot prompt for the passcode: there is no terminal."
        case .isTerminal: "--passcode-fd refers to a terminal, which would show the passcode."
        case .different: "The passcodes do not match."
        case .empty: "The passcode is empty."
        case .tooLong: PasscodeLine.Fault.tooLong.text
        case .control: PasscodeLine.Fault.control.text
        case .unreadable: "Cannot read the passcode\(cause.isEmpty ? "" : ": " + cause)."
        }
    }

    /// A sentence that describes how to recover.
    package var recovery: String {
        switch code {
        case .cancelled: "Start again when ready."
        case .noTerminal: "Run it in a terminal, or pass the passcode with --passcode-fd."
        case .isTerminal: "Remove --passcode-fd; you are then prompted in the terminal."
        case .different, .empty, .tooLong: "Try again, and type the same passcode twice."
        case .control: "Choose a passcode that can be typed; end the line in a file with LF only."
        case .unreadable: "Open the descriptor for reading, as in `3< passcode.txt`."
        }
    }
}

extension PasscodeReadingError {
    /// Creates the error for invalid input.
    init(spoiledBy fault: PasscodeLine.Fault) {
        switch fault {
        case .tooLong: self.init(.tooLong)
        case .control: self.init(.control)
        }
    }
}
