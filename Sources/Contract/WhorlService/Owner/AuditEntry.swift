// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint
public import FoundationEssentials
internal import WhorlSupport

/// One line of the audit log.
public struct AuditEntry: Sendable, Hashable, Identifiable, Codable {
    /// The kind of an event; an older log may hold kinds that have no name here.
    public struct Event: RawRepresentable, Sendable, Hashable, Codable {
        /// The name in the log.
        public let rawValue: String

        /// Makes a kind from any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An evaluation ended.
        ///
        /// The outcome is `matched`, `reused`, `passcode`, or an error's code.
        public static let evaluation = Event(rawValue: "evaluation")
        /// A try was charged.
        ///
        /// The outcome is `noMatch`, or `abandoned` when its process died before it reported one.
        public static let failedTry = Event(rawValue: "failedTry")
        /// Fingers were locked (outcome `locked`), or unlocked by an administrator (`unlocked`); or logins rest after
        /// too many misses (`resting`, in root's log).
        public static let lockout = Event(rawValue: "lockout")
        /// A passcode was handed in.
        ///
        /// The outcome is `unlocked` when the passcode lifted the lock on fingers, `wrong` when it was wrong,
        /// `throttled` when it was not compared.
        public static let passcode = Event(rawValue: "passcode")
        /// A reader gave an answer that cannot be true.
        ///
        /// The outcome is `untrustworthy`.
        public static let reader = Event(rawValue: "reader")
        /// Something that is stored was changed, such as the passcode, an item or the set of fingers.
        ///
        /// The outcome is the change, such as `passcodeChanged`.
        public static let change = Event(rawValue: "change")
        /// An item that requires its owner was released.
        ///
        /// The outcome is `released`, or `releasedAgain` where what was shown earlier counted; the detail names the item.
        public static let release = Event(rawValue: "release")
        /// A program was opted out (outcome `out`) or in again (outcome `in`).
        public static let optOut = Event(rawValue: "optOut")
    }

    /// The number of the line; it only grows, and a deleted line leaves a gap.
    ///
    /// 0 before it is stored.
    public let id: Int64
    /// The time of the event, by the wall clock.
    public let at: Date
    /// The profile whose fingers are meant.
    public let profile: String
    /// The program that asked, as it named itself; cleaned.
    public let application: String
    /// The kind of the event.
    public let event: Event
    /// The outcome of the event.
    public let outcome: String
    /// The finger that matched, if one did.
    public let finger: Finger?
    /// The reader that was asked, if one was.
    public let reader: ReaderID?
    /// The reason of the request, or details of the cause; cleaned, at most 200 characters.
    public let detail: String?
    /// The program that asked, as the system's service knew it; `nil` where it ran in the same process.
    public let asker: Asker?
    /// The number of events of the same kind, one after the other, that the line stands for; ``at`` is the last one's.
    public let repeats: Int

    /// Makes a line of the log.
    ///
    /// Texts are cleaned here, so that only cleaned texts reach the log.
    public init(
        id: Int64 = 0,
        at: Date,
        profile: String,
        application: String,
        event: Event,
        outcome: String,
        finger: Finger? = nil,
        reader: ReaderID? = nil,
        detail: String? = nil,
        asker: Asker? = nil,
        repeats: Int = 1
    ) {
        self.id = id
        self.at = at
        self.profile = profile
        self.application = DisplayText.clean(application)
        self.event = event
        self.outcome = outcome
        self.finger = finger
        self.reader = reader
        self.detail = detail.map { DisplayText.clean($0) }
        self.asker = asker
        self.repeats = repeats
    }
}
