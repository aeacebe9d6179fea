// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

// The one table of the errors. A row is a code with everything that depends on it: the kind of handling, Apple's number,
// the status of a keychain call, the exit status of `whorl`, and two sentences. A new error is a row here and its name in
// the list at the end.

/// Recognizing the owner; the names are Apple's where Apple has one.
extension ServiceError.Code {
    /// Three presentations did not match.
    public static let authenticationFailed = row(
        "authenticationFailed",
        .notAuthenticated,
        .authFailed,
        apple: -1
    )
    .message("The finger did not match.")
    .recovery("Try again with an enrolled finger; `whorl fingers` lists them.")
    /// The person pressed cancel.
    public static let userCancel = row("userCancel", .cancelled, .userCanceled, apple: -2)
        .message("The request was cancelled.")
        .recovery("Start again when ready.")
    /// The person pressed the fallback button.
    public static let userFallback = row("userFallback", .cancelled, .authFailed, apple: -3, exit: 12)
        .message("The other way to authenticate was chosen.")
        .recovery("Continue with the program's own way.")
    /// The system ended the request.
    public static let systemCancel = row("systemCancel", .cancelled, .authFailed, apple: -4, exit: 13)
        .message("The system ended the request.")
        .recovery("Try again.")
    /// No finger came in time.
    public static let timedOut = row("timedOut", .cancelled, .authFailed, apple: -4, exit: 13)
        .message("No finger came in time.")
        .recovery("Try again, and touch the reader when asked.")
    /// No passcode is set, and nothing else can meet the policy.
    public static let passcodeNotSet = row("passcodeNotSet", .notSetUp, .notAvailable, apple: -5)
        .message("No passcode is set.")
        .recovery("Set one: `whorl passcode set`.")
    /// No usable reader is connected.
    public static let biometryNotAvailable = row(
        "biometryNotAvailable",
        .readerUnavailable,
        .authFailed,
        apple: -6
    )
    .message("No usable fingerprint reader is there.")
    .recovery("Run `whorl doctor`: it looks for the cause.")
    /// The lid is shut over the reader.
    public static let lidShut = row("lidShut", .readerUnavailable, .authFailed, apple: -6)
        .message("The lid is shut over the fingerprint reader.")
        .recovery("Open the lid.")
    /// The person has told this program not to use fingers.
    public static let biometryOptedOut = row("biometryOptedOut", .other, .authFailed, apple: -6)
        .message("Fingerprints are turned off for this program.")
        .recovery("Allow fingerprints for the program again: `whorl biometry allow`.")
    /// No finger is enrolled for the connected reader.
    public static let biometryNotEnrolled = row(
        "biometryNotEnrolled",
        .notSetUp,
        .authFailed,
        apple: -7,
        exit: 16
    )
    .message("No finger is enrolled for this reader.")
    .recovery("Enroll a finger: `whorl enroll right-index-finger`.")
    /// Too many presentations did not match.
    public static let biometryLockout = row(
        "biometryLockout",
        .notAuthenticated,
        .authFailed,
        apple: -8,
        exit: 17
    )
    .message("Too many fingers did not match; fingerprints are locked.")
    .recovery("Verify the passcode; where none is set, wait until the lock ends.")
    /// Too many presentations in a row did not match at a place where anyone can name anyone.
    public static let placeRests = row("placeRests", .notAuthenticated, .authFailed, apple: -8, exit: 17)
        .message("Too many fingers in a row were not recognised here. Try again later.")
        .recovery("Wait; an administrator ends the wait with `whorl unlock`.")
    /// The program cancelled.
    public static let appCancel = row("appCancel", .cancelled, .authFailed, apple: -9, exit: 18)
        .message("The program cancelled the request.")
        .recovery("Start again when ready.")
    /// The context was invalidated before.
    public static let invalidContext = row(
        "invalidContext",
        .invalidRequest,
        .authFailed,
        apple: -10,
        exit: 19
    )
    .message("The context was invalidated before.")
    .recovery("Make a new context.")
    /// A prompt would be needed and cannot be shown.
    public static let notInteractive = row(
        "notInteractive",
        .notInteractive,
        .interactionNotAllowed,
        apple: -1004
    )
    .message("A prompt would be needed and cannot be shown.")
    .recovery("Run it in a terminal, or give the program a presenter of its own.")
    /// The reader that fingers are enrolled for is not connected, or was unplugged.
    public static let biometryDisconnected = row(
        "biometryDisconnected",
        .readerUnavailable,
        .authFailed,
        apple: -13,
        exit: 21
    )
    .message("The reader that the fingers are enrolled for is not connected.")
    .recovery("Plug the reader in, or enroll a finger on the connected one.")
    /// The reason is empty.
    public static let reasonMissing = row("reasonMissing", .invalidRequest, .authFailed, apple: -10)
        .message("The reason for the request is empty.")
        .recovery("Say in the request why the finger is needed.")
    /// The enrolled fingers were changed from outside.
    public static let enrollmentTampered = row(
        "enrollmentTampered",
        .noLongerValid,
        .authFailed,
        apple: -6,
        exit: 30
    )
    .message("The enrolled fingers were changed from outside.")
    .recovery(
        """
        With the passcode: `whorl fingers accept`. Without: `whorl remove --all`, then `whorl \
        enroll`.
        """
    )
    /// The enrolled fingers are an older state than the one last seen.
    public static let enrollmentRolledBack = row(
        "enrollmentRolledBack",
        .noLongerValid,
        .authFailed,
        apple: -6,
        exit: 30
    )
    .message("The enrolled fingers are an older state than the one last seen.")
    .recovery(
        """
        With the passcode: `whorl fingers accept`. Without: `whorl remove --all`, then `whorl \
        enroll`.
        """
    )
    /// The reader is in use.
    public static let readerInUse = row("readerInUse", .readerUnavailable, .authFailed, apple: -4, exit: 35)
        .message("The fingerprint reader is in use.")
        .recovery("Wait for the other program to end, then try again.")
    /// A reader has to be chosen, and the choice is not clear or not allowed.
    public static let readerNotChosen = row("readerNotChosen", .invalidRequest, .authFailed, apple: -6)
        .message("It is not clear which fingerprint reader is meant.")
        .recovery("Name one with `--reader` or WHORL_READER; `whorl devices` lists them.")
    /// The system's rules (polkit) do not allow it, or not from here.
    public static let notPermitted = row("notPermitted", .notAuthenticated, .authFailed, exit: 36)
        .message("The system's rules (polkit) do not allow this.")
        .recovery("Ask an administrator, or run it with `sudo`.")
    /// The service whorld did not answer.
    public static let serviceUnavailable = row("serviceUnavailable", .storage, .notAvailable)
        .message("The service whorld does not answer.")
        .recovery("Run `whorl doctor`: it says whether the service runs.")
}

