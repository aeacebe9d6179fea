// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// An error of opening, storing or making an item, or of using the passcode or the chip.
public struct VaultError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// The machine has no TPM, or this user may not use it.
        case noChip
        /// The chip does not answer at the moment; nothing was changed.
        case chipBusy
        /// The chip's room for loaded objects and sessions is used up, by other programs or by remains of killed ones.
        case chipCrowded
        /// The chip refused a command, or failed at it, in a way that no other code covers.
        case chipFailed
        /// The chip was cleared, or it is another one than the vault was made with.
        case chipCleared
        /// The chip's owner has set an authorization value, and something had to be made permanent in it.
        case ownerAuthorizationNeeded
        /// The chip has no room for another counter or permanent key.
        case chipFull
        /// After too many wrong tries, the chip refuses to compare passcodes and application passwords for a while.
        case chipLockedOut
        /// The counter that binds keys to a set of fingers was removed from the chip, or was replaced by a new one.
        case counterLost

        /// The chip has no certificate of its maker for an endorsement key of P-256 or RSA.
        case noEndorsement
        /// A server's credential is for another chip, or for another attestation key.
        case credentialRefused

        /// The name cannot be used for an item.
        case nameRefused(ItemName.Refusal)
        /// No secret or key has this name.
        case noSuchItem
        /// A secret or key of this name already exists.
        case itemExists
        /// The set of fingers that the item is bound to has changed; the item never opens again.
        case enrollmentChanged
        /// The item's row is not what Whorl wrote, or was made for another profile, name or chip.
        case itemTampered
        /// The machine's start differs from the one that the item is bound to.
        case measuredBootChanged
        /// The given proof does not meet the item's access control.
        case accessDenied
        /// The item takes an application password, and none was given.
        case applicationPasswordNeeded
        /// The application password is wrong.
        case applicationPasswordWrong
        /// The secret is empty; it must have at least one byte.
        case secretEmpty
        /// The secret is larger than 1 MiB.
        case secretTooLarge(bytes: Int)
        /// The digest to be signed is not 32 bytes (SHA-256) long.
        case digestWrongSize(bytes: Int)
        /// The other party's public key is not a point of P-256.
        case publicKeyRefused
        /// The access control cannot be read or makes no sense.
        case accessRefused(String)

        /// The operation needs a passcode, and none is set.
        case passcodeNotSet
        /// A passcode is set already.
        case passcodeExists
        /// The passcode is shorter than 4 bytes or longer than 1,024.
        case passcodeWrongSize
        /// The passcode is wrong.
        case passcodeWrong
        /// After several wrong tries, Whorl refuses to compare passcodes for this time.
        case passcodeThrottled(for: Duration)
        /// As many passcodes and application passwords of this user as may wait are waiting to be compared.
        case passcodeBusy
        /// After several wrong application passwords of this user, Whorl tries none for this time.
        case applicationPasswordThrottled(for: Duration)
        /// These items would be lost with the passcode.
        case passcodeNeeded(by: [String])

        /// The state directory failed.
        case store(StateError)
    }

    /// The kind of failure.
    public let code: Code
    /// The item, profile or file that the error is about; for `noChip` the address that was tried, with the system's
    /// words; empty for other errors of the chip.
    public let subject: String
    /// The message of the chip or the system, for logs; may be empty.
    ///
    /// It never holds a secret.
    public let cause: String

    /// Describes a failure.
    public init(_ code: Code, _ subject: String = "", cause: String = "") {
        self.code = code
        self.subject = subject
        self.cause = cause
    }

    /// The code, the subject and the cause, for logs.
    public var description: String {
        "\(code)" + (subject.isEmpty ? "" : ": \(subject)") + (cause.isEmpty ? "" : " (\(cause))")
    }
}

