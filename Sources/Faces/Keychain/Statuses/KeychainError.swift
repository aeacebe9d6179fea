// SPDX-License-Identifier: Apache-2.0

package import AuthenticationContext
package import StateStore
package import Vault

/// Why a call of the keychain did not do what it was asked for.
package struct KeychainError: Error, Sendable, Hashable {
    /// The number that the program gets.
    package let status: OSStatus

    /// Describes a failure.
    package init(_ status: OSStatus) { self.status = status }

    /// What a failure of the state directory means for a program.
    package init(_ error: StateError) {
        switch error.code {
        case .diskFull: self.init(errSecDiskFull)
        case .busy, .failed: self.init(errSecIO)
        case .notWritable, .tooOpen, .damaged, .newerVersion, .foreign, .keyMissing, .keyDamaged,
            .chipUnavailable:
            self.init(errSecNotAvailable)
        }
    }

    /// What a failure to recognise the owner means for a program: all but two are `errSecAuthFailed`, as on Apple's
    /// systems.
    package init(_ error: LAError) {
        switch error.code {
        case .userCancel: self.init(errSecUserCanceled)
        case .notInteractive: self.init(errSecInteractionNotAllowed)
        default: self.init(errSecAuthFailed)
        }
    }

    /// What a failure of the vault means for a program.
    package init(_ error: VaultError) {
        switch error.code {
        case .accessDenied, .applicationPasswordNeeded, .applicationPasswordWrong, .passcodeWrong,
            .passcodeThrottled, .measuredBootChanged, .chipLockedOut:
            self.init(errSecAuthFailed)
        case .noSuchItem, .enrollmentChanged: self.init(errSecItemNotFound)
        case .itemExists: self.init(errSecDuplicateItem)
        case .itemTampered: self.init(errSecInvalidRecord)
        // Apple's systems say so where an item asks for a passcode that is not set.
        case .passcodeNotSet, .passcodeNeeded, .passcodeExists, .noChip, .chipCleared, .accessRefused:
            self.init(errSecNotAvailable)
        case .nameRefused, .secretEmpty, .secretTooLarge, .digestWrongSize, .passcodeWrongSize,
            .publicKeyRefused:
            self.init(errSecParam)
        case .store(let error): self.init(error)
        case .chipBusy, .chipCrowded, .chipFailed, .ownerAuthorizationNeeded, .chipFull, .counterLost:
            self.init(errSecIO)
        }
    }

    /// What a failed operation on a protected item means for a program.
    package init(_ failure: ReleaseFailure) {
        switch failure {
        case .context(let error): self.init(error)
        case .vault(let error): self.init(error)
        }
    }
}