/// Enrolling, removing and looking up fingers.
extension ServiceError.Code {
    /// A finger of this name is enrolled for this reader.
    public static let fingerExists = row("fingerExists", .alreadyExists, .duplicateItem)
        .message { "The \($0.spokenFinger) is enrolled for this reader already." }
        .recovery { "Remove it first: `whorl remove \($0[.finger])`." }
    /// The same finger is enrolled; under which name, is in the details if it is known.
    public static let duplicate = row("duplicate", .alreadyExists, .duplicateItem)
        .message {
            $0[.finger].isEmpty
                ? "This finger is enrolled in the reader already."
                : "This finger is enrolled already, as the \($0.spokenFinger)."
        }
        .recovery {
            $0[.finger].isEmpty
                ? "Another user or system may have enrolled it: remove it there; `whorl doctor` lists such prints."
                : "Use it as it is, or remove it first: `whorl remove \($0[.finger])`."
        }
    /// The last presentation did not match the print: the presses were not of one finger.
    public static let inconsistent = row("inconsistent", .other, .authFailed)
        .message("The presses were not of one finger.")
        .recovery("Enroll again, with the same finger at every touch.")
    /// Too many presentations could not be read.
    public static let tooManyRetries = row("tooManyRetries", .other, .authFailed)
        .message("The finger could not be read too many times in a row.")
        .recovery("Clean the sensor and the finger, then enroll again.")
    /// Other programs could open the reader that keeps a print, so the print may be another person's by now.
    public static let readerWasOpen = row("readerWasOpen", .noLongerValid, .authFailed, apple: -6, exit: 30)
        .message("Other programs could open the reader, so the fingers in it are not trusted.")
        .recovery("Enroll them again: `whorl remove --all`, then `whorl enroll`.")
    /// The account's name changed, and no one has confirmed yet that the person is the same.
    public static let accountRenamed = row("accountRenamed", .noLongerValid, .authFailed, apple: -6, exit: 30)
        .message("The name of this account changed, so its fingers are not trusted yet.")
        .recovery(
            """
            Enter the passcode: `whorl passcode verify`. Without one, an administrator runs `sudo \
            whorl account renamed`.
            """
        )
    /// The owner has to agree first: by an enrolled finger or the passcode.
    public static let ownerNeeded = row("ownerNeeded", .notAuthenticated, .authFailed)
        .message("The owner has to agree: with an enrolled finger, or the passcode.")
        .recovery("Touch the reader with an enrolled finger, or type the passcode, when asked.")
    /// The fingers, or the passcode, changed after the owner was asked.
    public static let changedMeanwhile = row("changedMeanwhile", .cancelled, .authFailed, apple: -4, exit: 13)
        .message("The enrolled fingers changed after the owner was asked.")
        .recovery("`whorl fingers` lists the enrolled ones; start again.")
    /// No such finger is enrolled.
    public static let noSuchFinger = row("noSuchFinger", .notFound, .itemNotFound)
        .message("No such finger is enrolled.")
        .recovery("`whorl fingers` lists the enrolled ones.")
    /// The reader that keeps the print is not connected.
    public static let readerNotConnected = row(
        "readerNotConnected",
        .readerUnavailable,
        .authFailed,
        apple: -13,
        exit: 21
    )
    .message { "The reader \($0[.reader]), which keeps the print, is not connected." }
    .recovery(
        """
        Connect it and try again, or remove by force: the print then stays in the reader until it \
        is connected again.
        """
    )
}

