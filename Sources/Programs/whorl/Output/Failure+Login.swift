// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import WhorlService

extension Failure {
    init(_ error: LoginError) {
        switch error.code {
        case .evaluation(let error): self.init(error)
        case .vault(let error): self.init(error)
        case .store(let error): self.init(error)
        case .transport(.cancelled): self.init(AuthenticationError(.appCancel))
        case .notEnabled: self.init(error, "notEnabled", .noSuchItem)
        case .mustEnableAgain(let reason):
            self.init(error, "mustEnableAgain", .noLongerValid, reason.rawValue)
        case .otherAccount: self.init(error, "otherAccount", .existsAlready)
        case .severalAccounts: self.init(error, "severalAccounts", .usage)
        case .userUnusable: self.init(error, "userUnusable", .usage)
        case .deviceNameUnusable: self.init(error, "deviceNameUnusable", .usage)
        case .claimsRefused: self.init(error, "claimsRefused", .usage)
        case .notReleased: self.init(error, "accessDenied", .authenticationFailed)
        case .changedMeanwhile: self.init(error, "changedMeanwhile", .failure)
        case .keychain(let status): self.init(error, "storeFailed", .storeFailed, "status \(status)")
        case .transport(let fault): self.init(error, "serverUnreachable", .serverUnavailable, fault.rawValue)
        case .answerRefused(let fault): self.init(error, "answerRefused", .serverUnavailable, fault.rawValue)
        case .tooManyTries: self.init(error, "tooManyTries", .serverUnavailable)
        case .serverFailed: self.init(error, "serverFailed", .serverUnavailable)
        case .unauthorized: self.init(error, "unauthorized", .authenticationFailed)
        case .refused(let refusal): self.init(error, "serverRefused", .serverRefused, "\(refusal)")
        }
    }

    private init(_ error: LoginError, _ code: String, _ status: ExitStatus, _ reason: String = "") {
        self.init(
            code: code,
            rawValue: nil,
            status: status,
            message: error.message,
            reason: reason,
            recovery: error.recovery
        )
    }
}

extension LoginError: CommandError {
    var failure: Failure { Failure(self) }
}