extension VaultError.Code {
    /// The name of the code, without the values that belong to it; programs compare it, so it never changes.
    public var name: String {
        switch self {
        case .noChip: "noChip"
        case .chipBusy: "chipBusy"
        case .chipCrowded: "chipCrowded"
        case .chipFailed: "chipFailed"
        case .chipCleared: "chipCleared"
        case .ownerAuthorizationNeeded: "ownerAuthorizationNeeded"
        case .chipFull: "chipFull"
        case .chipLockedOut: "chipLockedOut"
        case .counterLost: "counterLost"
        case .noEndorsement: "noEndorsement"
        case .credentialRefused: "credentialRefused"
        case .nameRefused: "nameRefused"
        case .noSuchItem: "noSuchItem"
        case .itemExists: "itemExists"
        case .enrollmentChanged: "enrollmentChanged"
        case .itemTampered: "itemTampered"
        case .measuredBootChanged: "measuredBootChanged"
        case .accessDenied: "accessDenied"
        case .applicationPasswordNeeded: "applicationPasswordNeeded"
        case .applicationPasswordWrong: "applicationPasswordWrong"
        case .secretEmpty: "secretEmpty"
        case .secretTooLarge: "secretTooLarge"
        case .digestWrongSize: "digestWrongSize"
        case .publicKeyRefused: "publicKeyRefused"
        case .accessRefused: "accessRefused"
        case .passcodeNotSet: "passcodeNotSet"
        case .passcodeExists: "passcodeExists"
        case .passcodeWrongSize: "passcodeWrongSize"
        case .passcodeWrong: "passcodeWrong"
        case .passcodeThrottled: "passcodeThrottled"
        case .passcodeBusy: "passcodeBusy"
        case .applicationPasswordThrottled: "applicationPasswordThrottled"
        case .passcodeNeeded: "passcodeNeeded"
        case .store: "store"
        }
    }
}

extension VaultError {
    /// One sentence that says what happened.
    public var message: String {
        switch code {
        case .noChip: "There is no TPM that this user can use" + (subject.isEmpty ? "." : " (\(subject)).")
        case .chipBusy: "The TPM is busy, or the connection to it was lost."
        case .chipCrowded:
            "The TPM's memory is taken by other programs, or by what killed ones have left in it."
        case .chipFailed: "The TPM refused a command."
        case .chipCleared: "The TPM was cleared, or it is not the one that this vault was made with."
        case .ownerAuthorizationNeeded: "The TPM's owner authorization is set, and Whorl does not know it."
        case .chipFull: "The TPM has no room left."
        case .chipLockedOut:
            "The TPM compares no passcode and no application password for now: too many were wrong."
        case .counterLost: "The counter that binds keys to the enrolled fingers is gone from the TPM."
        case .noEndorsement: "The TPM holds no certificate of its maker for a key of P-256 or RSA."
        case .credentialRefused: "The server's credential is for another TPM."
        case .nameRefused(let refusal): refusal.message
        case .noSuchItem: "There is no \(subject)."
        case .itemExists: "There is a \(subject) already."
        case .enrollmentChanged:
            "The \(subject) is not valid any more: a finger was added or removed since it was made."
        case .itemTampered: "The \(subject) was changed from outside, or does not belong here."
        case .measuredBootChanged:
            "The machine did not start as it did when the \(subject) was bound to that."
        case .accessDenied: "What was shown does not open the \(subject)."
        case .applicationPasswordNeeded: "The \(subject) takes an application password."
        case .applicationPasswordWrong: "The application password of the \(subject) is wrong."
        case .secretEmpty: "An empty secret is not kept."
        case .secretTooLarge(let bytes):
            "A secret has at most \(SecretSize.allowed.upperBound) bytes (1 MiB); this one has \(bytes)."
        case .digestWrongSize(let bytes): "A SHA-256 digest has 32 bytes; this one has \(bytes)."
        case .publicKeyRefused: "The other's public key is no point of the curve P-256."
        case .accessRefused(let why): "This access control cannot be used: \(why)."
        case .passcodeNotSet: "No passcode is set."
        case .passcodeExists: "A passcode is set already."
        case .passcodeWrongSize:
            "A passcode has \(PasscodeSize.allowed.lowerBound) to \(PasscodeSize.allowed.upperBound) bytes."
        case .passcodeWrong: "The passcode is wrong."
        case .passcodeThrottled(let wait):
            "Too many passcodes were wrong; the next is compared in \(wait.spoken)."
        case .passcodeBusy: "Too many passcodes and application passwords of this user wait to be compared."
        case .applicationPasswordThrottled(let wait):
            "Too many application passwords of this user were wrong; the next is tried in \(wait.spoken)."
        case .passcodeNeeded(let items): "Without a passcode this would be lost: \(VaultError.list(items))."
        case .store(let error): error.message
        }
    }

