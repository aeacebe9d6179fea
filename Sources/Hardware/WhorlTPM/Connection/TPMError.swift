// SPDX-License-Identifier: Apache-2.0

/// An error of a TPM operation.
package struct TPMError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: Sendable, Hashable {
        /// There is no TPM at the address.
        case noDevice
        /// The device node may not be opened by this user.
        case permission
        /// Another program holds the device node.
        case deviceBusy
        /// The TCTI string cannot be used.
        case invalidAddress
        /// The connection broke in the middle; the next call opens it again.
        case connectionLost
        /// The chip was restarted and has forgotten its loaded objects; the next call loads them again.
        case reset
        /// The chip asked to retry for longer than Whorl waits.
        case busy
        /// The chip is locked after wrong authorization values; `seconds` until it accepts one again, if known.
        case lockout(seconds: Int?)
        /// An authorization value was wrong.
        case authFailed
        /// The owner hierarchy has an authorization value, which Whorl never asks for.
        case ownerAuthNeeded
        /// The item's policy was not met.
        case policyFailed
        /// The caller's credentials cannot meet the policy; no command was sent.
        case missingCredential
        /// The chip has no room for another NV index or persistent object.
        case nvSpace
        /// An NV index or persistent object of this number exists.
        case nvDefined
        /// The NV index does not exist.
        case nvMissing
        /// The NV counter was never incremented.
        case nvUnwritten
        /// The blob was made by another chip, before this one was cleared, or is damaged.
        case foreignBlob
        /// The key at the storage root's handle is not the pinned one, or does not exist.
        case foreignRoot
        /// An answer was changed on its way, or does not come from the chip that holds the pinned storage root.
        case alteredAnswer
        /// Other programs use all slots for objects or sessions.
        case outOfSlots
        /// The stored bytes do not have the expected form.
        case malformed
        /// The given public key is not a point of the curve, or the product with it is not.
        case pointRefused
        /// There are more bytes than the chip or the command takes.
        case tooLarge
        /// The chip lacks a command or an algorithm.
        case unsupported
        /// The task was cancelled before the first command.
        case cancelled
        /// The chip is in failure mode.
        case failureMode
        /// Any other failure.
        case other
    }

    /// The kind of failure.
    package let code: Code
    /// The command that failed, such as `TPM2_Unseal`; empty if no command failed.
    package let command: String
    /// The response code of the TPM or of tpm2-tss, such as `0x921`.
    package let responseCode: UInt32?
    /// The cause for logs, in the words of tss2-rc; may be empty.
    package let cause: String

    /// Creates an error.
    package init(_ code: Code, command: String = "", responseCode: UInt32? = nil, cause: String = "") {
        self.code = code
        self.command = command
        self.responseCode = responseCode
        self.cause = cause
    }

    /// Returns the same error with another code, which fits the operation.
    func told(as code: Code) -> TPMError {
        TPMError(code, command: command, responseCode: responseCode, cause: cause)
    }

    /// For logs: code, command, number and cause.
    package var description: String {
        let number = responseCode.map { "TPM 0x" + String($0, radix: 16) }
        let details = [command, number ?? "", cause].filter { !$0.isEmpty }.joined(separator: ", ")
        return "\(code)" + (details.isEmpty ? "" : " (\(details))")
    }
}

extension TPMError {
    /// One sentence that says what happened.
    package var message: String {
        switch code {
        case .noDevice: "There is no TPM at the place where it was looked for."
        case .permission: "The TPM may not be opened by this user."
        case .deviceBusy: "Another program holds the TPM's device."
        case .invalidAddress: "The TPM's address cannot be used\(cause.isEmpty ? "" : ": \(cause)")."
        case .connectionLost: "The connection to the TPM was lost."
        case .reset: "The TPM was restarted in the middle."
        case .busy: "The TPM was busy for too long."
        case .lockout: "The TPM is locked after too many wrong tries."
        case .authFailed: "The TPM refused an authorization value."
        case .ownerAuthNeeded: "The TPM's owner hierarchy has an authorization value."
        case .policyFailed: "The TPM refused: the item's policy is not met."
        case .missingCredential: "Nothing at hand can meet the item's policy."
        case .nvSpace: "The TPM has no room left."
        case .nvDefined: "The TPM's index is taken."
        case .nvMissing: "The TPM's counter is gone."
        case .nvUnwritten: "The TPM's counter has no value."
        case .foreignBlob: "The TPM does not know this item."
        case .foreignRoot: "The TPM's storage key is not the one that was pinned."
        case .alteredAnswer: "An answer of the TPM was changed on its way."
        case .outOfSlots: "Other programs fill the TPM's memory."
        case .malformed: "Stored TPM data is damaged."
        case .pointRefused: "The other's public key is no point of the curve P-256."
        case .tooLarge: "This is more than the TPM takes."
        case .unsupported: "The TPM lacks what is needed."
        case .cancelled: "The operation was cancelled."
        case .failureMode: "The TPM is in failure mode."
        case .other: "The TPM reported an error."
        }
    }

    /// One sentence that says what the person can do.
    package var recovery: String {
        switch code {
        case .noDevice:
            "Switch the TPM 2.0 on in the firmware's set-up, or name another one with `--tcti` or `WHORL_TCTI`."
        case .permission:
            "Join the group that owns it and log in again: `sudo usermod -aG tss $USER`."
        case .deviceBusy:
            "Use the kernel's resource manager, `device:/dev/tpmrm0`, which serves several programs."
        case .invalidAddress: "Give one like `device:/dev/tpmrm0`."
        case .connectionLost, .reset: "Try again."
        case .busy: "Wait a moment, then try again."
        case .lockout(.some(let seconds)):
            "Wait \(seconds) seconds, or clear it with the lockout authorization: `tpm2_dictionarylockout -c`."
        case .lockout(nil):
            "Wait until it opens, or clear it with the lockout authorization: `tpm2_dictionarylockout -c`."
        case .authFailed: "Check the passcode, then try again."
        case .ownerAuthNeeded: "Clear it for the moment: `tpm2_changeauth -c owner -p OLD`."
        case .policyFailed:
            "The set of fingers or the measured boot may have changed: unlock with the passcode, or make the item anew."
        case .missingCredential: "Use one of the ways that the item was made for."
        case .nvSpace:
            "Remove indices that nobody needs: `tpm2_getcap handles-nv-index` lists them, `tpm2_nvundefine` removes one."
        case .nvDefined: "Another program uses this number; choose another one."
        case .nvMissing, .foreignRoot, .nvUnwritten:
            "If the TPM was cleared, provision anew: `whorl vault reset`, then `whorl vault provision`."
        case .foreignBlob:
            "It was made by another TPM or before this one was cleared; make the item anew."
        case .alteredAnswer:
            "Something stands between this machine and its TPM: check what `--tcti` names, and the hardware."
        case .outOfSlots: "End other programs that use the TPM, or use `device:/dev/tpmrm0`."
        case .malformed: "Restore the state directory from a backup, or make the item anew."
        case .pointRefused: "Have the other one send its public key again."
        case .tooLarge: "Use a smaller value."
        case .unsupported: "A TPM 2.0 with P-256, SHA-256 and AES-128 is needed; a firmware update may help."
        case .cancelled: "Start again."
        case .failureMode: "Restart the machine; if it comes again, the TPM may be broken."
        case .other: "Try again; `whorl doctor` says more about the TPM."
        }
    }
}
