// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint
public import FoundationEssentials
internal import WhorlSupport

/// One entry of the audit log.
public struct AuditEntry: Sendable, Hashable, Identifiable, Codable {
    /// The kind of an event; an older log may contain kinds that are not listed here.
    public struct Event: RawRepresentable, Sendable, Hashable, Codable {
        /// The name of the kind, as used in the log.
        public let rawValue: String

        /// Creates a kind from any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An evaluation ended.
        ///
        /// The outcome is `matched`, `reused`, `passcode`, or an error's code.
        public static let evaluation = Event(rawValue: "evaluation")
        /// A failed attempt was counted.
        ///
        /// The outcome is `noMatch`, or `abandoned` if the process exited before it reported a result.
        public static let failedTry = Event(rawValue: "failedTry")
        /// A lockout began (outcome `locked`), or an administrator ended it (`unlocked`).
        ///
        /// In root's log, the outcome `resting` means that logins are paused after too many failed touches.
        public static let lockout = Event(rawValue: "lockout")
        /// A passcode was submitted.
        ///
        /// The outcome is `unlocked` if the passcode ended a lockout of fingers, `wrong` if it was wrong, and
        /// `throttled` if it was not compared.
        public static let passcode = Event(rawValue: "passcode")
        /// A reader returned a result that cannot be correct.
        ///
        /// The outcome is `untrustworthy`.
        public static let reader = Event(rawValue: "reader")
        /// Stored state was changed, such as the passcode, an item or the set of fingers.
        ///
        /// The outcome is the change, such as `passcodeChanged`.
        public static let change = Event(rawValue: "change")
        /// An item that requires its owner was released.
        ///
        /// The outcome is `released`, or `releasedAgain` if an earlier proof was reused; the detail names the item.
        public static let release = Event(rawValue: "release")
        /// Fingerprints were disabled (outcome `out`) or enabled (outcome `in`) for a program.
        public static let optOut = Event(rawValue: "optOut")
    }

    /// The number of the entry; numbers only increase, and a deleted entry leaves a gap.
    ///
    /// It is 0 before the entry is stored.
    public let id: Int64
    /// The wall-clock time of the event.
    public let at: Date
    /// The profile whose fingers are used.
    public let profile: String
    /// The name that the calling program gave itself, cleaned.
    public let application: String
    /// The kind of the event.
    public let event: Event
    /// The outcome of the event.
    public let outcome: String
    /// The finger that matched, if any.
    public let finger: Finger?
    /// The reader that was used, if any.
    public let reader: ReaderID?
    /// The reason for the request, or details of the cause; cleaned, at most 200 characters.
    public let detail: String?
    /// The calling program as the system service knew it; `nil` if it ran in the same process.
    public let asker: Asker?
    /// The number of consecutive events of the same kind that the entry represents; ``at`` is the time of the last one.
    public let repeats: Int

    /// Creates an entry, and cleans its texts so that they are safe for the log.
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
