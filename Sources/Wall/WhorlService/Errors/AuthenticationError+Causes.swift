// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint

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
        case .passcodeWrong, .passcodeThrottled, .chipLockedOut: self.init(error, as: .authenticationFailed)
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
