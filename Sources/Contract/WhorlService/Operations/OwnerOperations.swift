// SPDX-License-Identifier: Apache-2.0
// An operation says what it is and does above its type; its members are described by their protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Questions about the owner: whether an evaluation could succeed, and whether the owner is present.

extension Operations {
    static let ofOwner: [any ServiceOperation.Type] = [
        PreflightPolicy.self, EvaluatePolicy.self, IsOptedOut.self, SetOptedOut.self,
    ]
}

/// Returns whether an evaluation could succeed now.
///
/// It never prompts, and never opens the reader. The answer contains the obstacle, if there is one.
public struct PreflightPolicy: ServiceOperation {
    public typealias Reply = Preflight
    public static let name = "io.whorl.Owner.Preflight"
    public static let rules = OperationRules(.repeatable, by: .anyProgram)

    public let policy: Policy
    public var application: ApplicationID

    public init(_ policy: Policy, for application: ApplicationID) {
        self.policy = policy
        self.application = application
    }
}

/// Asks the person for a finger or the passcode, and is answered only when the policy is met.
///
/// A reply is the one thing that says "recognized"; every evaluation without success ends with an error. Cancelling the task
/// ends the evaluation with `appCancel`.
public struct EvaluatePolicy: OwnerOperation, SessionOperation {
    public typealias Reply = Evaluation
    public static let name = "io.whorl.Owner.Evaluate"
    public static let rules = OperationRules(.once, by: .anyProgram)

    public var request: EvaluationRequest
    package var sessionID: String?

    private enum CodingKeys: String, CodingKey {
        case request = "request"
        case sessionID = "session"
    }

    public init(_ request: EvaluationRequest) { self.request = request }

    public var session: OwnerSession? {
        get { request.session }
        set { request.session = newValue }
    }
    public var purpose: String { request.reason }
}

/// Returns whether the person has told a program not to use fingers.
public struct IsOptedOut: ServiceOperation {
    public typealias Reply = Valued<Bool>
    public static let name = "io.whorl.Owner.IsOptedOut"
    public static let rules = OperationRules(.repeatable, by: .anyProgram)

    public var application: ApplicationID

    private enum CodingKeys: String, CodingKey { case application = "value" }

    public init(_ application: ApplicationID) { self.application = application }
}

/// Stores that a program must not use fingers, or that it may again; the owner is asked first if the program is another
/// one than the one that asks.
///
/// Opting out is a state of its own, neither "not available" nor "not enrolled", although a face may have only one code for
/// all of them. Errors: the reason why the owner did not agree; `storeFailed`.
public struct SetOptedOut: OwnerOperation {
    public typealias Reply = Valued<Bool>
    public static let name = "io.whorl.Owner.SetOptedOut"
    public static let rules = OperationRules(.loggedChange("allow or deny fingers"), by: .anyProgram)

    /// The program whose use of fingers changes.
    public var application: ApplicationID
    public let isOptedOut: Bool
    public var request: ConsentRequest

    public init(_ isOptedOut: Bool, for application: ApplicationID, _ request: ConsentRequest) {
        self.application = application
        self.isOptedOut = isOptedOut
        self.request = request
    }

    public var purpose: String {
        "\(isOptedOut ? "deny" : "allow") fingers for \(application.rawValue)"
    }
}
