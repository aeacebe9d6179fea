// SPDX-License-Identifier: Apache-2.0

package import AuthenticationContext
package import WhorlService

/// An error of a keychain call.
package struct KeychainError: Error, Sendable, Hashable {
    /// The status that the program receives.
    package let status: OSStatus
    /// The failure of the state directory that caused it, if one did.
    package let cause: StateError?

    /// Makes an error with a status.
    package init(_ status: OSStatus) {
        self.status = status
        cause = nil
    }

    /// Makes the error for a failure of the state directory.
    package init(_ error: StateError) {
        status =
            switch error.code {
            case .diskFull, .quotaReached: errSecDiskFull
            case .busy, .failed: errSecIO
            case .notWritable, .tooOpen, .damaged, .newerVersion, .foreign, .keyMissing, .keyDamaged,
                .chipUnavailable:
                errSecNotAvailable
            }
        cause = error
    }

    /// Makes the error for a failure to recognise the owner: `errSecAuthFailed` in all but two cases, as on Apple's
    /// systems.
    package init(_ error: LAError) {
        switch error.code {
        case .userCancel: self.init(errSecUserCanceled)
        case .notInteractive: self.init(errSecInteractionNotAllowed)
        default: self.init(errSecAuthFailed)
        }
    }

    /// Makes the error for a failure of the vault.
    package init(_ error: VaultError) {
        switch error.code {
        case .accessDenied, .applicationPasswordNeeded, .applicationPasswordWrong, .passcodeWrong,
            .passcodeThrottled, .passcodeBusy, .applicationPasswordThrottled, .measuredBootChanged,
            .chipLockedOut:
            self.init(errSecAuthFailed)
        case .noSuchItem, .enrollmentChanged: self.init(errSecItemNotFound)
        case .itemExists: self.init(errSecDuplicateItem)
        case .itemTampered: self.init(errSecInvalidRecord)
        // Apple's systems return this status if an item requires a passcode that is not set.
        case .passcodeNotSet, .passcodeNeeded, .passcodeExists, .noChip, .chipCleared, .accessRefused,
            .noEndorsement:
            self.init(errSecNotAvailable)
        case .nameRefused, .secretEmpty, .secretTooLarge, .digestWrongSize, .passcodeWrongSize,
            .publicKeyRefused, .credentialRefused:
            self.init(errSecParam)
        case .store(let error): self.init(error)
        case .chipBusy, .chipCrowded, .chipFailed, .ownerAuthorizationNeeded, .chipFull, .counterLost:
            self.init(errSecIO)
        }
    }

    /// Makes the error for a failed operation on a protected item.
    package init(_ failure: ReleaseFailure) {
        switch failure {
        case .context(let error): self.init(error)
        case .vault(let error): self.init(error)
        }
    }
}
