// SPDX-License-Identifier: Apache-2.0

public import WhorlFingerprint

/// An error of an evaluation.
public struct AuthenticationError: Error, Sendable, Hashable, Codable {
    /// The kind of failure; the names are Apple's where Apple has one.
    public enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        /// Three presentations did not match.
        case authenticationFailed = "authenticationFailed"
        /// The person pressed cancel.
        case userCancel = "userCancel"
        /// The person pressed the fallback button.
        case userFallback = "userFallback"
        /// The time ran out, or the system took over.
        case systemCancel = "systemCancel"
        /// No passcode is set, and nothing else can meet the policy.
        case passcodeNotSet = "passcodeNotSet"
        /// No usable reader is connected.
        case biometryNotAvailable = "biometryNotAvailable"
        /// The person has told this program not to use fingers.
        case biometryOptedOut = "biometryOptedOut"
        /// No finger is enrolled for the connected reader.
        case biometryNotEnrolled = "biometryNotEnrolled"
        /// Too many presentations did not match.
        case biometryLockout = "biometryLockout"
        /// The program cancelled.
        case appCancel = "appCancel"
        /// The context was invalidated before.
        case invalidContext = "invalidContext"
        /// A prompt would be needed and cannot be shown.
        case notInteractive = "notInteractive"
        /// The reader that fingers are enrolled for is not connected, or was unplugged.
        case biometryDisconnected = "biometryDisconnected"
        /// The reason is empty.
        case reasonMissing = "reasonMissing"
        /// The enrolled fingers were changed from outside.
        case enrollmentTampered = "enrollmentTampered"
        /// The enrolled fingers are an older state than the one last seen.
        case enrollmentRolledBack = "enrollmentRolledBack"
        /// The reader is in use.
        case readerInUse = "readerInUse"
        /// The state directory, the disk or the database failed.
        case storeFailed = "storeFailed"
        /// The TPM that protects the state directory cannot be used.
        case chipUnavailable = "chipUnavailable"
        /// A reader has to be chosen, and the choice is not clear or not allowed.
        case readerNotChosen = "readerNotChosen"
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence that says what happened.
    public let message: String
    /// One sentence that says what the person can do.
    public let recovery: String
    /// The cause that a lower layer reported; may be empty.
    ///
    /// It may contain text from outside.
    public let cause: String

    /// Makes an error with the texts of its kind, or with other texts.
    public init(_ code: Code, message: String? = nil, recovery: String? = nil, cause: String = "") {
        self.code = code
        self.message = message ?? code.message
        self.recovery = recovery ?? code.recovery
        self.cause = cause
    }

    /// Makes the evaluation's error for a reader's failure.
    public init(_ error: ReaderError) {
        let code: Code =
            switch error.code {
            case .notFound, .unsupported, .permissionDenied, .tooHot, .malfunction, .notOpen, .lockUnusable,
                .templateInvalid,
                .printNotFound, .storageFull, .duplicate:
                .biometryNotAvailable
            case .busy, .inUse: .readerInUse
            case .unplugged: .biometryDisconnected
            case .cancelled: .appCancel
            case .suspended: .systemCancel
            case .untrustworthy: .biometryNotAvailable
            }
        self.init(code, message: error.message, recovery: error.recovery, cause: error.description)
    }
}

extension AuthenticationError.Code {
    /// One sentence that says what happened.
    public var message: String {
        switch self {
        case .authenticationFailed: "The finger did not match."
        case .userCancel: "The request was cancelled."
        case .userFallback: "The other way to authenticate was chosen."
        case .systemCancel: "No finger came in time."
        case .passcodeNotSet: "No passcode is set."
        case .biometryNotAvailable: "No usable fingerprint reader is there."
        case .biometryOptedOut: "Fingerprints are turned off for this program."
        case .biometryNotEnrolled: "No finger is enrolled for this reader."
        case .biometryLockout: "Too many fingers did not match; fingerprints are locked."
        case .appCancel: "The program cancelled the request."
        case .invalidContext: "The context was invalidated before."
        case .notInteractive: "A prompt would be needed and cannot be shown."
        case .biometryDisconnected: "The reader that the fingers are enrolled for is not connected."
        case .reasonMissing: "The reason for the request is empty."
        case .enrollmentTampered: "The enrolled fingers were changed from outside."
        case .enrollmentRolledBack: "The enrolled fingers are an older state than the one last seen."
        case .readerInUse: "The fingerprint reader is in use."
        case .storeFailed: "The state directory cannot be used."
        case .chipUnavailable: "The TPM that protects the state directory cannot be used."
        case .readerNotChosen: "It is not clear which fingerprint reader is meant."
        }
    }

