// SPDX-License-Identifier: Apache-2.0

import WhorlLogin
package import WhorlTerminalPrompt
import WhorlFingerprint
import WhorlRemote
package import WhorlService
import WhorlSupport

/// A command's failure, described by the layer where it occurred.
struct Failure: Error, Sendable, Equatable {
    /// The error's name in JSON.
    ///
    /// For an evaluation's error, this is Apple's name if there is one.
    var code: String
    /// Apple's error number, if there is one.
    var rawValue: Int?
    var status = ExitStatus.failure
    /// One sentence that says what happened.
    var message: String
    /// The message from a lower layer.
    ///
    /// It may be empty, and may contain external text.
    var reason = ""
    /// One sentence that says what the user can do.
    var recovery: String
    /// Whether the failure only reports that the caller cancelled.
    ///
    /// If a signal caused this, the signal's failure replaces it.
    var isCancellation = false

    /// Returns the failure for a command that cannot be parsed.
    static func usage(_ message: String, hint: String) -> Failure {
        Failure(code: "usage", status: .usage, message: message, recovery: hint)
    }

    /// The `{"error": …}` object.
    var json: JSONValue {
        [
            "code": .string(code),
            "rawValue": rawValue.map(JSONValue.integer),
            // Any of them may contain an argument of any length.
            "message": .string(DisplayText.clean(message, limit: 1000)),
            "reason": .string(DisplayText.clean(reason, limit: 1000)),
            "recovery": .string(DisplayText.clean(recovery, limit: 1000)),
        ]
    }
}

extension Failure {
    /// Creates the failure from any error that ends a command.
    ///
    /// No other place converts an error to an answer.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as ServiceError:
            self.init(reported: error, error.code.appleCode, error.code.exitStatus)
            isCancellation = error.code == .appCancel
        case let error as ReaderError: self.init(ServiceError(error))
        case let error as LoginError:
            switch error.code {
            case .service(let error): self.init(error)
            case .transport(.cancelled): self.init(ServiceError(.appCancel))
            default: self.init(reported: error)
            }
        case let error as PasscodeReadingError where error.code == .cancelled:
            self.init(ServiceError(.userCancel, message: error.message, recovery: error.recovery))
            isCancellation = true
        case let error as any ReportedError: self.init(reported: error)
        case let fault as ServicePlace.Fault: self.init(fault)
        default:
            self.init(
                code: "unexpected",
                message: "The command failed.",
                reason: "\(error)",
                recovery: "Run `whorl doctor` to find out why."
            )
        }
    }

    private init(reported error: any ReportedError, _ number: Int? = nil, _ status: Int32? = nil) {
        self.init(
            code: error.codeName,
            rawValue: number,
            status: ExitStatus(rawValue: status ?? error.category.exitStatus) ?? .failure,
            message: error.message,
            reason: error.cause,
            recovery: error.recovery
        )
    }

    /// Creates the failure for an invalid choice of where the engine runs.
    private init(_ fault: ServicePlace.Fault) {
        switch fault {
        case .unknown(let other):
            self = .usage(
                "Invalid value “\(DisplayText.clean(other, limit: 40))” in WHORL_SERVICE.",
                hint: "Use system, private or in-process."
            )
        case .hasChoices:
            self = .usage(
                "The system service uses its own state directory, profile, reader and TPM.",
                hint: "Remove these options and variables, or set WHORL_SERVICE=in-process."
            )
        case .noChild, .noEngine:
            self.init(
                code: "incomplete",
                message: "Cannot start the program whorld, which is part of Whorl.",
                reason: fault.description,
                recovery: "Reinstall Whorl, or unset WHORL_SERVICE."
            )
        }
    }
}

extension PasscodeReadingError: ReportedError {
    /// The name of the code.
    package var codeName: String { code.rawValue }

    /// The category of the failure, which depends on how a program should handle it.
    package var category: ErrorCategory {
        switch code {
        case .cancelled: .cancelled
        case .noTerminal: .notInteractive
        case .isTerminal, .empty, .tooLong, .control: .invalidRequest
        case .different, .unreadable: .other
        }
    }
}
