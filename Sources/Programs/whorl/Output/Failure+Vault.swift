// SPDX-License-Identifier: Apache-2.0

public import TerminalPrompt
public import WhorlService

extension Failure {
    init(_ error: VaultError) {
        if case .store(let error) = error.code {
            self.init(error)
            return
        }
        self.init(error, status: nil)
        if error.code == .passcodeNotSet {
            rawValue = AuthenticationError.Code.passcodeNotSet.appleRawValue
        }
    }

    init(_ error: ReleaseError) {
        switch error {
        case .evaluation(let error): self.init(error)
        case .vault(let error): self.init(error)
        }
    }

    init(_ error: PasscodeReadingError) {
        self.init(error, status: nil)
        guard error.code == .cancelled else { return }
        code = AuthenticationError.Code.userCancel.rawValue
        rawValue = AuthenticationError.Code.userCancel.appleRawValue
        isCancellation = true
    }
}

extension PasscodeReadingError: ReportedError {
    /// The name of the code.
    public var codeName: String { code.rawValue }

    /// The kind of handling that the failure asks for.
    public var category: ErrorCategory {
        switch code {
        case .cancelled: .cancelled
        case .noTerminal: .notInteractive
        case .isTerminal, .empty, .tooLong, .control: .invalidRequest
        case .different, .unreadable: .other
        }
    }
}
