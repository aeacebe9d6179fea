// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
package import TerminalPrompt
import WhorlFingerprint
import WhorlRemote
package import WhorlService
import WhorlSupport

/// An error of a layer below, which ends a command.
protocol CommandError: Error {
    /// The failure of the command.
    var failure: Failure { get }
}

extension AuthenticationError: CommandError { var failure: Failure { Failure(self) } }
extension EnrollmentError: CommandError { var failure: Failure { Failure(self) } }
extension VaultError: CommandError { var failure: Failure { Failure(self) } }
extension ReleaseError: CommandError { var failure: Failure { Failure(self) } }
extension StateError: CommandError { var failure: Failure { Failure(self) } }
extension ReaderError: CommandError { var failure: Failure { Failure(self) } }
extension PasscodeReadingError: CommandError { var failure: Failure { Failure(self) } }
extension AgentError: CommandError { var failure: Failure { Failure(self) } }
extension LoginError: CommandError { var failure: Failure { Failure(self) } }

extension FingerChangeError: CommandError {
    var failure: Failure {
        switch self {
        case .owner(let error): Failure(error)
        case .fingers(let error): Failure(error)
        }
    }
}

/// Does a part of a command, whose error becomes the command's failure.
func failing<Value, Failed: CommandError>(
    _ body: () async throws(Failed) -> Value
) async throws(Failure) -> Value {
    do { return try await body() } catch { throw error.failure }
}

/// Does a part of a command that does not wait.
func failing<Value, Failed: CommandError>(_ body: () throws(Failed) -> Value) throws(Failure) -> Value {
    do { return try body() } catch { throw error.failure }
}

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
    package var codeName: String { code.rawValue }

    /// The kind of handling that the failure asks for.
    package var category: ErrorCategory {
        switch code {
        case .cancelled: .cancelled
        case .noTerminal: .notInteractive
        case .isTerminal, .empty, .tooLong, .control: .invalidRequest
        case .different, .unreadable: .other
        }
    }
}

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

extension Failure {
    /// Makes the failure of a choice of the engine's place that cannot be met.
    init(_ fault: ServicePlace.Fault) {
        switch fault {
        case .unknown(let other):
            self = .usage(
                "WHORL_SERVICE is “\(DisplayText.clean(other, limit: 40))”.",
                hint: "It is system, private or in-process."
            )
        case .hasChoices:
            self = .usage(
                "The system's service has a directory, a profile, a reader and a TPM of its own.",
                hint: "Leave these options and variables out, or set WHORL_SERVICE=in-process."
            )
        case .noChild, .noEngine:
            self.init(
                code: "incomplete",
                rawValue: nil,
                status: .failure,
                message: "The program whorld, which belongs to this one, could not be started.",
                reason: fault.description,
                recovery: "Install Whorl again as a whole, or unset WHORL_SERVICE."
            )
        }
    }
}
