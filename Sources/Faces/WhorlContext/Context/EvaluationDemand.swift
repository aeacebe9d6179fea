// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// The requirement that an evaluation must meet.
package enum EvaluationDemand: Sendable {
    /// A policy.
    case policy(LAPolicy)
    /// An access control. Afterward, items with this access control open without a prompt.
    case access(AccessControl)
    /// The creation of an item with this access control, which requires only credentials that the program supplies.
    case making(AccessControl)
    /// A requirement that no Linux machine can meet, with the error to report.
    case impossible(LAError)

    /// Returns the requests for this requirement.
    ///
    /// - Parameters:
    ///   - request: A request that contains everything except the policy.
    ///   - hasApplicationPassword: Whether the program has set an application password.
    /// - Returns: One request for each prompt, in order, or an empty array if no prompt is needed.
    /// - Throws: An error that can be determined without a prompt.
    func requests(
        from request: EvaluationRequest,
        hasApplicationPassword: Bool
    ) throws(LAError) -> [EvaluationRequest] {
        switch self {
        case .policy(let policy):
            var asked = request
            asked.policy = try policy.serviceRequest()
            return [asked]
        case .access(let access):
            try access.checkPassword(hasApplicationPassword)
            return access.requests(from: request)
        case .making(let access):
            try access.checkPassword(hasApplicationPassword)
            return []
        case .impossible(let error): throw error
        }
    }

    /// Returns the domain state to store for the program, or `nil` if the program does not receive it.
    ///
    /// As on Apple's systems, only the evaluation of a policy reports the domain state.
    func domainState(after outcome: ContextCore.Outcome) -> Data? {
        switch (self, outcome) {
        case (.policy, .success(let shown)):
            shown.last.flatMap { shown in
                switch shown.method {
                case .biometry: shown.domainState
                case .passcode: nil
                }
            }
        case (.policy, .failure), (.access, _), (.making, _), (.impossible, _): nil
        }
    }
}

extension AccessControl {
    /// Returns one request for each prompt.
    fileprivate func requests(from request: EvaluationRequest) -> [EvaluationRequest] {
        var request = request
        if !allowsReuse { request.reuse = .zero }
        return switch asking() {
        case .nothing: []
        case .finger: [request.forFinger]
        case .passcode: [request.forPasscode]
        case .either: [request]
        case .both: [request.forFinger, request.forPasscode]
        }
    }

    /// Checks that the context has an application password if the access control requires one.
    ///
    /// The user is never prompted for this password.
    fileprivate func checkPassword(_ isThere: Bool) throws(LAError) {
        guard needsApplicationPassword, !isThere else { return }
        throw LAError(
            .authenticationFailed,
            message: "The access control requires an application password, but none is set.",
            recovery: "Set one with setCredential(_:type:) and .applicationPassword."
        )
    }
}

extension EvaluationRequest {
    fileprivate var forFinger: EvaluationRequest {
        var request = self
        request.policy = .biometrics
        return request
    }

    fileprivate var forPasscode: EvaluationRequest {
        var request = self
        request.policy = .deviceOwner
        request.takesPasscodeAlone = true
        return request
    }
}

/// The kind of credential that a program sets on a context.
package enum CredentialKind: Sendable {
    /// The application password, for items that require one.
    case applicationPassword
    /// The PIN of a smart card. It is never required on Linux.
    case smartCardPIN
}
