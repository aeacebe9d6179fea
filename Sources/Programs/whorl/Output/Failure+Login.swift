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
        default: self.init(error, status: nil)
        }
    }
}

extension LoginError: CommandError {
    var failure: Failure { Failure(self) }
}
