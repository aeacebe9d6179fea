// SPDX-License-Identifier: Apache-2.0

/// An error that occurred in a TPM operation.
package struct TPMError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: Sendable, Hashable {
        /// No TPM exists at the address.
        case noDevice
        /// The user has no permission to open the device node.
        case permission
        /// Another program is using the device node.
        case deviceBusy
        /// The TCTI string is invalid.
        case invalidAddress
        /// The connection was lost. The next call opens it again.
        case connectionLost
        /// The TPM was restarted and has forgotten its loaded objects. The next call loads them again.
        case reset
        /// The TPM requested retries for longer than Whorl waits.
        case busy
        /// The TPM is locked out after wrong authorization values. It accepts one again after the given number of
        /// seconds, if that is known.
        case lockout(seconds: Int?)
        /// An authorization value was wrong.
        case authFailed
        /// The owner hierarchy has an authorization value, which Whorl does not support.
        case ownerAuthNeeded
        /// The item's policy was not satisfied.
        case policyFailed
        /// The caller's credentials cannot satisfy the policy. No command was sent.
        case missingCredential
        /// The TPM has no space for another NV index or persistent object.
        case nvSpace
        /// An NV index or persistent object with this number already exists.
        case nvDefined
        /// The NV index does not exist.
        case nvMissing
        /// The NV counter has never been incremented.
        case nvUnwritten
        /// The blob belongs to another TPM, was created before this one was cleared, or is damaged.
        case foreignBlob
        /// The key at the storage root's handle does not exist or is not the pinned one.
        case foreignRoot
        /// A response was modified, or does not come from the TPM that contains the pinned storage root.
        case alteredAnswer
        /// Other programs are using all object or session slots.
        case outOfSlots
        /// The stored bytes have the wrong format.
        case malformed
        /// The public key or its product is not a point on the curve.
        case pointRefused
        /// The data is too large for the TPM or the command.
        case tooLarge
        /// The TPM does not support a command or an algorithm.
        case unsupported
        /// The task was cancelled before the first command.
        case cancelled
        /// The TPM is in failure mode.
        case failureMode
        /// Any other failure.
        case other
    }

    /// The kind of failure.
    package let code: Code
    /// The command that failed, such as `TPM2_Unseal`, or an empty string if no command failed.
    package let command: String
    /// The response code of the TPM or of tpm2-tss, such as `0x921`.
    package let responseCode: UInt32?
    /// The cause as described by tss2-rc, for logs, or an empty string if it is unknown.
    package let cause: String

    /// Creates an error.
    package init(_ code: Code, command: String = "", responseCode: UInt32? = nil, cause: String = "") {
        self.code = code
        self.command = command
        self.responseCode = responseCode
        self.cause = cause
    }

    /// Returns the same error with a code that is specific to the operation.
    func told(as code: Code) -> TPMError {
        TPMError(code, command: command, responseCode: responseCode, cause: cause)
    }

    /// The code, the command, the response code and the cause, for logs.
    package var description: String {
        let number = responseCode.map { "TPM 0x" + String($0, radix: 16) }
        let details = [command, number ?? "", cause].filter { !$0.isEmpty }.joined(separator: ", ")
        return "\(code)" + (details.isEmpty ? "" : " (\(details))")
    }
}

extension TPMError {
    /// A sentence that describes the failure.
    package var message: String {
        switch code {
        case .noDevice: "TPM not found."
        case .permission: "You are not allowed to open the TPM."
        case .deviceBusy: "The TPM device is in use by another program."
        case .invalidAddress: "Invalid TPM address\(cause.isEmpty ? "" : ": \(cause)")."
        case .connectionLost: "The connection to the TPM was lost."
        case .reset: "The TPM was restarted during the command."
        case .busy: "The TPM was busy for too long."
        case .lockout: "The TPM is locked after too many wrong attempts."
        case .authFailed: "The TPM rejected an authorization value."
        case .ownerAuthNeeded: "The TPM's owner hierarchy has an authorization value."
        case .policyFailed: "The TPM refused: the item's policy is not satisfied."
        case .missingCredential: "The item's policy cannot be satisfied."
        case .nvSpace: "The TPM's storage is full."
        case .nvDefined: "The TPM index is in use."
        case .nvMissing: "The TPM counter is missing."
        case .nvUnwritten: "The TPM counter has no value."
        case .foreignBlob: "The TPM does not recognize this item."
        case .foreignRoot: "The TPM's storage key is not the expected one."
        case .alteredAnswer: "A TPM response was modified in transit."
        case .outOfSlots: "The TPM's memory is in use by other programs."
        case .malformed: "Stored TPM data is damaged."
        case .pointRefused: "The peer's public key is not a point on P-256."
        case .tooLarge: "The value is too large for the TPM."
        case .unsupported: "The TPM lacks a required algorithm."
        case .cancelled: "The operation was canceled."
        case .failureMode: "The TPM is in failure mode."
        case .other: "The TPM reported an error."
        }
    }

    /// A sentence that tells the user what to do.
    package var recovery: String {
        switch code {
        case .noDevice:
            "Enable the TPM 2.0 in the firmware settings, or choose another one with `--tcti` or `WHORL_TCTI`."
        case .permission:
            "Add yourself to its group and log in again: `sudo usermod -aG tss $USER`."
        case .deviceBusy:
            "Use the kernel's resource manager, `device:/dev/tpmrm0`, which several programs can share."
        case .invalidAddress: "Use an address such as `device:/dev/tpmrm0`."
        case .connectionLost, .reset: "Try again."
        case .busy: "Wait a moment, then try again."
        case .lockout(.some(let seconds)):
            "Wait \(seconds) seconds, or clear it with the lockout authorization: `tpm2_dictionarylockout -c`."
        case .lockout(nil):
            "Wait until the lockout ends, or clear it with the lockout authorization: `tpm2_dictionarylockout -c`."
        case .authFailed: "Check the passcode, then try again."
        case .ownerAuthNeeded: "Clear it temporarily: `tpm2_changeauth -c owner -p OLD`."
        case .policyFailed:
            "The enrolled fingers or the boot measurements may have changed: unlock with the passcode, or create the item again."
        case .missingCredential: "Use a method that the item's access control allows."
        case .nvSpace:
            "Remove unused indexes: `tpm2_getcap handles-nv-index` lists them, `tpm2_nvundefine` removes one."
        case .nvDefined: "Another program uses this number; choose a different one."
        case .nvMissing, .foreignRoot, .nvUnwritten:
            "If the TPM was cleared, set it up again: `whorl vault reset`, then `whorl vault provision`."
        case .foreignBlob:
            "It was created by another TPM, or before this one was cleared. Create the item again."
        case .alteredAnswer:
            "Something may be intercepting the TPM: check `--tcti` and the hardware."
        case .outOfSlots: "Quit other programs that use the TPM, or use `device:/dev/tpmrm0`."
        case .malformed: "Restore the state directory from a backup, or create the item again."
        case .pointRefused: "Ask the peer to send its public key again."
        case .tooLarge: "Use a smaller value."
        case .unsupported:
            "Whorl requires a TPM 2.0 with P-256, SHA-256 and AES-128; a firmware update may help."
        case .cancelled: "Start again."
        case .failureMode: "Restart the computer. If the error returns, the TPM may be broken."
        case .other: "Try again; `whorl doctor` shows details about the TPM."
        }
    }
}
