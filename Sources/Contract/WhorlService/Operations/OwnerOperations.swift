// SPDX-License-Identifier: Apache-2.0
// Each operation is documented above its type; its members are documented in the protocol.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Authentication of the owner, and whether it is currently possible.

extension Operations {
    static let ofOwner: [any ServiceOperation.Type] = [
        PreflightPolicy.self, EvaluatePolicy.self, IsOptedOut.self, SetOptedOut.self,
    ]
}

/// Returns whether an evaluation could succeed now.
///
/// It never prompts the user or opens the reader. The result contains the obstacle, if there is one.
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

/// Prompts the user for a finger or the passcode, and replies only if the policy is satisfied.
///
/// Only a reply means that the owner was authenticated; every other evaluation ends with an error. Cancelling the task
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

/// Returns whether the user has disabled fingerprints for a program.
public struct IsOptedOut: ServiceOperation {
    public typealias Reply = Valued<Bool>
    public static let name = "io.whorl.Owner.IsOptedOut"
    public static let rules = OperationRules(.repeatable, by: .anyProgram)

    public var application: ApplicationID

    private enum CodingKeys: String, CodingKey { case application = "value" }

    public init(_ application: ApplicationID) { self.application = application }
}

/// Disables or enables fingerprints for a program.
///
/// If a program does this for another program, the owner is prompted first. Being opted out is distinct from "not
/// available" and "not enrolled", although an API may have only one code for all three. Errors: the reason why the
/// owner did not consent; `storeFailed`.
public struct SetOptedOut: OwnerOperation {
    public typealias Reply = Valued<Bool>
    public static let name = "io.whorl.Owner.SetOptedOut"
    public static let rules = OperationRules(.loggedChange("allow or deny fingers"), by: .anyProgram)

    /// The program for which fingerprints are disabled or enabled.
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
