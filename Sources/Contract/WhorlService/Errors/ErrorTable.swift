// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

// The error table. Each row is a code with its properties: the category, Apple's number, the keychain status, the exit
// status of `whorl`, and two sentences. To add an error, add a row here and its name to the list at the end.

/// Errors in authenticating the owner; they have Apple's names where Apple has the same error.
extension ServiceError.Code {
    /// Three touches did not match.
    public static let authenticationFailed = row(
        "authenticationFailed",
        .notAuthenticated,
        .authFailed,
        apple: -1
    )
    .message("The finger did not match.")
    .recovery("Try again with an enrolled finger; `whorl fingers` lists them.")
    /// The user pressed the cancel button.
    public static let userCancel = row("userCancel", .cancelled, .userCanceled, apple: -2)
        .message("The request was canceled.")
        .recovery("Start again when ready.")
    /// The user pressed the fallback button.
    public static let userFallback = row("userFallback", .cancelled, .authFailed, apple: -3, exit: 12)
        .message("The fallback was chosen.")
        .recovery("Continue with the program's own sign-in.")
    /// The system cancelled the request.
    public static let systemCancel = row("systemCancel", .cancelled, .authFailed, apple: -4, exit: 13)
        .message("The system ended the request.")
        .recovery("Try again.")
    /// The reader was not touched before the timeout.
    public static let timedOut = row("timedOut", .cancelled, .authFailed, apple: -4, exit: 13)
        .message("No touch before the timeout.")
        .recovery("Try again, and touch the reader when prompted.")
    /// No passcode is set, and nothing else can satisfy the policy.
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
    .message("No usable fingerprint reader found.")
    .recovery("Run `whorl doctor` to find out why.")
    /// The laptop's lid is closed over the reader.
    public static let lidShut = row("lidShut", .readerUnavailable, .authFailed, apple: -6)
        .message("The lid is closed over the fingerprint reader.")
        .recovery("Open the lid.")
    /// The user has disabled fingerprints for this program.
    public static let biometryOptedOut = row("biometryOptedOut", .other, .authFailed, apple: -6)
        .message("Fingerprints are disabled for this program.")
        .recovery("Enable them again: `whorl biometry allow`.")
    /// No finger is enrolled for the connected reader.
    public static let biometryNotEnrolled = row(
        "biometryNotEnrolled",
        .notSetUp,
        .authFailed,
        apple: -7,
        exit: 16
    )
    .message("No finger enrolled for this reader.")
    .recovery("Enroll a finger: `whorl enroll right-index-finger`.")
    /// Too many touches did not match.
    public static let biometryLockout = row(
        "biometryLockout",
        .notAuthenticated,
        .authFailed,
        apple: -8,
        exit: 17
    )
    .message("Too many failed attempts; fingerprints are locked out.")
    .recovery("Verify the passcode. If none is set, wait until the lockout ends.")
    /// Too many touches in a row did not match at a place where any user can be named, such as a login screen.
    public static let placeRests = row("placeRests", .notAuthenticated, .authFailed, apple: -8, exit: 17)
        .message("Too many fingers were not recognized here. Try again later.")
        .recovery("Wait, or ask an administrator to run `whorl unlock`.")
    /// The program cancelled the request.
    public static let appCancel = row("appCancel", .cancelled, .authFailed, apple: -9, exit: 18)
        .message("The program canceled the request.")
        .recovery("Start again when ready.")
    /// The context has been invalidated.
    public static let invalidContext = row(
        "invalidContext",
        .invalidRequest,
        .authFailed,
        apple: -10,
        exit: 19
    )
    .message("The context has been invalidated.")
    .recovery("Create a new context.")
    /// A prompt is required but cannot be shown.
    public static let notInteractive = row(
        "notInteractive",
        .notInteractive,
        .interactionNotAllowed,
        apple: -1004
    )
    .message("A prompt is required but cannot be shown.")
    .recovery("Run it in a terminal, or start a prompt for this session: `whorl agent`.")
    /// The reader that the fingers are enrolled on is not connected, or was unplugged.
    public static let biometryDisconnected = row(
        "biometryDisconnected",
        .readerUnavailable,
        .authFailed,
        apple: -13,
        exit: 21
    )
    .message("The reader with your enrolled fingers is not connected.")
    .recovery("Connect it, or enroll a finger with the connected reader.")
    /// The reason for the request is empty.
    public static let reasonMissing = row("reasonMissing", .invalidRequest, .authFailed, apple: -10)
        .message("The reason for the request is empty.")
        .recovery("Give a reason to show in the prompt.")
    /// The enrolled fingers were tampered with.
    public static let enrollmentTampered = row(
        "enrollmentTampered",
        .noLongerValid,
        .authFailed,
        apple: -6,
        exit: 30
    )
    .message("The enrolled fingers were tampered with.")
    .recovery(
        """
        With a passcode: `whorl fingers accept`. Without: `whorl remove --all`, then `whorl \
        enroll`.
        """
    )
    /// The enrolled fingers are older than the last known set.
    public static let enrollmentRolledBack = row(
        "enrollmentRolledBack",
        .noLongerValid,
        .authFailed,
        apple: -6,
        exit: 30
    )
    .message("The enrolled fingers are older than the last known set.")
    .recovery(
        """
        With a passcode: `whorl fingers accept`. Without: `whorl remove --all`, then `whorl \
        enroll`.
        """
    )
    /// The reader is in use.
    public static let readerInUse = row("readerInUse", .readerUnavailable, .authFailed, apple: -4, exit: 35)
        .message("The fingerprint reader is in use.")
        .recovery("Wait for the other program to finish, then try again.")
    /// A reader must be chosen, but the choice is ambiguous or not allowed.
    public static let readerNotChosen = row("readerNotChosen", .invalidRequest, .authFailed, apple: -6)
        .message("More than one fingerprint reader found, or the chosen one is not allowed.")
        .recovery("Choose one with `--reader` or WHORL_READER; `whorl devices` lists them.")
    /// The system's rules (polkit) do not allow the request, or do not allow it from this session.
    public static let notPermitted = row("notPermitted", .notAuthenticated, .authFailed, exit: 36)
        .message("Not permitted by the system's rules (polkit).")
        .recovery("Ask an administrator, or run it with `sudo`.")
    /// The service `whorld` did not reply.
    public static let serviceUnavailable = row("serviceUnavailable", .storage, .notAvailable)
        .message("The service whorld does not respond.")
        .recovery("Run `whorl doctor` to check the service.")
}

