// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import WhorlFingerprint

/// The proof that a user must provide for an evaluation to succeed.
public enum Policy: String, Sendable, Hashable, CaseIterable, Codable {
    /// A matching finger, and nothing else.
    case biometrics
    /// A matching finger, or the owner's passcode.
    case deviceOwner = "device-owner"
}

/// The name of the calling program; without a service, the name is not verified.
///
/// It keeps the domain states of programs separate, and it is the key under which the opt-out is stored. Programs of
/// one user can use each other's names.
public struct ApplicationID: RawRepresentable, Hashable, Sendable, Codable {
    /// The name, such as `org.example.vault`, or the name of the program's executable.
    public let rawValue: String

    /// Creates an identifier from any name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Returns whether both names have the same bytes, as in the database.
    public static func == (left: ApplicationID, right: ApplicationID) -> Bool {
        left.rawValue.utf8.elementsEqual(right.rawValue.utf8)
    }

    /// Returns whether the names have different bytes; by default, types with a raw value compare the value as text.
    public static func != (left: ApplicationID, right: ApplicationID) -> Bool { !(left == right) }
}

/// A request for an evaluation.
public struct EvaluationRequest: Sendable {
    /// The policy to satisfy.
    public var policy: Policy
    /// The purpose of the touch, which the prompt shows; the user's proof is valid only for this purpose.
    public var purpose: TouchPurpose
    /// The reason for the request, which the prompt shows.
    ///
    /// It must contain characters other than white space.
    public var reason: String
    /// The title of the cancel button; `nil` or an empty string selects the default.
    public var cancelTitle: String?
    /// The title of the fallback button; `nil` selects the default, and an empty string hides the button.
    public var fallbackTitle: String?
    /// The time during which an earlier match is reused; 0 always prompts, and the maximum is 300 s.
    public var reuse: Duration
    /// Whether a prompt may be shown.
    ///
    /// If `false`, only the reuse window can make the evaluation succeed.
    public var interactionAllowed: Bool
    /// The time limit for each touch, after which the evaluation fails with `timedOut`.
    ///
    /// If the passcode is accepted as well, the time starts again with each touch, key press and verdict.
    public var timeout: Duration
    /// The calling program.
    public var application: ApplicationID

    /// The session that keeps the owner's proof for later requests with the same caller and purpose.
    ///
    /// If it is `nil`, or if the purpose is valid for one request only, no proof is kept.
    public var session: OwnerSession?

    /// The time after the touch during which the session's proof counts for a purpose that otherwise leaves none.
    package var burst: Duration?

    /// Whether the touch leaves a proof in the session, if there is one.
    package var leavesProof: Bool { purpose.proof != .none || burst != nil }

    /// Whether only the passcode is accepted, regardless of the policy, as for an item that only the passcode unlocks.
    package var takesPasscodeAlone = false

    /// The maximum time to wait for other programs that use the reader; `nil` means as long as for a touch.
    package var patience: Duration?

    /// The number of touches that may fail, from 1 to 3; `nil` means 3.
    package var mostTries: Int?

    /// The place where failed attempts are counted in addition to the user's, if any.
    package var place: (any PlaceTries)?

    /// The only finger to compare; `nil` compares all enrolled fingers.
    package var finger: Finger?

    /// The strength that each touch must have, in addition to the machine's requirement.
    package var strength = TouchStrength.any

    /// The parts of the machine's requirement that this request does not need to meet.
    ///
    /// An example is the passcode, if the caller prompts for it afterwards.
    package var waived = TouchStrength.any

    /// The login session period in which a reusable match must have been made (``SessionPeriods``).
    ///
    /// If the service does not set it, the engine uses the period of its own process.
    package var stay: String?

    /// Information about the calling program, which a service adds.
    public var origin = RequestOrigin()

    /// Creates a request with the defaults: always prompt, and wait 60 s for each touch.
    public init(
        policy: Policy,
        purpose: TouchPurpose,
        reason: String,
        application: ApplicationID,
        cancelTitle: String? = nil,
        fallbackTitle: String? = nil,
        reuse: Duration = .zero,
        interactionAllowed: Bool = true,
        timeout: Duration = .seconds(60)
    ) {
        self.policy = policy
        self.purpose = purpose
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
/// A value of this type exists only if the evaluation succeeded.
public struct Evaluation: Sendable, Hashable, Codable {
    /// The method that authenticated the owner.
    public enum Method: String, Sendable, Codable {
        /// A finger.
        case biometry
        /// The passcode.
        case passcode
    }

    /// The method that authenticated the owner.
    public let method: Method
    /// The finger that matched, if any.
    public let finger: Finger?
    /// The digest of the enrollment set for this program, 32 bytes; `nil` if no finger is enrolled.
    public let domainState: Data?
    /// Whether an earlier match within the reuse window was used instead of a new touch.
    public let isReused: Bool
    /// The kind of reader that was used; `nil` if the passcode was used.
    public let readerKind: ReaderInfo.Kind?
    /// The strength of the touch; ``TouchStrength/any`` if only the passcode was used.
    public var strength: TouchStrength { strengthOfTouch ?? .any }
    /// The strength of the touch; `nil` if the service is of an earlier version.
    private let strengthOfTouch: TouchStrength?
    /// The print that matched, if one did.
    package let print: PrintID?
    /// The number of failed attempts between the last success and this request, which the owner should know about.
    public var failedTries: Int { triesFailed ?? 0 }
    private var triesFailed: Int?

    /// Returns the same evaluation, with the given number of failed attempts before it.
    package func after(failedTries: Int) -> Evaluation {
        var copy = self
        copy.triesFailed = failedTries == 0 ? nil : failedTries
        return copy
    }

    package init(
        method: Method,
        finger: Finger?,
        domainState: Data?,
        isReused: Bool,
        readerKind: ReaderInfo.Kind?,
        strength: TouchStrength = .any,
        print: PrintID? = nil
    ) {
        strengthOfTouch = strength
        self.print = print
        self.method = method
        self.finger = finger
        self.domainState = domainState
        self.isReused = isReused
        self.readerKind = readerKind
    }

    /// The same evaluation, after the passcode was also verified.
    package var withPasscode: Evaluation {
        var strength = strength
        strength.hasPasscode = true
        return Evaluation(
            method: method,
            finger: finger,
            domainState: domainState,
            isReused: isReused,
            readerKind: readerKind,
            strength: strength,
            print: print
        )
    }

    private enum CodingKeys: String, CodingKey {
        case method = "method"
        case finger = "finger"
        case domainState = "domainState"
        case isReused = "isReused"
        case readerKind = "readerKind"
        case strengthOfTouch = "strength"
        case print = "print"
        case triesFailed = "triesFailed"
    }
}

/// The result of checking whether an evaluation could succeed now.
public struct Preflight: Sendable, Codable {
    /// The error that prevents an evaluation; `nil` if it could succeed.
    public let obstacle: ServiceError?
    /// Whether a fingerprint reader is connected, regardless of the result.
    public let hasReader: Bool
    /// The kind of the connected reader.
    public let readerKind: ReaderInfo.Kind?
    /// The digest of the enrollment set for this program, 32 bytes.
    ///
    /// It is `nil` if no finger is enrolled or the set cannot be trusted. It is also available during a lockout.
    public let domainState: Data?
    /// Whether a passcode is set, as far as that can be determined.
    public let isPasscodeSet: Bool

    /// Creates a result.
    public init(
        obstacle: ServiceError?,
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
