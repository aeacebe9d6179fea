// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// An update about the finger or the passcode in a prompt.
///
/// Updates are for display only: a program gets its result from the return value. A presenter that does not support
/// passcodes does not receive updates about them; one that only prompts for fingers can ignore them.
/// ``Prompt/message(for:)`` returns the message for each update.
public enum PromptUpdate: Sendable, Hashable {
    /// An event from the reader.
    case scan(ScanEvent)
    /// The scan was good, but the finger is not enrolled; the given number of attempts remains in this evaluation.
    case noMatch(remaining: Int)
    /// The finger matched, and a different one is required now.
    case anotherFinger
    /// Fingers are no longer accepted, for the given reason; the passcode is still accepted.
    case fingerEnded(String)
    /// A passcode is being compared; another one is accepted after the verdict.
    case checking
    /// The passcode was wrong; the given number of attempts is left before a delay, if the number is known.
    case wrongPasscode(triesLeft: Int?)
    /// Too many wrong passcodes were entered; no passcode is accepted for the given time.
    case throttled(for: Duration)
    /// The passcode is no longer accepted, for the given reason; a finger is still accepted.
    case passcodeEnded(String)
    /// The evaluation ended: the finger matched.
    case matched(Finger)
    /// The evaluation ended: the passcode was correct.
    case verified
    /// The evaluation ended without success, for the given reason.
    case ended(String)
}

/// The encoding of an update for messages between processes: an object whose `event` member identifies the update.
extension PromptUpdate: Codable {
    private enum Code: String, Codable {
        case noMatch, anotherFinger, fingerEnded, checking, wrongPasscode, throttled, passcodeEnded, matched
        case verified, ended
    }

    private enum Member: CodingKey { case event, remaining, triesLeft, milliseconds, finger, message }

    /// Decodes an update; throws `DecodingError.dataCorrupted` if this version does not know it.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        func message() throws -> String { try members.decode(String.self, forKey: .message) }
        switch Code(rawValue: try members.decode(String.self, forKey: .event)) {
        case nil: self = .scan(try ScanEvent(from: decoder))
        case .noMatch: self = .noMatch(remaining: try members.decode(Int.self, forKey: .remaining))
        case .anotherFinger: self = .anotherFinger
        case .fingerEnded: self = .fingerEnded(try message())
        case .checking: self = .checking
        case .wrongPasscode:
            self = .wrongPasscode(triesLeft: try members.decodeIfPresent(Int.self, forKey: .triesLeft))
        case .throttled:
            self = .throttled(for: .milliseconds(try members.decode(Int64.self, forKey: .milliseconds)))
        case .passcodeEnded: self = .passcodeEnded(try message())
        case .matched: self = .matched(try members.decode(Finger.self, forKey: .finger))
        case .verified: self = .verified
        case .ended: self = .ended(try message())
        }
    }

    /// Encodes the update.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        func encode(_ code: Code, message: String? = nil) throws {
            try members.encode(code, forKey: .event)
            try members.encodeIfPresent(message, forKey: .message)
        }
        switch self {
        case .scan(let event): try event.encode(to: encoder)
        case .noMatch(let remaining):
            try encode(.noMatch)
            try members.encode(remaining, forKey: .remaining)
        case .anotherFinger: try encode(.anotherFinger)
        case .fingerEnded(let reason): try encode(.fingerEnded, message: reason)
        case .checking: try encode(.checking)
        case .wrongPasscode(let left):
            try encode(.wrongPasscode)
            try members.encodeIfPresent(left, forKey: .triesLeft)
        case .throttled(let wait):
            try encode(.throttled)
            try members.encode(wait.wholeMilliseconds, forKey: .milliseconds)
        case .passcodeEnded(let reason): try encode(.passcodeEnded, message: reason)
        case .matched(let finger):
            try encode(.matched)
            try members.encode(finger, forKey: .finger)
        case .verified: try encode(.verified)
        case .ended(let reason): try encode(.ended, message: reason)
        }
    }
}