/// The reader itself; the texts are those of ``ReaderError``.
extension ServiceError.Code {
    /// This user may not open the reader.
    public static let readerNotPermitted = row(
        "readerNotPermitted",
        .readerUnavailable,
        .authFailed,
        apple: -6
    )
    .message("This user may not open the fingerprint reader.")
    .recovery(
        "An administrator has to install the service whorld: `sudo make install`, or the package whorld."
    )
    /// The reader is not open.
    public static let readerNotOpen = row("readerNotOpen", .readerUnavailable, .authFailed, apple: -6)
        .message("The fingerprint reader is not open.")
        .recovery("Open the reader first.")
    /// The reader cannot do this.
    public static let readerUnsupported = row("readerUnsupported", .readerUnavailable, .authFailed, apple: -6)
        .message("The fingerprint reader cannot do this.")
        .recovery("Use another reader, or do without this; `whorl devices` lists what each one can do.")
    /// The reader has no room for another template.
    public static let readerFull = row("readerFull", .readerUnavailable, .authFailed, apple: -6)
        .message("The fingerprint reader has no room for another print.")
        .recovery("Remove a finger that is not needed: `whorl fingers`, then `whorl remove`.")
    /// The file that keeps programs from using one reader at once cannot be trusted.
    public static let readerLockUnusable = row(
        "readerLockUnusable",
        .readerUnavailable,
        .authFailed,
        apple: -6
    )
    .message("The fingerprint reader cannot be locked for one program at a time.")
    .recovery("Do what the reason says, then try again; `whorl doctor` shows it.")
    /// The template is not in the reader.
    public static let printNotFound = row("printNotFound", .notFound, .authFailed, apple: -6)
        .message("The print is not in the fingerprint reader.")
        .recovery("Remove the finger here and enroll it again.")
    /// A template cannot be read by this reader.
    public static let printRefused = row("printRefused", .readerUnavailable, .authFailed, apple: -6)
        .message("The stored print does not belong to this fingerprint reader.")
        .recovery("Connect the reader it was enrolled with, or enroll the finger again on this one.")
    /// The reader is too warm.
    public static let readerTooHot = row("readerTooHot", .readerUnavailable, .authFailed, apple: -6)
        .message("The fingerprint reader is too warm.")
        .recovery("Wait a minute, then try again.")
    /// The reader said something that cannot be true.
    public static let readerUntrustworthy = row(
        "readerUntrustworthy",
        .readerUnavailable,
        .authFailed,
        apple: -6
    )
    .message("The fingerprint reader gave an answer that cannot be true.")
    .recovery("Do not rely on this reader; report it with the output of `whorl doctor --json`.")
    /// Anything else that the driver reports.
    public static let readerFailed = row("readerFailed", .readerUnavailable, .authFailed, apple: -6)
        .message("The fingerprint reader failed.")
        .recovery(
            """
            Unplug the reader, plug it in again, and try once more; `whorl doctor` helps if that \
            fails.
            """
        )
}

