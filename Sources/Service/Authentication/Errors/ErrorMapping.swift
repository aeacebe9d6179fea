// SPDX-License-Identifier: Apache-2.0

package import Enrollment
package import Fingerprint
package import StateStore

extension AuthenticationError {
    /// What a failure of the state directory means for an evaluation.
    package init(_ error: StateError) {
        self.init(
            error.code == .chipUnavailable ? .chipUnavailable : .storeFailed,
            message: error.message,
            recovery: error.recovery,
            cause: error.description
        )
    }

    /// What a failure to look the enrolled fingers up means for an evaluation.
    package init(_ error: EnrollmentError) {
        switch error.code {
        case .enrollmentTampered: self.init(.enrollmentTampered, cause: error.cause)
        case .enrollmentRolledBack: self.init(.enrollmentRolledBack, cause: error.cause)
        case .store(let error): self.init(error)
        case .reader(let error): self.init(error)
        case .lockedOut: self.init(.biometryLockout, cause: error.cause)
        case .changedMeanwhile:
            self.init(.systemCancel, message: error.message, recovery: error.recovery, cause: error.cause)
        // None of these comes from looking fingers up; none of them is a success.
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
    /// What a reader's failure means in the evaluation of the current task.
    ///
    /// "Cancelled" without this task having been cancelled comes from the system, which goes to sleep, or
    /// from the driver.
    package init(duringScan error: ReaderError) {
        guard error.code == .cancelled, !Task.isCancelled else {
            self.init(error)
            return
        }
        self.init(.systemCancel, message: error.message, recovery: error.recovery, cause: error.description)
    }
}
