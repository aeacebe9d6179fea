// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import WhorlFingerprint

/// A rule for what a person must show before an evaluation succeeds.
public enum Policy: String, Sendable, Hashable, CaseIterable, Codable {
    /// Only a matching finger.
    case biometrics
    /// A matching finger, or the owner's passcode.
    case deviceOwner = "device-owner"
}

/// The name of the program that asks; without a service it is a name, not a proof.
///
/// It keeps the domain states of programs apart, and the opt-out is stored under it. Programs of one user can take each
/// other's names.
public struct ApplicationID: RawRepresentable, Hashable, Sendable, Codable {
    /// The name, such as `org.example.vault`, or the name of the program's file.
    public let rawValue: String

    /// Makes an identifier from any name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Whether both names have the same bytes, as in the database.
    public static func == (left: ApplicationID, right: ApplicationID) -> Bool {
        left.rawValue.utf8.elementsEqual(right.rawValue.utf8)
    }

    /// Whether the names have different bytes; types with a raw value would compare it as text otherwise.
    public static func != (left: ApplicationID, right: ApplicationID) -> Bool { !(left == right) }
}

/// One request for an evaluation.
public struct EvaluationRequest: Sendable {
    /// The policy that must be met.
    public var policy: Policy
    /// The purpose of the touch, which the prompt shows; what is shown by the person counts for nothing else.
    public var purpose: TouchPurpose
    /// The reason of the request, which is shown to the person.
    ///
    /// It must contain more than white space.
    public var reason: String
    /// The text of the cancel button; `nil` or empty means the default.
    public var cancelTitle: String?
    /// The text of the fallback button; `nil` means the default, empty hides it.
    public var fallbackTitle: String?
    /// The time after a match during which no new one is asked for; 0 always asks, more than 300 s counts as 300 s.
    public var reuse: Duration
    /// Whether a prompt may be shown.
    ///
    /// If `false`, only the reuse window can make the evaluation succeed.
    public var interactionAllowed: Bool
    /// The time limit for each touch, after which the evaluation ends with `timedOut`.
    ///
    /// Where the passcode is asked for too, the time starts again with each touch, each key and each verdict.
    public var timeout: Duration
    /// The program that asks.
    public var application: ApplicationID

    /// The session that keeps what the owner shows, for later requests of the same caller and purpose; `nil` keeps
    /// nothing, and neither does a purpose that is for one request alone.
    public var session: OwnerSession?

    /// Whether only the passcode is asked for, whatever the policy is, as for an item that only the passcode opens.
    package var takesPasscodeAlone = false

    /// The longest wait for others that use the reader; `nil` waits as long as for a touch.
    package var patience: Duration?

    /// The number of touches that may fail, from 1 to 3; `nil` is 3.
    package var mostTries: Int?

    /// The place whose failed tries count together with the person's; `nil` where none does.
    package var place: (any PlaceTries)?

    /// The only finger that is compared; `nil` compares all that are enrolled.
    package var finger: Finger?

    /// The strength that each touch must have, in addition to what the machine demands.
    package var strength = TouchStrength.any

    /// The parts of the machine's demand that this request need not meet, such as the passcode where the caller asks for
    /// it afterwards.
    package var waived = TouchStrength.any

    /// The stay in a login session in which an earlier match must have been made (``SessionPeriods``); `nil` where the service
    /// says none, and the engine takes that of its own process.
    package var stay: String?

    /// The facts about the program that asks, which a service adds.
    public var origin = RequestOrigin()

    /// Makes a request with the defaults: always ask, wait 60 s for each touch.
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
/// Only a success has a value of this type.
public struct Evaluation: Sendable, Hashable, Codable {
    /// The method by which the owner was recognized.
    public enum Method: String, Sendable, Codable {
        /// By a finger.
        case biometry
        /// By the passcode.
        case passcode
    }

    /// The method by which the owner was recognized.
    public let method: Method
    /// The finger that matched, if one did.
    public let finger: Finger?
    /// The digest of the enrollment set for this program, 32 bytes; `nil` when no finger is enrolled.
    public let domainState: Data?
    /// Whether an earlier match within the reuse window was taken instead of a new touch.
    public let isReused: Bool
    /// The kind of the reader that answered; `nil` when the passcode did.
    public let readerKind: ReaderInfo.Kind?
    /// The strength that the touch had; ``TouchStrength/any`` when only the passcode answered.
    public var strength: TouchStrength { strengthOfTouch ?? .any }
    /// The same; `nil` where a service of an earlier version answered.
    private let strengthOfTouch: TouchStrength?
    /// The print that matched, if one did.
    package let print: PrintID?
    /// The number of failed tries since the last success and before this request, which the owner should hear of.
    public var failedTries: Int { triesFailed ?? 0 }
    private var triesFailed: Int?

    /// The same evaluation, with the number of failed tries before it.
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

    /// The same evaluation, after the passcode was right as well.
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

/// The answer to the question whether an evaluation could succeed now.
public struct Preflight: Sendable, Codable {
    /// The error that prevents an evaluation; `nil` when it could succeed.
    public let obstacle: ServiceError?
    /// Whether a fingerprint reader is connected, whatever the answer is.
    public let hasReader: Bool
    /// The kind of that reader.
    public let readerKind: ReaderInfo.Kind?
    /// The digest of the enrollment set for this program, 32 bytes; `nil` when no finger is enrolled or the
    /// set cannot be trusted.
    ///
    /// It is also set under a lockout.
    public let domainState: Data?
    /// Whether a passcode is set, as far as that can be determined.
    public let isPasscodeSet: Bool

    /// Makes an answer.
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
