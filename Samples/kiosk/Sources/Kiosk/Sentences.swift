// SPDX-License-Identifier: Apache-2.0

/// The kiosk's own messages.
enum Sentences {
    static let beginning = "One moment…"
    static let checking = "Checking…"
    static let leaving = "One moment, please. Do not touch the reader."
    static let welcome = "Welcome. Your session begins."
    static let arrived = "You are checked in."
    static let noName = "Not a name or a badge number."
    static let unknownBadge = "Unknown badge."
    static let idle = "Timed out."

    static let notLetIn = "You were not let in."

    /// The messages of PAM in one login.
    struct Heard {
        /// The first message, which says how to touch the reader, and the last one.
        private var told: (first: String, last: String)?
        /// The last error message, such as a lockout.
        var verdict: String?
        /// Whether the user has answered a question.
        var isAnswered = false

        mutating func add(_ text: String) { told = (told?.first ?? text, text) }

        /// The reason why the user was not authenticated.
        var reason: String {
            if let verdict { return "\(Sentences.notLetIn) \(verdict)" }
            if isAnswered { return Sentences.notLetIn }
            guard let told else {
                return "Touch is not available: no reader is connected, you have no enrolled finger, "
                    + "or the fingerprint service is not running."
            }
            // The module says how to touch the reader. It says more only when it continues without a match.
            guard told.last != told.first else {
                return "No finger was recognized in time, or the fingerprint service stopped. "
                    + "Please start over."
            }
            return "\(Sentences.notLetIn) The last message was: “\(told.last)”"
        }
    }

    /// Returns the message for an error that is not a decision about the user.
    static func failed(_ text: String) -> String {
        text.isEmpty ? notLetIn : "Login failed: \(text)"
    }

    /// Returns the message for a session that greetd did not start.
    static func notStarted(_ answer: Answer) -> String {
        switch answer {
        case .refused(let text) where !text.isEmpty, .failed(let text) where !text.isEmpty:
            "The session could not be started: \(text)"
        default: "The session could not be started."
        }
    }
}