/// Errors in enrolling, removing and looking up fingers.
extension ServiceError.Code {
    /// A finger with this name is already enrolled on this reader.
    public static let fingerExists = row("fingerExists", .alreadyExists, .duplicateItem)
        .message { "The \($0.spokenFinger) is already enrolled for this reader." }
        .recovery { "Remove it first: `whorl remove \($0[.finger])`." }
    /// The same finger is already enrolled; the details contain its name, if known.
    public static let duplicate = row("duplicate", .alreadyExists, .duplicateItem)
        .message {
            $0[.finger].isEmpty
                ? "This finger is already enrolled in the reader."
                : "This finger is already enrolled as the \($0.spokenFinger)."
        }
        .recovery {
            $0[.finger].isEmpty
                ? "Another user or system may have enrolled it. Remove it there; `whorl doctor` lists such prints."
                : "Keep it, or remove it first: `whorl remove \($0[.finger])`."
        }
    /// The last touch did not match the print: the touches were not all of the same finger.
    public static let inconsistent = row("inconsistent", .other, .authFailed)
        .message("Different fingers were used during enrollment.")
        .recovery("Enroll again with the same finger each time.")
    /// Too many touches could not be read.
    public static let tooManyRetries = row("tooManyRetries", .other, .authFailed)
        .message("The finger could not be read.")
        .recovery("Clean the sensor and your finger, then enroll again.")
    /// Other programs could open the reader that stores a print, so the print may now be another person's.
    public static let readerWasOpen = row("readerWasOpen", .noLongerValid, .authFailed, apple: -6, exit: 30)
        .message("The fingers in the reader are not trusted, because other programs could open it.")
        .recovery("Enroll them again: `whorl remove --all`, then `whorl enroll`.")
    /// The account's name changed, and no one has confirmed yet that it still belongs to the same person.
    public static let accountRenamed = row("accountRenamed", .noLongerValid, .authFailed, apple: -6, exit: 30)
        .message("This account was renamed, so its fingers are not trusted yet.")
        .recovery(
            """
            Enter the passcode: `whorl passcode verify`. Without one, ask an administrator to run `sudo \
            whorl account renamed`.
            """
        )
    /// The owner must first consent, with an enrolled finger or the passcode.
    public static let ownerNeeded = row("ownerNeeded", .notAuthenticated, .authFailed)
        .message("Authentication required, by touch or passcode.")
        .recovery("Touch the reader with an enrolled finger, or enter the passcode.")
    /// The fingers or the passcode changed after the owner consented.
    public static let changedMeanwhile = row("changedMeanwhile", .cancelled, .authFailed, apple: -4, exit: 13)
        .message("The enrolled fingers changed during the request.")
        .recovery("Check them with `whorl fingers`, and try again.")
    /// This finger is not enrolled.
    public static let noSuchFinger = row("noSuchFinger", .notFound, .itemNotFound)
        .message("This finger is not enrolled.")
        .recovery("`whorl fingers` lists the enrolled fingers.")
    /// The reader that stores the print is not connected.
    public static let readerNotConnected = row(
        "readerNotConnected",
        .readerUnavailable,
        .authFailed,
        apple: -13,
        exit: 21
    )
    .message { "The reader \($0[.reader]), which stores the print, is not connected." }
    .recovery(
        """
        Connect it and try again, or use --force: the print then stays in the reader until it is \
        connected again.
        """
    )
}