    /// One sentence that says what the person can do.
    public var recovery: String {
        switch code {
        case .noChip where !subject.isEmpty && !subject.hasPrefix("/dev/tpm"):
            "Correct what `--tcti` or WHORL_TCTI names, or start it; `--tcti none` goes without a TPM."
        case .noChip:
            "Turn the TPM on in the firmware, or join the group that may use it: "
                + "`sudo usermod -aG tss $USER`, then log in again; `whorl doctor` says which."
        case .chipBusy: "Try again; if it stays so, another program holds the TPM."
        case .chipCrowded:
            "Use the kernel's resource manager, `--tcti device:/dev/tpmrm0`, which clears up; where there is none, end "
                + "other programs, then `tpm2_flushcontext -t` and `tpm2_flushcontext -l`."
        case .chipFailed: "Run `whorl doctor`: it shows what the TPM says about itself."
        case .chipCleared:
            "What it held is lost; begin anew with `whorl vault reset`, then `whorl vault provision`."
        case .ownerAuthorizationNeeded:
            "Clear it for the moment with `tpm2_changeauth -c owner -p OLD`, run `whorl vault provision`, "
                + "and set it again."
        case .chipFull:
            "List what is in it with `tpm2_getcap handles-nv-index`, and remove what no program needs."
        case .chipLockedOut:
            "Wait (`tpm2_getcap properties-variable` shows how long), or clear it with `tpm2_dictionarylockout -c`."
        case .counterLost:
            "With the passcode: `whorl fingers accept`. Without: `whorl remove --all`, then `whorl enroll`; keys bound to "
                + "the old set are lost."
        case .noEndorsement:
            "Enable the login without `--attest`; `tpm2_getcap handles-nv-index` shows whether 0x1C0000A or 0x1C00002 is there."
        case .credentialRefused: "Try again; if it stays so, the server made it for another machine."
        case .nameRefused: "Name it with letters, digits, spaces and `-_.@+:`, as in `github-token`."
        case .noSuchItem: "`whorl secret list` and `whorl key list` show what there is."
        case .itemExists: "Choose another name, or delete that one first."
        case .enrollmentChanged: "Delete it and make it again for the present set of fingers."
        case .itemTampered: "Delete it and make it again, or restore the whole state directory from a backup."
        case .measuredBootChanged:
            "If the firmware was updated, bind it anew with the passcode: `whorl vault reseal`."
        case .accessDenied: "Use another of the ways that its access control allows."
        case .applicationPasswordNeeded: "Give it with `--application-password-fd N`."
        case .applicationPasswordWrong: "Try again with the password that it was made with."
        case .secretEmpty: "Give it at least one byte on standard input."
        case .secretTooLarge: "Encrypt the data with a key of its own, and keep that key here."
        case .digestWrongSize: "Hash the message with SHA-256 first."
        case .publicKeyRefused: "Have the other one send its public key again, as ANSI X9.63."
        case .accessRefused:
            "Use biometry-any, biometry-current-set, passcode, user-presence or none, "
                + "joined by -or- and -and-, and +application-password or +pcrs:7 behind it."
        case .passcodeNotSet: "Set one: `whorl passcode set`."
        case .passcodeExists: "Change it with `whorl passcode change`."
        case .passcodeWrongSize: "Choose another one."
        case .passcodeWrong: "Try again; after five wrong ones there is a wait."
        case .passcodeThrottled, .applicationPasswordThrottled: "Wait, then try again."
        case .passcodeBusy: "Try again, and end the program that sends so many."
        case .passcodeNeeded: "Delete those first, or lose them with `--force`."
        case .store(let error): error.recovery
        }
    }

    private static func list(_ items: [String]) -> String {
        let shown = items.prefix(10).joined(separator: ", ")
        return items.count > 10 ? "\(shown) and \(items.count - 10) more" : shown
    }
}

extension VaultError {
    /// The error of a service that has no vault.
    package static var noVault: VaultError { VaultError(.noChip, cause: "no vault") }
}

extension VaultError {
    /// The error of a change that the system's rules, or the caller's place, do not allow.
    package init(notAllowed error: AuthenticationError) {
        let cause = StateError(
            .failed,
            path: "polkit",
            message: error.message,
            recovery: error.recovery,
            cause: "\(error.message) \(error.recovery)"
        )
        self.init(.store(cause), "polkit")
    }
}
