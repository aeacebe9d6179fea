// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// An update of a prompt, about its finger's part or its passcode's.
///
/// Updates are for display: a program takes its answer from the return value alone. A presenter that shows only fingers
/// ignores the updates about the passcode, and gets none unless it says that it takes passcodes.
/// ``Prompt/message(for:)`` has the sentence for each update.
public enum PromptUpdate: Sendable, Hashable {
    /// Something happened at the reader.
    case scan(ScanEvent)
    /// The finger was read well and is not enrolled; the given number of tries remains in this evaluation.
    case noMatch(remaining: Int)
    /// The finger matched, and a different one is asked for now.
    case anotherFinger
    /// The finger's part ended, for the reason in the text; the passcode is still asked for.
    case fingerEnded(String)
    /// A passcode is being compared; a further one is taken after the verdict.
    case checking
    /// The passcode was wrong; the given number of tries is left before a wait, if the number is known.
    case wrongPasscode(triesLeft: Int?)
    /// Too many passcodes were wrong: none is compared for the given time.
    case throttled(for: Duration)
    /// The passcode's part ended, for the reason in the text; a finger is still asked for.
    case passcodeEnded(String)
    /// The evaluation ended: the finger matched.
    case matched(Finger)
    /// The evaluation ended: the passcode was right.
    case verified
    /// The evaluation ended without success, for the reason in the text.
    case ended(String)
}

/// The form of an update between processes: an object whose member `event` says which one it is.
extension PromptUpdate: Codable {
    private enum Code: String, Codable {
        case noMatch, anotherFinger, fingerEnded, checking, wrongPasscode, throttled, passcodeEnded, matched
        case verified, ended
    }

    private enum Member: CodingKey { case event, remaining, triesLeft, milliseconds, finger, message }

    /// Reads an update; one that this version does not know throws `DecodingError.dataCorrupted`.
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

    /// Writes the update.
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