/// Errors of the reader itself; their sentences come from ``ReaderError``.
extension ServiceError.Code {
    /// This user is not allowed to open the reader.
    public static let readerNotPermitted = row(
        "readerNotPermitted",
        .readerUnavailable,
        .authFailed,
        apple: -6
    )
    .message("You are not allowed to open the fingerprint reader.")
    .recovery(
        "Ask an administrator to install the service: the package whorld, or `sudo make install`."
    )
    /// The reader is not open.
    public static let readerNotOpen = row("readerNotOpen", .readerUnavailable, .authFailed, apple: -6)
        .message("The fingerprint reader is not open.")
        .recovery("Open the reader first.")
    /// The reader does not support the operation.
    public static let readerUnsupported = row("readerUnsupported", .readerUnavailable, .authFailed, apple: -6)
        .message("The fingerprint reader does not support this.")
        .recovery("Use another reader; `whorl devices` lists what each one supports.")
    /// The reader has no room for another template.
    public static let readerFull = row("readerFull", .readerUnavailable, .authFailed, apple: -6)
        .message("The fingerprint reader's storage is full.")
        .recovery("Remove a finger you do not need: `whorl fingers`, then `whorl remove`.")
    /// The lock file that prevents two programs from using a reader at the same time cannot be trusted.
    public static let readerLockUnusable = row(
        "readerLockUnusable",
        .readerUnavailable,
        .authFailed,
        apple: -6
    )
    .message("Cannot lock the fingerprint reader for one program at a time.")
    .recovery("Fix the cause shown by `whorl doctor`, then try again.")
    /// The template is not in the reader.
    public static let printNotFound = row("printNotFound", .notFound, .authFailed, apple: -6)
        .message("The print is not in the fingerprint reader.")
        .recovery("Remove the finger here and enroll it again.")
    /// The reader cannot read the template.
    public static let printRefused = row("printRefused", .readerUnavailable, .authFailed, apple: -6)
        .message("The stored print belongs to another fingerprint reader.")
        .recovery("Connect that reader, or enroll the finger again with this one.")
    /// The reader is too warm.
    public static let readerTooHot = row("readerTooHot", .readerUnavailable, .authFailed, apple: -6)
        .message("The fingerprint reader is too hot.")
        .recovery("Wait a minute, then try again.")
    /// The reader returned a result that cannot be correct.
    public static let readerUntrustworthy = row(
        "readerUntrustworthy",
        .readerUnavailable,
        .authFailed,
        apple: -6
    )
    .message("The fingerprint reader returned an impossible result.")
    .recovery("Do not use this reader; report it with the output of `whorl doctor --json`.")
    /// Any other error that the driver reports.
    public static let readerFailed = row("readerFailed", .readerUnavailable, .authFailed, apple: -6)
        .message("The fingerprint reader failed.")
        .recovery(
            """
            Unplug the reader, plug it in, and try again. If that fails, run `whorl doctor`.
            """
        )
}

