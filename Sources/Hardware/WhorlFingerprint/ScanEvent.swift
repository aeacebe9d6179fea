// SPDX-License-Identifier: Apache-2.0

/// An event that occurs while a reader scans a finger, for use in prompts and progress bars.
///
/// No event reports whether a finger matched. Only the operation itself returns results.
public enum ScanEvent: Sendable, Hashable {
    /// The reader starts waiting for a finger, at each stage and after each retry. Each event prompts for one
    /// presentation.
    case touch
    /// A finger touched the sensor (`true`) or left it (`false`), if the reader can tell.
    case finger(present: Bool)
    /// The presentation could not be read. It does not count as a stage or as a failed match.
    case retry(ScanRetry)
    /// The presentation shows roughly the same part of the finger as an earlier one of this enrollment.
    ///
    /// Readers that return images report this before the ``stage(completed:total:)`` event of the presentation, which
    /// still counts.
    case alike
    /// An enrollment has completed the given number of presentations out of the total.
    case stage(completed: Int, total: Int)
}

/// The encoding of an event for other processes, which is an object with the name of the event in its member `event`.
extension ScanEvent: Codable {
    private enum Code: String, Codable {
        case touch, finger, retry, alike, stage
    }

    private enum Member: CodingKey { case event, present, reason, completed, total }

    /// Decodes an event, or throws `DecodingError.dataCorrupted` if the event is unknown.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        switch try members.decode(Code.self, forKey: .event) {
        case .touch: self = .touch
        case .finger: self = .finger(present: try members.decode(Bool.self, forKey: .present))
        case .retry: self = .retry(try members.decode(ScanRetry.self, forKey: .reason))
        case .alike: self = .alike
        case .stage:
            self = .stage(
                completed: try members.decode(Int.self, forKey: .completed),
                total: try members.decode(Int.self, forKey: .total)
            )
        }
    }

    /// Encodes the event.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        switch self {
        case .touch: try members.encode(Code.touch, forKey: .event)
        case .finger(let present):
            try members.encode(Code.finger, forKey: .event)
            try members.encode(present, forKey: .present)
        case .retry(let reason):
            try members.encode(Code.retry, forKey: .event)
            try members.encode(reason, forKey: .reason)
        case .alike: try members.encode(Code.alike, forKey: .event)
        case .stage(let completed, let total):
            try members.encode(Code.stage, forKey: .event)
            try members.encode(completed, forKey: .completed)
            try members.encode(total, forKey: .total)
        }
    }
}

/// A function that receives events in order, on the reader's thread.
///
/// It must return soon and must not call the reader.
public typealias ScanObserver = @Sendable (ScanEvent) -> Void

/// The reason why a presentation could not be read.
public enum ScanRetry: String, Sendable, Hashable, CaseIterable, Codable {
    /// No specific reason was reported. `FP_DEVICE_RETRY_GENERAL`.
    case general = "general"
    /// The swipe was too short. `FP_DEVICE_RETRY_TOO_SHORT`.
    case tooShort = "tooShort"
    /// The finger was not centered. `FP_DEVICE_RETRY_CENTER_FINGER`.
    case centerFinger = "centerFinger"
    /// The finger must first be lifted. `FP_DEVICE_RETRY_REMOVE_FINGER`.
    case removeFinger = "removeFinger"
    /// The swipe was too fast. `FP_DEVICE_RETRY_TOO_FAST`, which is available since libfprint 1.94.7.
    case tooFast = "tooFast"

    /// A hint for the user.
    public var hint: String {
        switch self {
        case .general: "Could not read the finger. Try again."
        case .tooShort: "Too short. Swipe farther."
        case .centerFinger: "Center your finger on the sensor."
        case .removeFinger: "Lift your finger, then try again."
        case .tooFast: "Too fast. Swipe more slowly."
        }
    }
}

/// The state of a reader's sensor, which shows whether a finger is needed or present.
public struct FingerStatus: Sendable, Hashable {
    /// Whether the reader is waiting for a finger.
    public let needed: Bool
    /// Whether a finger is on the sensor.
    public let present: Bool

    /// Creates a status.
    public init(needed: Bool, present: Bool) {
        self.needed = needed
        self.present = present
    }
}

/// The temperature of a reader, as estimated by its driver.
///
/// A hot reader refuses to work until it has cooled down.
public enum ReaderTemperature: String, Sendable, Codable {
    /// The reader is cold and can work for a long time.
    case cold
    /// The reader is warm. It works, but may become hot.
    case warm
    /// The reader is hot. Operations fail with ``ReaderError/Code/tooHot``.
    case hot
}

/// The result of comparing a finger with one template.
public enum VerifyResult: Sendable, Hashable {
    /// The presentation matched. `updated` is an improved template, if the reader made one.
    case match(updated: Template?)
    /// The presentation was read but did not match.
    case noMatch
    /// It could not be read, so it may have been any finger.
    case retry(ScanRetry)
}

/// The result of comparing a finger with a gallery.
public enum IdentifyResult: Sendable, Hashable {
    /// The presentation matched the given entry. `updated` is an improved template, if the reader made one.
    case match(PrintID, updated: Template?)
    /// The presentation was read but did not match any entry.
    case noMatch
    /// It could not be read, so it may have been any finger.
    case retry(ScanRetry)
}