    /// One sentence that says what the person can do.
    public var recovery: String {
        switch self {
        case .authenticationFailed: "Try again with an enrolled finger; `whorl fingers` lists them."
        case .userCancel, .appCancel: "Start again when ready."
        case .userFallback: "Continue with the program's own way."
        case .systemCancel: "Try again, and touch the reader when asked."
        case .passcodeNotSet: "Set a passcode, or connect a reader and enroll a finger."
        case .biometryNotAvailable: "Run `whorl doctor`: it looks for the cause."
        case .biometryOptedOut: "Allow fingerprints for the program again: `whorl biometry allow`."
        case .biometryNotEnrolled: "Enroll a finger: `whorl enroll right-index-finger`."
        case .biometryLockout: "Verify the passcode; where none is set, wait until the lock ends."
        case .invalidContext: "Make a new context."
        case .notInteractive: "Run it in a terminal, or give the program a presenter of its own."
        case .biometryDisconnected: "Plug the reader in, or enroll a finger on the connected one."
        case .reasonMissing: "Say in the request why the finger is needed."
        case .enrollmentTampered, .enrollmentRolledBack:
            "With the passcode: `whorl fingers accept`. Without: `whorl remove --all`, then `whorl enroll`."
        case .readerInUse: "Wait for the other program to end, then try again."
        case .chipUnavailable: "Run `whorl vault status`: it says what is wrong with it."
        case .storeFailed: "Run `whorl doctor`: it names the cause and the command that mends it."
        case .readerNotChosen: "Name one with `--reader` or WHORL_READER; `whorl devices` lists them."
        }
    }
}

extension AuthenticationError {
    /// Makes the evaluation's error for a failure of the state directory.
    package init(_ error: StateError) {
        self.init(
            error.code == .chipUnavailable ? .chipUnavailable : .storeFailed,
            message: error.message,
            recovery: error.recovery,
            cause: error.description
        )
    }

    /// Makes the evaluation's error for a failure to look up the enrolled fingers.
    package init(_ error: EnrollmentError) {
        switch error.code {
        case .enrollmentTampered: self.init(.enrollmentTampered, cause: error.cause)
        case .enrollmentRolledBack: self.init(.enrollmentRolledBack, cause: error.cause)
        case .readerWasOpen, .accountRenamed:
            self.init(
                .enrollmentTampered,
                message: error.message,
                recovery: error.recovery,
                cause: error.cause
            )
        case .store(let error): self.init(error)
        case .reader(let error): self.init(error)
        case .lockedOut: self.init(.biometryLockout, cause: error.cause)
        case .changedMeanwhile:
            self.init(.systemCancel, message: error.message, recovery: error.recovery, cause: error.cause)
        // Looking up fingers never throws these errors; they count as failures.
        case .fingerExists, .duplicate, .inconsistent, .tooManyRetries, .timedOut, .noSuchFinger,
            .readerNotConnected, .ownerNeeded:
            self.init(
                .storeFailed,
                message: error.message,
                recovery: error.recovery,
                cause: error.description
            )
        }
    }
}

extension AuthenticationError {
    /// Makes the error for a reader's failure in the evaluation of the current task.
    ///
    /// If a reader reports "cancelled" and this task was not cancelled, the cause is the system, which goes to sleep,
    /// or the driver.
    package init(duringScan error: ReaderError) {
        guard error.code == .cancelled, !Task.isCancelled else {
            self.init(error)
            return
        }
        self.init(.systemCancel, message: error.message, recovery: error.recovery, cause: error.description)
    }
}

extension AuthenticationError {
    /// Makes the evaluation's error for a failure of the vault.
    package init(_ error: VaultError) {
        switch error.code {
        case .store(let error): self.init(error)
        case .passcodeNotSet: self.init(.passcodeNotSet)
        case .passcodeWrong, .passcodeThrottled, .passcodeBusy, .applicationPasswordThrottled, .chipLockedOut:
            self.init(error, as: .authenticationFailed)
        case .counterLost: self.init(error, as: .enrollmentRolledBack)
        case .noChip, .chipBusy, .chipCrowded, .chipFailed, .chipCleared, .ownerAuthorizationNeeded,
            .chipFull:
            self.init(error, as: .chipUnavailable)
        // Passcodes and counters never cause these errors; they count as failures.
        case .nameRefused, .noSuchItem, .itemExists, .enrollmentChanged, .itemTampered, .measuredBootChanged,
            .accessDenied, .applicationPasswordNeeded, .applicationPasswordWrong, .secretEmpty,
            .secretTooLarge, .digestWrongSize, .publicKeyRefused, .accessRefused, .passcodeExists,
            .passcodeWrongSize,
            .passcodeNeeded, .noEndorsement, .credentialRefused:
            self.init(error, as: .storeFailed)
        }
    }

    private init(_ error: VaultError, as code: Code) {
        self.init(code, message: error.message, recovery: error.recovery, cause: error.description)
    }
}