/// Errors of the TPM.
extension ServiceError.Code {
    /// The TPM that protects the state directory is not usable.
    public static let chipUnavailable = row("chipUnavailable", .chipUnavailable, .notAvailable)
        .message {
            $0.subject.isEmpty
                ? "The TPM that protects the state directory is not usable."
                : "The TPM that protects \($0.subject) is not usable."
        }
        .recovery("Run `whorl vault status` to find out why.")
    /// The machine has no TPM, or this user may not use it; the subject is the address that was tried.
    public static let noChip = row("noChip", .chipUnavailable, .notAvailable)
        .message {
            "No usable TPM found" + ($0.subject.isEmpty ? "." : " (\($0.subject)).")
        }
        .recovery { forChip(at: $0.subject) }
    /// The TPM is not responding at the moment; nothing was changed.
    public static let chipBusy = row("chipBusy", .chipUnavailable, .io)
        .message("The TPM is busy, or the connection was lost.")
        .recovery("Try again. If it keeps failing, another program is using the TPM.")
    /// The TPM has no room for more loaded objects or sessions: other programs, or programs that were killed, have used
    /// it up.
    public static let chipCrowded = row("chipCrowded", .chipUnavailable, .io)
        .message(
            "The TPM's memory is in use by other programs, or by the remains of programs that were killed."
        )
        .recovery(
            """
            Use the kernel's resource manager, `--tcti device:/dev/tpmrm0`. If there is none, quit other \
            programs, then run `tpm2_flushcontext -t` and `tpm2_flushcontext -l`.
            """
        )
    /// A TPM command was rejected or failed for a reason that no other code covers.
    public static let chipFailed = row("chipFailed", .chipUnavailable, .io)
        .message("The TPM rejected a command.")
        .recovery("Run `whorl doctor` to see the TPM's status.")
    /// The TPM was cleared, or the vault was created with another TPM.
    public static let chipCleared = row("chipCleared", .chipUnavailable, .notAvailable)
        .message("The TPM was cleared, or this vault was created with another TPM.")
        .recovery(
            """
            Its contents are lost. Start over: `whorl vault reset`, then `whorl vault provision`.
            """
        )
    /// An object must be stored permanently in the TPM, but the owner hierarchy has an authorization value.
    public static let ownerAuthorizationNeeded = row("ownerAuthorizationNeeded", .chipUnavailable, .io)
        .message("The TPM's owner authorization is set and unknown to Whorl.")
        .recovery(
            """
            Clear it temporarily with `tpm2_changeauth -c owner -p OLD`, run `whorl vault provision`, \
            and set it again.
            """
        )
    /// The TPM has no room for another counter or permanent key.
    public static let chipFull = row("chipFull", .chipUnavailable, .io)
        .message("The TPM's storage is full.")
        .recovery(
            """
            List its indexes with `tpm2_getcap handles-nv-index`, and remove those no longer used.
            """
        )
    /// After too many failed attempts, the TPM temporarily refuses to check passcodes and application passwords.
    public static let chipLockedOut = row("chipLockedOut", .notAuthenticated, .authFailed, apple: -1)
        .message(
            """
            The TPM is locked after too many wrong passcodes or application passwords.
            """
        )
        .recovery(
            """
            Wait (`tpm2_getcap properties-variable` shows how long), or clear the lockout with \
            `tpm2_dictionarylockout -c`.
            """
        )
    /// The counter that binds keys to a set of fingers was removed from the TPM or replaced.
    public static let counterLost = row("counterLost", .noLongerValid, .io)
        .message("The TPM counter that binds keys to the enrolled fingers is missing.")
        .recovery(
            """
            With a passcode: `whorl fingers accept`. Without: `whorl remove --all`, then `whorl \
            enroll`. Keys bound to the old fingers are lost.
            """
        )
    /// The TPM has no manufacturer's certificate for a P-256 or RSA endorsement key.
    public static let noEndorsement = row("noEndorsement", .chipUnavailable, .notAvailable)
        .message("The TPM has no manufacturer certificate for a P-256 or RSA key.")
        .recovery(
            """
            Enable the login without `--attest`. `tpm2_getcap handles-nv-index` shows whether index \
            0x1C0000A or 0x1C00002 exists.
            """
        )
    /// A server's credential is for another TPM or another attestation key.
    public static let credentialRefused = row("credentialRefused", .chipUnavailable, .param)
        .message("The server's credential is for another TPM.")
        .recovery("Try again. If it keeps failing, the server created it for another machine.")
}

