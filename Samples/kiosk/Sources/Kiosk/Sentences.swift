// SPDX-License-Identifier: Apache-2.0

/// The kiosk's own sentences.
enum Sentences {
    static let beginning = "One moment…"
    static let checking = "Checking…"
    static let leaving = "One moment, please. Do not touch the reader."
    static let welcome = "Welcome. Your session begins."
    static let arrived = "You are checked in."
    static let noName = "This is neither a name nor a badge's number."
    static let unknownBadge = "This badge is not known here."
    static let idle = "Nothing was typed for a while."

    /// The reason after PAM asked for a password that the kiosk does not take.
    static func noTouch(_ heard: (first: String, last: String)?) -> String {
        guard let heard else {
            return "No touch can be asked for now: there is no reader or no finger of yours, "
                + "or the fingerprint service does not run."
        }
        // The module says how to touch the reader, and says more only when it goes on without a match.
        guard heard.last != heard.first else {
            return "No finger was recognised in time, or the fingerprint service has stopped. "
                + "Please begin again."
        }
        return "You were not let in. The last word was: “\(heard.last)”"
    }

    /// The reason after greetd refused a login.
    static func notLetIn(_ answer: Answer) -> String {
        if case .failed(let text) = answer, !text.isEmpty { return "The login failed: \(text)" }
        return "You were not let in."
    }

    /// The reason after greetd did not start a session.
    static func notStarted(_ answer: Answer) -> String {
        switch answer {
        case .refused(let text) where !text.isEmpty, .failed(let text) where !text.isEmpty:
            "The session did not begin: \(text)"
        default: "The session did not begin."
        }
    }
}
