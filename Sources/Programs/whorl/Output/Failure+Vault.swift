// SPDX-License-Identifier: Apache-2.0

import Authentication
import TerminalPrompt
import Vault

extension Failure {
    init(_ error: VaultError) {
        if case .store(let error) = error.code {
            self.init(error)
            return
        }
        // The name leaves out the associated values of a code.
        let name = "\(error.code)".prefix { $0 != "(" }
        self.init(
            code: String(name),
            rawValue: error.code == .passcodeNotSet
                ? AuthenticationError.Code.passcodeNotSet.appleRawValue : nil,
            status: ExitStatus(rawValue: error.exitCode) ?? .failure,
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

func failing<Value>(_ body: () async throws(VaultError) -> Value) async throws(Failure) -> Value {
    do { return try await body() } catch { throw Failure(error) }
}

func failing<Value>(_ body: () async throws(ReleaseError) -> Value) async throws(Failure) -> Value {
    do { return try await body() } catch { throw Failure(error) }
}

func failing<Value>(_ body: () async throws(PasscodeReadingError) -> Value) async throws(Failure) -> Value {
    do { return try await body() } catch { throw Failure(error) }
}