/// The TPM.
extension ServiceError.Code {
    /// The TPM that protects the state directory cannot be used.
    public static let chipUnavailable = row("chipUnavailable", .chipUnavailable, .notAvailable)
        .message {
            $0.subject.isEmpty
                ? "The TPM that protects the state directory cannot be used."
                : "The TPM that protects \($0.subject) cannot be used."
        }
        .recovery("Run `whorl vault status`: it says what is wrong with it.")
    /// The machine has no TPM, or this user may not use it; the subject is the address that was tried.
    public static let noChip = row("noChip", .chipUnavailable, .notAvailable)
        .message {
            "There is no TPM that this user can use" + ($0.subject.isEmpty ? "." : " (\($0.subject)).")
        }
        .recovery { forChip(at: $0.subject) }
    /// The chip does not answer at the moment; nothing was changed.
    public static let chipBusy = row("chipBusy", .chipUnavailable, .io)
        .message("The TPM is busy, or the connection to it was lost.")
        .recovery("Try again; if it stays so, another program holds the TPM.")
    /// The chip's room for loaded objects and sessions is used up, by other programs or by remains of killed ones.
    public static let chipCrowded = row("chipCrowded", .chipUnavailable, .io)
        .message("The TPM's memory is taken by other programs, or by what killed ones have left in it.")
        .recovery(
            """
            Use the kernel's resource manager, `--tcti device:/dev/tpmrm0`, which clears up; where \
            there is none, end other programs, then `tpm2_flushcontext -t` and `tpm2_flushcontext \
            -l`.
            """
        )
    /// The chip refused a command, or failed at it, in a way that no other code covers.
    public static let chipFailed = row("chipFailed", .chipUnavailable, .io)
        .message("The TPM refused a command.")
        .recovery("Run `whorl doctor`: it shows what the TPM says about itself.")
    /// The chip was cleared, or it is another one than the vault was made with.
    public static let chipCleared = row("chipCleared", .chipUnavailable, .notAvailable)
        .message("The TPM was cleared, or it is not the one that this vault was made with.")
        .recovery(
            """
            What it held is lost; begin anew with `whorl vault reset`, then `whorl vault provision`.
            """
        )
    /// The chip's owner has set an authorization value, and something had to be made permanent in it.
    public static let ownerAuthorizationNeeded = row("ownerAuthorizationNeeded", .chipUnavailable, .io)
        .message("The TPM's owner authorization is set, and Whorl does not know it.")
        .recovery(
            """
            Clear it for the moment with `tpm2_changeauth -c owner -p OLD`, run `whorl vault \
            provision`, and set it again.
            """
        )
    /// The chip has no room for another counter or permanent key.
    public static let chipFull = row("chipFull", .chipUnavailable, .io)
        .message("The TPM has no room left.")
        .recovery(
            """
            List what is in it with `tpm2_getcap handles-nv-index`, and remove what no program needs.
            """
        )
    /// After too many wrong tries, the chip refuses to compare passcodes and application passwords for a while.
    public static let chipLockedOut = row("chipLockedOut", .notAuthenticated, .authFailed, apple: -1)
        .message(
            """
            The TPM compares no passcode and no application password for now: too many were wrong.
            """
        )
        .recovery(
            """
            Wait (`tpm2_getcap properties-variable` shows how long), or clear it with \
            `tpm2_dictionarylockout -c`.
            """
        )
    /// The counter that binds keys to a set of fingers was removed from the chip, or was replaced by a new one.
    public static let counterLost = row("counterLost", .noLongerValid, .io)
        .message("The counter that binds keys to the enrolled fingers is gone from the TPM.")
        .recovery(
            """
            With the passcode: `whorl fingers accept`. Without: `whorl remove --all`, then `whorl \
            enroll`; keys bound to the old set are lost.
            """
        )
    /// The chip has no certificate of its maker for an endorsement key of P-256 or RSA.
    public static let noEndorsement = row("noEndorsement", .chipUnavailable, .notAvailable)
        .message("The TPM holds no certificate of its maker for a key of P-256 or RSA.")
        .recovery(
            """
            Enable the login without `--attest`; `tpm2_getcap handles-nv-index` shows whether \
            0x1C0000A or 0x1C00002 is there.
            """
        )
    /// A server's credential is for another chip, or for another attestation key.
    public static let credentialRefused = row("credentialRefused", .chipUnavailable, .param)
        .message("The server's credential is for another TPM.")
        .recovery("Try again; if it stays so, the server made it for another machine.")
}

