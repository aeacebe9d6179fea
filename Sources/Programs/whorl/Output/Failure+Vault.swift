// SPDX-License-Identifier: Apache-2.0

import TerminalPrompt
import WhorlService

extension Failure {
    init(_ error: VaultError) {
        if case .store(let error) = error.code {
            self.init(error)
            return
        }
        self.init(
            code: error.code.name,
            rawValue: error.code == .passcodeNotSet
                ? AuthenticationError.Code.passcodeNotSet.appleRawValue : nil,
            status: ExitStatus(error.code),
            message: error.message,
            reason: error.cause,
            recovery: error.recovery
        )
    }

    init(_ error: ReleaseError) {
        switch error {
        case .evaluation(let error): self.init(error)
        case .vault(let error): self.init(error)
        }
    }

    init(_ error: PasscodeReadingError) {
        let status: ExitStatus =
            switch error.code {
            case .cancelled: .userCancel
            case .noTerminal: .notInteractive
            case .isTerminal, .empty, .tooLong, .control: .usage
            case .different, .unreadable: .failure
            }
        self.init(
            code: error.code == .cancelled ? "userCancel" : error.code.rawValue,
            rawValue: error.code == .cancelled ? AuthenticationError.Code.userCancel.appleRawValue : nil,
            status: status,
            message: error.message,
            reason: error.cause,
            recovery: error.recovery,
            isCancellation: error.code == .cancelled
        )
    }
}
