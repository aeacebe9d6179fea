// SPDX-License-Identifier: Apache-2.0

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
        case .passcodeNeeded: "passcodeNeeded"
        case .store: "store"
        }
    }
}
