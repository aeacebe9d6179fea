// SPDX-License-Identifier: Apache-2.0

/// An event while a reader scans a finger, for prompts and progress bars.
///
/// No event reports whether a finger matched: results are only ever returned by the operation.
public enum ScanEvent: Sendable, Hashable {
    /// The reader starts waiting for a finger: at each stage, and after each retry. Each event prompts for one
    /// presentation.
    case touch
    /// A finger touched the sensor (`true`) or left it (`false`), if the reader can tell.
    case finger(present: Bool)
    /// The presentation could not be read. It counts neither as a stage nor as a failed match.
    case retry(ScanRetry)
    /// The presentation shows roughly the same part of the finger as an earlier one of this enrollment.
    ///
    /// Readers that return images report it before the ``stage(completed:total:)`` of that presentation, which still
    /// counts.
    case alike
    /// An enrollment has `completed` of `total` presentations.
    case stage(completed: Int, total: Int)
}

/// The encoding of an event between processes: an object whose member `event` is the name of the event.
extension ScanEvent: Codable {
    private enum Code: String, Codable {
        case touch, finger, retry, alike, stage
    }

    private enum Member: CodingKey { case event, present, reason, completed, total }

    /// Decodes an event; throws `DecodingError.dataCorrupted` for unknown events.
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

/// Receives events in order, on the reader's thread; it must return soon and must not call the reader.
public typealias ScanObserver = @Sendable (ScanEvent) -> Void

/// The reason why a presentation could not be read.
public enum ScanRetry: String, Sendable, Hashable, CaseIterable, Codable {
    /// No specific reason. `FP_DEVICE_RETRY_GENERAL`.
    case general = "general"
    /// The swipe was too short. `FP_DEVICE_RETRY_TOO_SHORT`.
    case tooShort = "tooShort"
    /// The finger was not centered. `FP_DEVICE_RETRY_CENTER_FINGER`.
    case centerFinger = "centerFinger"
    /// The finger must be lifted first. `FP_DEVICE_RETRY_REMOVE_FINGER`.
    case removeFinger = "removeFinger"
    /// The swipe was too fast. `FP_DEVICE_RETRY_TOO_FAST`, available since libfprint 1.94.7.
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

/// Whether a finger is needed or present.
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

/// The temperature of a reader, as its driver estimates it; a hot reader refuses to work until it has cooled.
public enum ReaderTemperature: String, Sendable, Codable {
    /// Cold: it can work for a long time.
    case cold
    /// Warm: it works, but may become hot.
    case warm
    /// Hot: operations fail with ``ReaderError/Code/tooHot``.
    case hot
}

/// The result of comparing a finger with one template.
public enum VerifyResult: Sendable, Hashable {
    /// The presentation matched. `updated` is a better template, if the reader made one.
    case match(updated: Template?)
    /// It was read, and did not match.
    case noMatch
    /// It could not be read, so it may have been any finger.
    case retry(ScanRetry)
}

/// The result of comparing a finger with a gallery.
public enum IdentifyResult: Sendable, Hashable {
    /// It matched this entry. `updated` is a better template, if the reader made one.
    case match(PrintID, updated: Template?)
    /// It was read, and matched no entry.
    case noMatch
    /// It could not be read, so it may have been any finger.
    case retry(ScanRetry)
}
