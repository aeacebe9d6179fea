// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Fingerprint

/// What somebody must show before an evaluation succeeds.
public enum Policy: String, Sendable, Hashable, CaseIterable {
    /// A matching finger, nothing else.
    case biometrics
    /// A matching finger, or the owner's passcode.
    case deviceOwner = "device-owner"
}

/// Which program asks, as far as it can be known without a service: a name, not a proof.
///
/// It keeps one program's domain state apart from another's and carries the opt-out. Programs of one user can
/// take each other's names.
public struct ApplicationID: RawRepresentable, Hashable, Sendable {
    /// The name, such as `org.example.vault`, or the name of the program's file.
    public let rawValue: String

    /// Takes any name.
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// One request for an evaluation.
public struct EvaluationRequest: Sendable {
    /// What must be shown.
    public var policy: Policy
    /// Why the program asks; it is shown to the person.
    ///
    /// It must hold something besides white space.
    public var reason: String
    /// The text of the cancel button; `nil` or empty means the default.
    public var cancelTitle: String?
    /// The text of the fallback button; `nil` means the default, empty hides it.
    public var fallbackTitle: String?
    /// For how long after an earlier match no new one is asked for; 0 asks always, more than 300 s counts as
    /// 300 s.
    public var reuse: Duration
    /// Whether a prompt may be shown.
    ///
    /// Without, only the reuse window can make the evaluation succeed.
    public var interactionAllowed: Bool
    /// For how long each touch is waited for before the evaluation ends with `systemCancel`.
    ///
    /// Where the passcode is asked for too, it begins anew with each touch, each key and each verdict.
    public var timeout: Duration
    /// The program that asks.
    public var application: ApplicationID

    /// Where the service keeps what the owner shows, for later requests of the same caller; `nil` keeps nothing.
    public var session: OwnerSession?

    /// Whether only the passcode is asked for, whatever the policy is: for an item that nothing else opens.
    package var takesPasscodeAlone = false

    /// A request with the defaults: always ask, wait 60 s for each touch.
    public init(
        policy: Policy,
        reason: String,
        application: ApplicationID,
        cancelTitle: String? = nil,
        fallbackTitle: String? = nil,
        reuse: Duration = .zero,
        interactionAllowed: Bool = true,
        timeout: Duration = .seconds(60)
    ) {
        self.policy = policy
        self.reason = reason
        self.application = application
        self.cancelTitle = cancelTitle
        self.fallbackTitle = fallbackTitle
        self.reuse = reuse
        self.interactionAllowed = interactionAllowed
        self.timeout = timeout
    }
}

/// A successful evaluation.
///
/// There is no value of this type for anything else.
public struct Evaluation: Sendable, Hashable {
    /// How the owner was recognised.
    public enum Method: String, Sendable {
        /// By a finger.
        case biometry
        /// By the passcode.
        case passcode
    }

    /// How the owner was recognised.
    public let method: Method
    /// The finger that matched, where one did.
    public let finger: Finger?
    /// The digest of the enrollment set for this program, 32 bytes; `nil` when no finger is enrolled.
    public let domainState: Data?
    /// Whether an earlier match within the reuse window was taken instead of a new touch.
    public let isReused: Bool
    /// What kind of reader answered; `nil` when the passcode did.
    public let readerKind: ReaderInfo.Kind?
    /// The print that matched, where one did.
    package let print: PrintID?

    package init(
        method: Method,
        finger: Finger?,
        domainState: Data?,
        isReused: Bool,
        readerKind: ReaderInfo.Kind?,
        print: PrintID? = nil
    ) {
        self.print = print
        self.method = method
        self.finger = finger
        self.domainState = domainState
        self.isReused = isReused
        self.readerKind = readerKind
    }
}

/// The answer to "could an evaluation succeed now?".
public struct Preflight: Sendable {
    /// Why not; `nil` when it could.
    public let obstacle: AuthenticationError?
    /// Whether there is a fingerprint reader, whatever the answer is.
    public let hasReader: Bool
    /// What kind of reader it is.
    public let readerKind: ReaderInfo.Kind?
    /// The digest of the enrollment set for this program, 32 bytes; `nil` when no finger is enrolled or the
    /// set cannot be trusted.
    ///
    /// It is there under lockout too.
    public let domainState: Data?
    /// Whether a passcode is set, as far as that can be told.
    public let isPasscodeSet: Bool

    /// Describes an answer.
    public init(
        obstacle: AuthenticationError?,
        hasReader: Bool,
        readerKind: ReaderInfo.Kind?,
        domainState: Data?,
        isPasscodeSet: Bool = false
    ) {
        self.obstacle = obstacle
        self.hasReader = hasReader
        self.readerKind = readerKind
        self.domainState = domainState
        self.isPasscodeSet = isPasscodeSet
    }

    /// Whether an evaluation could succeed now.
    public var canEvaluate: Bool { obstacle == nil }
}