/// Errors about secrets, keys and passcodes; the subject is the item.
extension ServiceError.Code {
    /// The name cannot be used for an item; the message says why.
    public static let nameRefused = row("nameRefused", .invalidRequest, .param)
        .message("Invalid item name.")
        .recovery("Use letters, digits, spaces and `-_.@+:`, as in `github-token`.")
    /// No secret or key with this name exists.
    public static let noSuchItem = row("noSuchItem", .notFound, .itemNotFound)
        .message { "The \($0.subject) does not exist." }
        .recovery("`whorl secret list`, `whorl key list` and `whorl ssh list` list the items.")
    /// A secret or key with this name already exists.
    public static let itemExists = row("itemExists", .alreadyExists, .duplicateItem)
        .message { "The \($0.subject) already exists." }
        .recovery("Choose another name, or delete the existing item first.")
    /// The set of fingers that the item is bound to has changed; the item can never be unlocked again.
    public static let enrollmentChanged = row("enrollmentChanged", .noLongerValid, .itemNotFound)
        .message {
            "The \($0.subject) is no longer valid: a finger was added or removed after it was created."
        }
        .recovery("Delete it and create it again for the current fingers.")
    /// The item's row was not written by Whorl, or belongs to another profile, name or TPM.
    public static let itemTampered = row("itemTampered", .noLongerValid, .invalidRecord)
        .message { "The \($0.subject) was tampered with, or belongs to another directory." }
        .recovery("Delete it and create it again, or restore the whole state directory from a backup.")
    /// The boot measurements differ from those that the item is bound to.
    public static let measuredBootChanged = row("measuredBootChanged", .noLongerValid, .authFailed)
        .message { "This machine's boot measurements changed since the \($0.subject) was created." }
        .recovery("If you updated the firmware, bind it again with the passcode: `whorl vault reseal`.")
    /// The proof does not satisfy the item's access control.
    public static let accessDenied = row("accessDenied", .notAuthenticated, .authFailed)
        .message { "This authentication does not unlock the \($0.subject)." }
        .recovery("Use another method that its access control allows.")
    /// The item requires an application password, but none was provided.
    public static let applicationPasswordNeeded = row(
        "applicationPasswordNeeded",
        .invalidRequest,
        .authFailed
    )
    .message { "The \($0.subject.isEmpty ? "item" : $0.subject) requires an application password." }
    .recovery("Pass it with `--application-password-fd N`.")
    /// The application password is wrong.
    public static let applicationPasswordWrong = row(
        "applicationPasswordWrong",
        .notAuthenticated,
        .authFailed
    )
    .message { "Wrong application password for the \($0.subject)." }
    .recovery("Try again with the password it was created with.")
    /// After several wrong application passwords from this user, Whorl temporarily refuses further attempts.
    public static let applicationPasswordThrottled = row(
        "applicationPasswordThrottled",
        .notAuthenticated,
        .authFailed
    )
    .message {
        "Too many wrong application passwords. Try again in \($0.wait.spoken)."
    }
    .recovery("Wait, then try again.")
    /// The secret is empty; it must have at least one byte.
    public static let secretEmpty = row("secretEmpty", .invalidRequest, .param)
        .message("The secret is empty.")
        .recovery("Pass at least one byte on standard input.")
    /// The secret is larger than 1 MiB.
    public static let secretTooLarge = row("secretTooLarge", .invalidRequest, .param)
        .message {
            "The secret is too large: \($0[.bytes]) bytes, limit \(SecretSize.allowed.upperBound) (1 MiB)."
        }
        .recovery("Encrypt the data with a separate key, and store that key here.")
    /// The digest to sign is not 32 bytes (SHA-256) long.
    public static let digestWrongSize = row("digestWrongSize", .invalidRequest, .param)
        .message { "A SHA-256 digest has 32 bytes, not \($0[.bytes])." }
        .recovery("Hash the message with SHA-256 first.")
    /// The other party's public key is not a point on P-256.
    public static let publicKeyRefused = row("publicKeyRefused", .invalidRequest, .param)
        .message("The peer's public key is not a point on P-256.")
        .recovery("Ask the peer to send its public key again, in ANSI X9.63 format.")
    /// The bytes to sign are not a request of SSH that this key may sign.
    public static let sshRequestRefused = row("sshRequestRefused", .invalidRequest, .param)
        .message { "The \($0.subject) does not sign this request: \($0[.reason])." }
        .recovery(
            "SSH keys sign logins, commits and files. For other data, create a key: `whorl key create`."
        )
    /// The access control cannot be parsed or has no valid meaning.
    public static let accessRefused = row("accessRefused", .invalidRequest, .notAvailable)
        .message { "Invalid access control: \($0[.reason])." }
        .recovery(
            """
            Use biometry-any, biometry-current-set, passcode, user-presence or none. Combine with -or- \
            and -and-; append +application-password or +pcrs:7.
            """
        )
    /// A passcode is already set.
    public static let passcodeExists = row("passcodeExists", .alreadyExists, .duplicateItem)
        .message("A passcode is already set.")
        .recovery("Change it with `whorl passcode change`.")
    /// The passcode is shorter than 4 bytes or longer than 1,024.
    public static let passcodeWrongSize = row("passcodeWrongSize", .invalidRequest, .param)
        .message(
            "A passcode must have \(PasscodeSize.allowed.lowerBound) to \(PasscodeSize.allowed.upperBound) bytes."
        )
        .recovery("Choose another passcode.")
    /// The passcode is wrong.
    public static let passcodeWrong = row("passcodeWrong", .notAuthenticated, .authFailed, apple: -1)
        .message("Wrong passcode.")
        .recovery("Try again. After five wrong attempts, you have to wait.")
    /// After several wrong passcodes, Whorl temporarily refuses further attempts.
    public static let passcodeThrottled = row("passcodeThrottled", .notAuthenticated, .authFailed, apple: -1)
        .message { "Too many wrong passcodes. Try again in \($0.wait.spoken)." }
        .recovery("Wait, then try again.")
    /// Too many of this user's passcodes and application passwords are already waiting to be checked.
    public static let passcodeBusy = row("passcodeBusy", .notAuthenticated, .authFailed, apple: -1)
        .message("Too many password checks for this user at the same time.")
        .recovery("Stop the program that sends them, and try again.")
    /// The items in the details would be lost if the passcode were removed.
    public static let passcodeNeeded = row("passcodeNeeded", .other, .notAvailable)
        .message { "Without a passcode, these items would be lost: \($0.items)." }
        .recovery("Delete them first, or use `--force` to lose them.")
}

