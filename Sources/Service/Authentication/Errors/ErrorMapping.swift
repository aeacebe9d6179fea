// SPDX-License-Identifier: Apache-2.0

package import Enrollment
package import Fingerprint
package import StateStore

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
