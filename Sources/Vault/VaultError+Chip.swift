// SPDX-License-Identifier: Apache-2.0

package import TPM

extension VaultError {
    /// What a failure of the chip means, where nothing more is known about the operation.
    package init(_ error: TPMError, _ subject: String = "") {
        let code: Code =
            switch error.code {
            case .noDevice, .permission, .invalidAddress: .noChip
            case .deviceBusy, .busy, .connectionLost, .reset, .cancelled: .chipBusy
            case .outOfSlots: .chipCrowded
            case .lockout: .chipLockedOut
            case .ownerAuthNeeded: .ownerAuthorizationNeeded
            case .authFailed, .policyFailed, .missingCredential: .accessDenied
            case .nvSpace: .chipFull
            case .nvMissing, .nvUnwritten: .counterLost
            case .foreignRoot: .chipCleared
            case .foreignBlob, .malformed: .itemTampered
            case .pointRefused: .publicKeyRefused
            case .alteredAnswer, .lockoutAuthNeeded, .nvDefined, .tooLarge, .unsupported, .failureMode,
                .other:
                .chipFailed
            }
        self.init(code, subject, cause: error.description)
    }
}
