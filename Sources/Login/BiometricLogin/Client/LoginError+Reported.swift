// SPDX-License-Identifier: Apache-2.0

public import WhorlService

extension LoginError: ReportedError {
    /// The name of the code, without the values that belong to it.
    public var codeName: String {
        switch code {
        case .notEnabled: "notEnabled"
        case .mustEnableAgain: "mustEnableAgain"
        case .otherAccount: "otherAccount"
        case .severalAccounts: "severalAccounts"
        case .userUnusable: "userUnusable"
        case .deviceNameUnusable: "deviceNameUnusable"
        case .claimsRefused: "claimsRefused"
        case .evaluation(let error): error.codeName
        case .notReleased: "accessDenied"
        case .vault(let error): error.codeName
        case .store(let error): error.codeName
        case .changedMeanwhile: "changedMeanwhile"
        case .keychain: "storeFailed"
        case .transport: "serverUnreachable"
        case .answerRefused: "answerRefused"
        case .unauthorized: "unauthorized"
        case .refused: "serverRefused"
        case .tooManyTries: "tooManyTries"
        case .serverFailed: "serverFailed"
        }
    }

    /// The cause that a lower layer or the server's answer gives; may be empty.
    public var cause: String {
        switch code {
        case .mustEnableAgain(let reason): reason.rawValue
        case .keychain(let status): "status \(status)"
        case .transport(let fault): fault.rawValue
        case .answerRefused(let fault): fault.rawValue
        case .refused(let refusal): refusal.rawValue
        case .evaluation(let error): error.cause
        case .vault(let error): error.cause
        case .store(let error): error.cause
        case .notEnabled, .otherAccount, .severalAccounts, .userUnusable, .deviceNameUnusable,
            .claimsRefused, .notReleased, .changedMeanwhile, .unauthorized, .tooManyTries, .serverFailed:
            ""
        }
    }

    /// The kind of handling that the failure asks for.
    public var category: ErrorCategory {
        switch code {
        case .notEnabled: .notFound
        case .mustEnableAgain: .noLongerValid
        case .otherAccount: .alreadyExists
        case .severalAccounts, .userUnusable, .deviceNameUnusable, .claimsRefused: .invalidRequest
        case .evaluation(let error): error.category
        case .notReleased, .unauthorized: .notAuthenticated
        case .vault(let error): error.category
        case .store(let error): error.category
        case .changedMeanwhile: .other
        case .keychain: .storage
        case .transport(.cancelled): .cancelled
        case .transport, .answerRefused, .tooManyTries, .serverFailed: .serverUnavailable
        case .refused: .serverRefused
        }
    }
}
