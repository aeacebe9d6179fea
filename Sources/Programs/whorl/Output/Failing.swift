// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import GreyscalePNG
import TerminalPrompt
import WhorlService

/// An error of a layer below, which ends a command.
protocol CommandError: Error {
    /// The failure of the command.
    var failure: Failure { get }
}

extension AuthenticationError: CommandError {
    var failure: Failure { Failure(self) }
}

extension EnrollmentError: CommandError {
    var failure: Failure { Failure(self) }
}

extension FingerChangeError: CommandError {
    var failure: Failure {
        switch self {
        case .owner(let error): Failure(error)
        case .fingers(let error): Failure(error)
        }
    }
}

extension VaultError: CommandError {
    var failure: Failure { Failure(self) }
}

extension ReleaseError: CommandError {
    var failure: Failure { Failure(self) }
}

extension StateError: CommandError {
    var failure: Failure { Failure(self) }
}

extension ReaderError: CommandError {
    var failure: Failure { Failure(self) }
}

extension PasscodeReadingError: CommandError {
    var failure: Failure { Failure(self) }
}

extension AgentError: CommandError {
    var failure: Failure { Failure(self) }
}

extension GreyscalePNGError: CommandError {
    var failure: Failure { Failure(self) }
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
