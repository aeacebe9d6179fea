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
    /// An enrollment has `completed` of `total` presentations.
    case stage(completed: Int, total: Int)
}

/// Receives events in their order, on the reader's own thread: it must return soon and must not call the reader.
public typealias ScanObserver = @Sendable (ScanEvent) -> Void

/// The reason for which a presentation could not be read.
public enum ScanRetry: String, Sendable, Hashable, CaseIterable, Codable {
    /// No particular reason is known. `FP_DEVICE_RETRY_GENERAL`.
    case general
    /// The swipe was too short. `FP_DEVICE_RETRY_TOO_SHORT`.
    case tooShort
    /// The finger was not in the middle. `FP_DEVICE_RETRY_CENTER_FINGER`.
    case centerFinger
    /// The finger must be lifted first. `FP_DEVICE_RETRY_REMOVE_FINGER`.
    case removeFinger
    /// The swipe was too fast. `FP_DEVICE_RETRY_TOO_FAST`, which libfprint has since 1.94.7.
    case tooFast

    /// A hint for the person.
    public var hint: String {
        switch self {
        case .general: "The finger could not be read. Try again."
        case .tooShort: "That was too short. Try again, and go on for longer."
        case .centerFinger: "Put the middle of the finger on the sensor, and try again."
        case .removeFinger: "Lift the finger, then try again."
        case .tooFast: "That was too fast. Try again, more slowly."
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