/// Secrets, keys and passcodes; the subject is the item.
extension ServiceError.Code {
    /// The name cannot be used for an item; the message says why.
    public static let nameRefused = row("nameRefused", .invalidRequest, .param)
        .message("The name cannot be used for an item.")
        .recovery("Name it with letters, digits, spaces and `-_.@+:`, as in `github-token`.")
    /// No secret or key has this name.
    public static let noSuchItem = row("noSuchItem", .notFound, .itemNotFound)
        .message { "There is no \($0.subject)." }
        .recovery("`whorl secret list` and `whorl key list` show what there is.")
    /// A secret or key of this name already exists.
    public static let itemExists = row("itemExists", .alreadyExists, .duplicateItem)
        .message { "There is a \($0.subject) already." }
        .recovery("Choose another name, or delete that one first.")
    /// The set of fingers that the item is bound to has changed; the item never opens again.
    public static let enrollmentChanged = row("enrollmentChanged", .noLongerValid, .itemNotFound)
        .message {
            "The \($0.subject) is not valid any more: a finger was added or removed since it was made."
        }
        .recovery("Delete it and make it again for the present set of fingers.")
    /// The item's row is not what Whorl wrote, or was made for another profile, name or chip.
    public static let itemTampered = row("itemTampered", .noLongerValid, .invalidRecord)
        .message { "The \($0.subject) was changed from outside, or does not belong here." }
        .recovery("Delete it and make it again, or restore the whole state directory from a backup.")
    /// The machine's start differs from the one that the item is bound to.
    public static let measuredBootChanged = row("measuredBootChanged", .noLongerValid, .authFailed)
        .message { "The machine did not start as it did when the \($0.subject) was bound to that." }
        .recovery("If the firmware was updated, bind it anew with the passcode: `whorl vault reseal`.")
    /// The given proof does not meet the item's access control.
    public static let accessDenied = row("accessDenied", .notAuthenticated, .authFailed)
        .message { "What was shown does not open the \($0.subject)." }
        .recovery("Use another of the ways that its access control allows.")
    /// The item takes an application password, and none was given.
    public static let applicationPasswordNeeded = row(
        "applicationPasswordNeeded",
        .invalidRequest,
        .authFailed
    )
    .message { "The \($0.subject.isEmpty ? "item" : $0.subject) takes an application password." }
    .recovery("Give it with `--application-password-fd N`.")
    /// The application password is wrong.
    public static let applicationPasswordWrong = row(
        "applicationPasswordWrong",
        .notAuthenticated,
        .authFailed
    )
    .message { "The application password of the \($0.subject) is wrong." }
    .recovery("Try again with the password that it was made with.")
    /// After several wrong application passwords of this user, Whorl tries none for a while.
    public static let applicationPasswordThrottled = row(
        "applicationPasswordThrottled",
        .notAuthenticated,
        .authFailed
    )
    .message {
        "Too many application passwords of this user were wrong; the next is tried in \($0.wait.spoken)."
    }
    .recovery("Wait, then try again.")
    /// The secret is empty; it must have at least one byte.
    public static let secretEmpty = row("secretEmpty", .invalidRequest, .param)
        .message("An empty secret is not kept.")
        .recovery("Give it at least one byte on standard input.")
    /// The secret is larger than 1 MiB.
    public static let secretTooLarge = row("secretTooLarge", .invalidRequest, .param)
        .message {
            "A secret has at most \(SecretSize.allowed.upperBound) bytes (1 MiB); this one has \($0[.bytes])."
        }
        .recovery("Encrypt the data with a key of its own, and keep that key here.")
    /// The digest to be signed is not 32 bytes (SHA-256) long.
    public static let digestWrongSize = row("digestWrongSize", .invalidRequest, .param)
        .message { "A SHA-256 digest has 32 bytes; this one has \($0[.bytes])." }
        .recovery("Hash the message with SHA-256 first.")
    /// The other party's public key is not a point of P-256.
    public static let publicKeyRefused = row("publicKeyRefused", .invalidRequest, .param)
        .message("The other's public key is no point of the curve P-256.")
        .recovery("Have the other one send its public key again, as ANSI X9.63.")
    /// The access control cannot be read or makes no sense.
    public static let accessRefused = row("accessRefused", .invalidRequest, .notAvailable)
        .message { "This access control cannot be used: \($0[.reason])." }
        .recovery(
            """
            Use biometry-any, biometry-current-set, passcode, user-presence or none, joined by -or- \
            and -and-, and +application-password or +pcrs:7 behind it.
            """
        )
    /// A passcode is set already.
    public static let passcodeExists = row("passcodeExists", .alreadyExists, .duplicateItem)
        .message("A passcode is set already.")
        .recovery("Change it with `whorl passcode change`.")
    /// The passcode is shorter than 4 bytes or longer than 1,024.
    public static let passcodeWrongSize = row("passcodeWrongSize", .invalidRequest, .param)
        .message(
            "A passcode has \(PasscodeSize.allowed.lowerBound) to \(PasscodeSize.allowed.upperBound) bytes."
        )
        .recovery("Choose another one.")
    /// The passcode is wrong.
    public static let passcodeWrong = row("passcodeWrong", .notAuthenticated, .authFailed, apple: -1)
        .message("The passcode is wrong.")
        .recovery("Try again; after five wrong ones there is a wait.")
    /// After several wrong tries, Whorl refuses to compare passcodes for a while.
    public static let passcodeThrottled = row("passcodeThrottled", .notAuthenticated, .authFailed, apple: -1)
        .message { "Too many passcodes were wrong; the next is compared in \($0.wait.spoken)." }
        .recovery("Wait, then try again.")
    /// As many passcodes and application passwords of this user as may wait are waiting to be compared.
    public static let passcodeBusy = row("passcodeBusy", .notAuthenticated, .authFailed, apple: -1)
        .message("Too many passcodes and application passwords of this user wait to be compared.")
        .recovery("Try again, and end the program that sends so many.")
    /// The items in the details would be lost with the passcode.
    public static let passcodeNeeded = row("passcodeNeeded", .other, .notAvailable)
        .message { "Without a passcode this would be lost: \($0.items)." }
        .recovery("Delete those first, or lose them with `--force`.")
}

