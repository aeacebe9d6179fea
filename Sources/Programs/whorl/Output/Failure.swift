// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService
import WhorlSupport

/// A failure of a command, in the words of the layer where it happened.
struct Failure: Error, Sendable, Equatable {
    /// The name in JSON; for an evaluation's error Apple's name if it has one.
    var code: String
    /// Apple's number, if it has one.
    var rawValue: Int?
    var status: ExitStatus
    /// One sentence that says what happened.
    var message: String
    /// The text of a lower layer; may be empty, and may hold text from outside.
    var reason: String
    /// One sentence that says what the person can do.
    var recovery: String
    /// Whether it only reports that the caller cancelled; a signal's name then takes its place.
    var isCancellation = false

    /// Returns the failure of a command that cannot be understood.
    static func usage(_ message: String, hint: String) -> Failure {
        Failure(code: "usage", rawValue: nil, status: .usage, message: message, reason: "", recovery: hint)
    }

    /// The `{"error": …}` object.
    var json: JSONValue {
        [
            "code": .string(code),
            "rawValue": rawValue.map(JSONValue.integer),
            // Any of them may hold an argument of any length.
            "message": .string(DisplayText.clean(message, limit: 1000)),
            "reason": .string(DisplayText.clean(reason, limit: 1000)),
            "recovery": .string(DisplayText.clean(recovery, limit: 1000)),
        ]
    }
}

extension Failure {
    init(_ error: AuthenticationError) {
        self.init(
            code: error.code.rawValue,
            rawValue: error.code.appleRawValue,
            status: ExitStatus(error.code),
            message: error.message,
            reason: error.cause,
            recovery: error.recovery,
            isCancellation: error.code == .appCancel
        )
    }

    /// Makes the failure of an error that an evaluation has no name for.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - status: The status; by default that of the error's category.
    ///   - reason: The text of a lower layer; by default the error's cause.
    init(_ error: some ReportedError, status: ExitStatus? = nil, reason: String? = nil) {
        self.init(
            code: error.codeName,
            rawValue: nil,
            status: status ?? ExitStatus(error.category),
            message: error.message,
            reason: reason ?? error.cause,
            recovery: error.recovery
        )
    }

    init(_ error: ReaderError) {
        switch error.code {
        case .notFound, .permissionDenied, .busy, .inUse, .unplugged, .cancelled, .suspended:
            self.init(AuthenticationError(error))
        case .duplicate, .printNotFound: self.init(error, status: nil, reason: error.description)
        case .notOpen, .unsupported, .storageFull, .templateInvalid, .tooHot, .untrustworthy, .malfunction,
            .lockUnusable:
            self.init(error, status: .failure, reason: error.description)
        }
    }

    init(_ error: EnrollmentError) {
        switch error.code {
        case .reader(let error): self.init(error)
        case .store(let error): self.init(error)
        case .timedOut, .changedMeanwhile: self.init(error, as: .systemCancel)
        case .enrollmentTampered, .readerWasOpen, .accountRenamed: self.init(error, as: .enrollmentTampered)
        case .enrollmentRolledBack: self.init(error, as: .enrollmentRolledBack)
        case .readerNotConnected: self.init(error, as: .biometryDisconnected)
        case .lockedOut: self.init(error, as: .biometryLockout)
        case .fingerExists, .duplicate, .inconsistent, .tooManyRetries, .noSuchFinger, .ownerNeeded:
            self.init(error, status: nil)
        }
    }

    private init(_ error: EnrollmentError, as code: AuthenticationError.Code) {
        self.init(
            AuthenticationError(code, message: error.message, recovery: error.recovery, cause: error.cause)
        )
    }

    init(_ error: AgentError) {
        let status: ExitStatus =
            switch error.code {
            case .taken: .existsAlready
            case .notAllowed: .failure
            case .cancelled: .userCancel
            case .unanswered: .storeFailed
            }
        self.init(
            code: "agent" + error.code.rawValue.prefix(1).uppercased() + error.code.rawValue.dropFirst(),
            rawValue: nil,
            status: status,
            message: error.message,
            reason: "",
            recovery: error.recovery
        )
    }

    init(_ error: StateError) { self.init(AuthenticationError(error)) }
}
