// SPDX-License-Identifier: Apache-2.0

package import WhorlTPM
package import WhorlService

extension VaultError {
    /// Converts a failure of the chip, if no more is known about the operation.
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
        // If the chip is missing, the address that was tried is more useful than the item.
        self.init(code, code == .noChip ? error.cause : subject, cause: error.description)
    }
}
