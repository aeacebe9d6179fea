// SPDX-License-Identifier: Apache-2.0

internal import Authentication
package import Vault

/// What an evaluation asks for.
package enum EvaluationDemand: Sendable {
    /// What a policy names.
    case policy(LAPolicy)
    /// What an access control names, so that what it guards opens afterwards without a prompt.
    case access(AccessControl)
    /// Nothing but what a program gives itself, as where an item with this access control is made.
    case making(AccessControl)
    /// What no Linux machine can be shown.
    case impossible(LAError)

    /// The requests for it.
    ///
    /// - Parameters:
    ///   - request: Everything but what is asked for.
    ///   - hasApplicationPassword: Whether the program has given its own password.
    /// - Returns: One for each prompt, in their order; none where nobody is asked.
    /// - Throws: what can be told without asking anybody.
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

    /// The set of fingers to remember for the program; `nil` where it learns none.
    ///
    /// Only a policy tells it, as on Apple's systems.
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
    /// One request for each prompt.
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

    /// Nobody is asked for a program's own password: the program gives it to the context, or it is missing.
    fileprivate func checkPassword(_ isThere: Bool) throws(LAError) {
        guard needsApplicationPassword, !isThere else { return }
        throw LAError(
            .authenticationFailed,
            message: "The access control takes an application password, and the context has none.",
            recovery: "Give the context one: setCredential(_:type:) with .applicationPassword."
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

/// What a program gives a context to show for itself.
package enum CredentialKind: Sendable {
    /// Its own password, for items that take one.
    case applicationPassword
    /// The PIN of a smart card; no Linux token asks for it.
    case smartCardPIN
}