/// The state directory; the subject is the path of the directory or file at fault.
extension ServiceError.Code {
    /// The directory or a file in it cannot be created, written or read.
    public static let storeNotWritable = row("storeNotWritable", .storage, .notAvailable)
        .message { "\($0.subject) cannot be written." }
        .recovery("Make it writable for this user, or name another directory with --state-dir.")
    /// Other users may read or write it, it belongs to another user, or it is not a plain file.
    public static let storeTooOpen = row("storeTooOpen", .storage, .notAvailable)
        .message { "\($0.subject) is open to others than its owner." }
        .recovery { "Close it: `chmod go= \(shellQuoted($0.subject))`." }
    /// The database is damaged or gone; nothing was overwritten.
    public static let storeDamaged = row("storeDamaged", .storage, .notAvailable)
        .message { "The database \($0.subject) is damaged." }
        .recovery("Keep the file, run `whorl doctor`, and restore the whole directory from a backup.")
    /// A newer version of Whorl wrote it; nothing was changed.
    public static let storeNewer = row("storeNewer", .storage, .notAvailable)
        .message { "The database \($0.subject) was written by a newer version of Whorl." }
        .recovery("Update Whorl, or name another directory with --state-dir.")
    /// The file is another program's database; nothing was changed.
    public static let storeForeign = row("storeForeign", .storage, .notAvailable)
        .message { "\($0.subject) is not a database of Whorl." }
        .recovery("Move the file away, or name another directory with --state-dir.")
    /// Another process held the database for longer than the time limit.
    public static let storeBusy = row("storeBusy", .storage, .io)
        .message { "Another process keeps the database \($0.subject) busy." }
        .recovery("Wait for the other process to end, then try again.")
    /// The key is gone although the database exists.
    public static let storeKeyMissing = row("storeKeyMissing", .storage, .notAvailable)
        .message { "The key \($0.subject) is gone, and the database is there." }
        .recovery(
            """
            Restore the whole directory from a backup; without its key the stored prints cannot be \
            read, so otherwise move the directory away and enroll again.
            """
        )
    /// The key is damaged, or belongs to another database.
    public static let storeKeyDamaged = row("storeKeyDamaged", .storage, .notAvailable)
        .message { "The key \($0.subject) is damaged, or belongs to another database." }
        .recovery(
            """
            Restore the whole directory from a backup; without its key the stored prints cannot be \
            read, so otherwise move the directory away and enroll again.
            """
        )
    /// Any other error of the system or SQLite.
    public static let storeFailed = row("storeFailed", .storage, .io)
        .message {
            $0.subject.isEmpty
                ? "The state directory cannot be used." : "The state directory failed at \($0.subject)."
        }
        .recovery("Run `whorl doctor`: it names the cause and the command that mends it.")
    /// The disk is full; what was stored before is unchanged.
    public static let diskFull = row("diskFull", .storage, .diskFull)
        .message { "The disk that holds \($0.subject) is full." }
        .recovery("Make room on the disk, then try again.")
    /// The items of this user take as much room as one user's may; nothing was added.
    public static let quotaReached = row("quotaReached", .storage, .diskFull)
        .message("The items of this user take as much room as one user's may.")
        .recovery("Delete items that are not needed: `whorl secret list`, `whorl key list`.")
}

