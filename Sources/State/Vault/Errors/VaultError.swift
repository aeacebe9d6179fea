// SPDX-License-Identifier: Apache-2.0

public import StateStore

/// Why the vault did not give, keep or make what was asked for.
public struct VaultError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: Sendable, Hashable {
        /// There is no TPM, or this user may not use it.
        case noChip
        /// The chip does not answer now; nothing was changed.
        case chipBusy
        /// The chip's room for loaded objects and sessions is taken: by other programs, or by what killed ones have left.
        case chipCrowded
        /// The chip refused or broke a command in a way that has no name of its own here.
        case chipFailed
        /// The chip was cleared, or it is another one than the vault was made with.
        case chipCleared
        /// The chip's owner has set an authorization value, and something had to be made permanent in it.
        case ownerAuthorizationNeeded
        /// The chip has no room for another counter or permanent key.
        case chipFull
        /// The chip compares no passcode and no application password for a while, after too many wrong ones.
        case chipLockedOut
        /// The counter that binds keys to a set of fingers is gone from the chip, or was made anew.
        case counterLost

        /// The name cannot be used for an item.
        case nameRefused(ItemName.Refusal)
        /// There is no secret or key of this name.
        case noSuchItem
        /// There is a secret or key of this name already.
        case itemExists
        /// The set of fingers that the item is bound to is no more; it never opens again.
        case enrollmentChanged
        /// The item's row is not what Whorl wrote, or was made for another profile, name or chip.
        case itemTampered
        /// The machine did not start as it did when the item was bound to that.
        case measuredBootChanged
        /// What was shown does not meet the item's access control.
        case accessDenied
        /// The item takes an application password, and none was given.
        case applicationPasswordNeeded
        /// The application password is wrong.
        case applicationPasswordWrong
        /// A secret has at least one byte.
        case secretEmpty
        /// A secret has at most 1 MiB.
        case secretTooLarge(bytes: Int)
        /// Something to be signed is a SHA-256 digest of 32 bytes.
        case digestWrongSize(bytes: Int)
        /// What was given as another's public key is no point of P-256.
        case publicKeyRefused
        /// The access control cannot be read or makes no sense.
        case accessRefused(String)

        /// No passcode is set, and it is needed here.
        case passcodeNotSet
        /// A passcode is set already.
        case passcodeExists
        /// A passcode has 4 bytes at least and 1,024 at most.
        case passcodeWrongSize
        /// The passcode is wrong.
        case passcodeWrong
        /// Whorl compares no passcode for so long, after several wrong ones.
        case passcodeThrottled(for: Duration)
        /// These items would be lost with the passcode.
        case passcodeNeeded(by: [String])

        /// The state directory failed.
        case store(StateError)
    }

    /// What kind of failure it is.
    public let code: Code
    /// The item, profile or file that it is about; for `noChip` the address that was tried, with the system's words; empty
    /// when it is about the chip otherwise.
    public let subject: String
    /// What the chip or the system said, for logs; may be empty.
    ///
    /// It never holds a secret.
    public let cause: String

    /// Describes a failure.
    public init(_ code: Code, _ subject: String = "", cause: String = "") {
        self.code = code
        self.subject = subject
        self.cause = cause
    }

    /// For logs: code, subject and cause.
    public var description: String {
        "\(code)" + (subject.isEmpty ? "" : ": \(subject)") + (cause.isEmpty ? "" : " (\(cause))")
    }

    /// The exit code of the command line for this failure.
    public var exitCode: Int32 {
        switch code {
        // Whatever keeps the chip from being used, as where it keeps the state key; the code tells which.
        case .noChip, .chipBusy, .chipCrowded, .chipFailed, .chipCleared, .ownerAuthorizationNeeded,
            .chipFull:
            31
        case .noSuchItem: 32
        case .enrollmentChanged, .itemTampered, .measuredBootChanged, .counterLost: 33
        case .itemExists, .passcodeExists: 34
        // As an evaluation ends that no passcode can meet for now.
        case .accessDenied, .applicationPasswordWrong, .passcodeWrong, .passcodeThrottled, .chipLockedOut: 10
        case .passcodeNotSet: 14
        case .nameRefused, .secretEmpty, .secretTooLarge, .digestWrongSize, .publicKeyRefused,
            .accessRefused, .passcodeWrongSize, .applicationPasswordNeeded:
            64
        case .store: 74
        case .passcodeNeeded: 1
        }
    }
}
