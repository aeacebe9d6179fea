// SPDX-License-Identifier: Apache-2.0

/// An event while a reader works with a finger; for prompts and progress bars.
///
/// No event says whether a finger matched: a result is only ever the return value of the operation.
public enum ScanEvent: Sendable, Hashable {
    /// The reader begins to wait for a finger: at each stage, after each retry. One event asks for one presentation.
    case touch
    /// A finger came onto the sensor (`true`) or left it (`false`), where the reader can tell.
    case finger(present: Bool)
    /// The presentation could not be read. It counts neither as a stage nor as a failed match.
    case retry(ScanRetry)
    /// The presentation shows about the same part of the finger as an earlier one of this enrollment.
    ///
    /// It comes before the ``stage(completed:total:)`` of that presentation, which counts all the same, from readers that
    /// give images.
    case alike
    /// An enrollment has `completed` of `total` presentations.
    case stage(completed: Int, total: Int)
}

/// The form of an event between processes: an object whose member `event` says which one it is.
extension ScanEvent: Codable {
    private enum Code: String, Codable {
        case touch, finger, retry, alike, stage
    }

    private enum Member: CodingKey { case event, present, reason, completed, total }

    /// Reads an event; one that this version does not know throws `DecodingError.dataCorrupted`.
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

    /// Writes the event.
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

/// Receives events in their order, on the reader's own thread: it must return soon and must not call the reader.
public typealias ScanObserver = @Sendable (ScanEvent) -> Void

/// The reason for which a presentation could not be read.
public enum ScanRetry: String, Sendable, Hashable, CaseIterable, Codable {
    /// No particular reason is known. `FP_DEVICE_RETRY_GENERAL`.
    case general = "general"
    /// The swipe was too short. `FP_DEVICE_RETRY_TOO_SHORT`.
    case tooShort = "tooShort"
    /// The finger was not in the middle. `FP_DEVICE_RETRY_CENTER_FINGER`.
    case centerFinger = "centerFinger"
    /// The finger must be lifted first. `FP_DEVICE_RETRY_REMOVE_FINGER`.
    case removeFinger = "removeFinger"
    /// The swipe was too fast. `FP_DEVICE_RETRY_TOO_FAST`, which libfprint has since 1.94.7.
    case tooFast = "tooFast"

    /// A hint for the person.
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

/// Whether a finger is wanted or there.
public struct FingerStatus: Sendable, Hashable {
    /// The reader waits for a finger.
    public let needed: Bool
    /// A finger is on the sensor.
    public let present: Bool

    /// Describes a status.
    public init(needed: Bool, present: Bool) {
        self.needed = needed
        self.present = present
    }
}

/// A reader's temperature by its driver's model; a hot one refuses to work until it has cooled.
public enum ReaderTemperature: String, Sendable, Codable {
    /// Cold: it may work for long.
    case cold
    /// Warm: it works, and may become hot.
    case warm
    /// Hot: operations end with ``ReaderError/Code/tooHot``.
    case hot
}

/// The answer to "is it this finger?".
public enum VerifyResult: Sendable, Hashable {
    /// The presentation matched. `updated` is a better template, where the reader made one.
    case match(updated: Template?)
    /// It was read well and did not match.
    case noMatch
    /// It could not be read; nothing is known about whose finger it was.
    case retry(ScanRetry)
}

/// The answer to "whose finger is it?".
public enum IdentifyResult: Sendable, Hashable {
    /// It matched the entry of this name. `updated` is a better template, where the reader made one.
    case match(PrintID, updated: Template?)
    /// It was read well and matched none.
    case noMatch
    /// It could not be read; nothing is known about whose finger it was.
    case retry(ScanRetry)
}