/// Programs that show the prompts of others.
extension ServiceError.Code {
    /// Another program shows the prompts of this session.
    public static let agentTaken = row("agentTaken", .alreadyExists, .authFailed)
        .message("Another program shows the prompts of this session already.")
        .recovery("End that program first; `ps` lists them.")
    /// The administrator lets no agent show prompts.
    public static let agentNotAllowed = row("agentNotAllowed", .other, .authFailed)
        .message("The service's configuration lets no agent show prompts.")
        .recovery("Set [Prompt] Agent in /etc/whorl/whorld.conf to preferred or required.")
}

extension ServiceError.Code: CaseIterable {
    /// All codes of this version.
    public static let allCases: [ServiceError.Code] = [
        .authenticationFailed, .userCancel, .userFallback, .systemCancel, .timedOut, .passcodeNotSet,
        .biometryNotAvailable, .lidShut, .biometryOptedOut, .biometryNotEnrolled, .biometryLockout,
        .placeRests, .appCancel, .invalidContext, .notInteractive, .biometryDisconnected, .reasonMissing,
        .enrollmentTampered, .enrollmentRolledBack, .readerInUse, .readerNotChosen, .notPermitted,
        .serviceUnavailable, .fingerExists, .duplicate, .inconsistent, .tooManyRetries, .readerWasOpen,
        .accountRenamed, .ownerNeeded, .changedMeanwhile, .noSuchFinger, .readerNotConnected,
        .readerNotPermitted, .readerNotOpen, .readerUnsupported, .readerFull, .readerLockUnusable,
        .printNotFound, .printRefused,
        .readerTooHot, .readerUntrustworthy, .readerFailed, .chipUnavailable, .noChip, .chipBusy,
        .chipCrowded, .chipFailed, .chipCleared, .ownerAuthorizationNeeded, .chipFull, .chipLockedOut,
        .counterLost, .noEndorsement, .credentialRefused, .nameRefused, .noSuchItem, .itemExists,
        .enrollmentChanged, .itemTampered, .measuredBootChanged, .accessDenied, .applicationPasswordNeeded,
        .applicationPasswordWrong, .applicationPasswordThrottled, .secretEmpty, .secretTooLarge,
        .digestWrongSize, .publicKeyRefused, .accessRefused, .passcodeExists, .passcodeWrongSize,
        .passcodeWrong, .passcodeThrottled, .passcodeBusy, .passcodeNeeded, .storeNotWritable,
        .storeTooOpen, .storeDamaged, .storeNewer, .storeForeign, .storeBusy, .storeKeyMissing,
        .storeKeyDamaged, .storeFailed, .diskFull, .quotaReached, .agentTaken, .agentNotAllowed,
    ]
}

/// What to do where no TPM answers at an address, or none was found.
private func forChip(at address: String) -> String {
    guard address.isEmpty || address.hasPrefix("/dev/tpm") else {
        return "Correct what `--tcti` or WHORL_TCTI names, or start it; `--tcti none` goes without a TPM."
    }
    return """
        Turn the TPM on in the firmware, or join the group that may use it: `sudo usermod -aG tss $USER`, then log in \
        again; `whorl doctor` says which.
        """
}
