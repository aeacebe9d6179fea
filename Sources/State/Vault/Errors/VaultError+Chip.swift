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
            case .alteredAnswer, .nvDefined, .tooLarge, .unsupported, .failureMode,
                .other:
                .chipFailed
            }
        // Where there is no chip, the address that was tried says more than the item.
        self.init(code, code == .noChip ? error.cause : subject, cause: error.description)
    }
}