/// Errors of the state directory; the subject is the path of the directory or file that caused the error.
extension ServiceError.Code {
    /// The directory or a file in it cannot be created, written or read.
    public static let storeNotWritable = row("storeNotWritable", .storage, .notAvailable)
        .message { "Cannot write to \($0.subject)." }
        .recovery("Make it writable, or choose another directory with --state-dir.")
    /// The file or directory is accessible to other users, belongs to another user, or is not of the expected type.
    public static let storeTooOpen = row("storeTooOpen", .storage, .notAvailable)
        .message { "\($0.subject) is accessible to other users." }
        .recovery { "Restrict it: `chmod go= \(shellQuoted($0.subject))`." }
    /// The database is damaged or missing; nothing was overwritten.
    public static let storeDamaged = row("storeDamaged", .storage, .notAvailable)
        .message { "The database \($0.subject) is damaged." }
        .recovery("Keep the file, run `whorl doctor`, and restore the whole directory from a backup.")
    /// The database was written by a newer version of Whorl; nothing was changed.
    public static let storeNewer = row("storeNewer", .storage, .notAvailable)
        .message { "The database \($0.subject) was written by a newer version of Whorl." }
        .recovery("Update Whorl, or choose another directory with --state-dir.")
    /// The file is a database of another program; nothing was changed.
    public static let storeForeign = row("storeForeign", .storage, .notAvailable)
        .message { "\($0.subject) is not a Whorl database." }
        .recovery("Move the file away, or choose another directory with --state-dir.")
    /// Another process kept the database locked for longer than the time limit.
    public static let storeBusy = row("storeBusy", .storage, .io)
        .message { "The database \($0.subject) is in use by another process." }
        .recovery("Wait for the other process to finish, then try again.")
    /// The database exists, but its key is missing.
    public static let storeKeyMissing = row("storeKeyMissing", .storage, .notAvailable)
        .message { "The database exists, but its key file \($0.subject) is missing." }
        .recovery(
            """
            Restore the whole directory from a backup. Without the key, the stored prints cannot be \
            read: move the directory away and enroll again.
            """
        )
    /// The key is damaged, or belongs to another database.
    public static let storeKeyDamaged = row("storeKeyDamaged", .storage, .notAvailable)
        .message { "The key file \($0.subject) is damaged or belongs to another database." }
        .recovery(
            """
            Restore the whole directory from a backup. Without the key, the stored prints cannot be \
            read: move the directory away and enroll again.
            """
        )
    /// Any other error from the system or SQLite.
    public static let storeFailed = row("storeFailed", .storage, .io)
        .message {
            $0.subject.isEmpty
                ? "The state directory is not usable." : "The state directory is not usable: \($0.subject)."
        }
        .recovery("Run `whorl doctor` to find the cause and a fix.")
    /// The disk is full; existing data is unchanged.
    public static let diskFull = row("diskFull", .storage, .diskFull)
        .message { "The disk with \($0.subject) is full." }
        .recovery("Free some disk space, then try again.")
    /// The user's items have reached the storage limit, so nothing was added.
    public static let quotaReached = row("quotaReached", .storage, .diskFull)
        .message("This user's storage limit has been reached.")
        .recovery("Delete items you do not need: `whorl secret list`, `whorl key list`.")
}

/// Errors of agents, which show the prompts of other programs.
extension ServiceError.Code {
    /// Another program already shows the prompts of this session.
    public static let agentTaken = row("agentTaken", .alreadyExists, .authFailed)
        .message("Another program already shows this session's prompts.")
        .recovery("Quit that program first.")
    /// The administrator does not allow agents to show prompts.
    public static let agentNotAllowed = row("agentNotAllowed", .other, .authFailed)
        .message("The service is configured not to use agents.")
        .recovery("Set Agent in section [Prompt] of /etc/whorl/whorld.conf to preferred or required.")
}

extension ServiceError.Code: CaseIterable {
    /// All codes that this version defines.
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
        .digestWrongSize, .publicKeyRefused, .sshRequestRefused, .accessRefused, .passcodeExists,
        .passcodeWrongSize,
        .passcodeWrong, .passcodeThrottled, .passcodeBusy, .passcodeNeeded, .storeNotWritable,
        .storeTooOpen, .storeDamaged, .storeNewer, .storeForeign, .storeBusy, .storeKeyMissing,
        .storeKeyDamaged, .storeFailed, .diskFull, .quotaReached, .agentTaken, .agentNotAllowed,
    ]
}

/// Returns the suggestion for when no TPM responds at an address, or none was found.
private func forChip(at address: String) -> String {
    guard address.isEmpty || address.hasPrefix("/dev/tpm") else {
        return "Fix `--tcti` or WHORL_TCTI, or start the simulator. To run without a TPM, use `--tcti none`."
    }
    return """
        Enable the TPM in the firmware settings, or add yourself to its group: `sudo usermod -aG tss $USER`, then log \
        in again. `whorl doctor` tells you which.
        """
}
