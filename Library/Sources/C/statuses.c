/* SPDX-License-Identifier: Apache-2.0
 *
 * The names and sentences of statuses. The names of errors of the service are those that it sends. It sends a sentence with
 * each: those that are empty here are shown only where it did not. */
#include "library.h"

#define STATUSES(STATUS) \
    STATUS(WHORL_OK, "ok", "It succeeded.") \
    STATUS(WHORL_INVALID_ARGUMENT, "invalidArgument", "An argument is missing, too long or out of range.") \
    STATUS(WHORL_INVALID_CONTEXT, "invalidContext", "The context was closed, or never opened.") \
    STATUS(WHORL_FORKED, "forked", "The context is the parent process's; open another.") \
    STATUS(WHORL_BUSY, "busy", "A request of this context is under way; open another context.") \
    STATUS(WHORL_NO_REQUEST, "noRequest", "No request is under way that this call is for.") \
    STATUS(WHORL_TOO_MANY, "tooMany", "Too many contexts are open.") \
    STATUS(WHORL_SYSTEM, "system", "The system has no descriptor or memory left.") \
    STATUS(WHORL_NO_SERVICE, "noService", "The service whorld is not installed or switched off: sudo systemctl enable --now whorld.socket") \
    STATUS(WHORL_NO_ANSWER, "noAnswer", "The service whorld hung up before it answered; `whorl doctor` says whether it runs.") \
    STATUS(WHORL_NOT_UNDERSTOOD, "notUnderstood", "The answer of the service whorld is not understood; update the library.") \
    STATUS(WHORL_OLD_SERVICE, "oldService", "The service whorld is older than the library; restart it.") \
    STATUS(WHORL_REFUSED, "refused", "The service whorld refused.") \
    STATUS(WHORL_TOO_SMALL, "tooSmall", "The buffer is too small.") \
    STATUS(WHORL_TIMED_OUT, "timedOut", "The request has not ended yet, and goes on.") \
    STATUS(WHORL_NOTHING, "nothing", "There is no such value.") \
    STATUS(WHORL_AUTHENTICATION_FAILED, "authenticationFailed", "The finger did not match.") \
    STATUS(WHORL_USER_CANCEL, "userCancel", "The request was cancelled.") \
    STATUS(WHORL_USER_FALLBACK, "userFallback", "The other way to authenticate was chosen.") \
    STATUS(WHORL_SYSTEM_CANCEL, "systemCancel", "No finger came in time.") \
    STATUS(WHORL_PASSCODE_NOT_SET, "passcodeNotSet", "No passcode is set.") \
    STATUS(WHORL_BIOMETRY_NOT_AVAILABLE, "biometryNotAvailable", "No usable fingerprint reader is there.") \
    STATUS(WHORL_BIOMETRY_OPTED_OUT, "biometryOptedOut", "Fingerprints are turned off for this program.") \
    STATUS(WHORL_BIOMETRY_NOT_ENROLLED, "biometryNotEnrolled", "No finger is enrolled for this reader.") \
    STATUS(WHORL_BIOMETRY_LOCKOUT, "biometryLockout", "Too many fingers did not match; fingerprints are locked.") \
    STATUS(WHORL_APP_CANCEL, "appCancel", "The program cancelled the request.") \
    STATUS(WHORL_INVALID_SESSION, "invalidSession", "The session of the request has ended.") \
    STATUS(WHORL_NOT_INTERACTIVE, "notInteractive", "A prompt would be needed and cannot be shown.") \
    STATUS(WHORL_BIOMETRY_DISCONNECTED, "biometryDisconnected", "The reader of the enrolled fingers is not connected.") \
    STATUS(WHORL_REASON_MISSING, "reasonMissing", "The reason for the request is empty.") \
    STATUS(WHORL_ENROLLMENT_TAMPERED, "enrollmentTampered", "The enrolled fingers were changed from outside.") \
    STATUS(WHORL_ENROLLMENT_ROLLED_BACK, "enrollmentRolledBack", "The enrolled fingers are an older state.") \
    STATUS(WHORL_READER_IN_USE, "readerInUse", "The fingerprint reader is in use.") \
    STATUS(WHORL_STORE_FAILED, "storeFailed", "The state directory cannot be used.") \
    STATUS(WHORL_CHIP_UNAVAILABLE, "chipUnavailable", "The TPM of the state directory cannot be used.") \
    STATUS(WHORL_READER_NOT_CHOSEN, "readerNotChosen", "It is not clear which reader is meant.") \
    STATUS(WHORL_NO_CHIP, "noChip", "The machine has no TPM that can be used.") \
    STATUS(WHORL_CHIP_BUSY, "chipBusy", "The TPM does not answer at the moment.") \
    STATUS(WHORL_CHIP_CROWDED, "chipCrowded", "The TPM's room for loaded objects is used up.") \
    STATUS(WHORL_CHIP_FAILED, "chipFailed", "The TPM refused a command.") \
    STATUS(WHORL_CHIP_CLEARED, "chipCleared", "The TPM was cleared, or is another one.") \
    STATUS(WHORL_OWNER_AUTHORIZATION_NEEDED, "ownerAuthorizationNeeded", "The TPM's owner has set an authorization value.") \
    STATUS(WHORL_CHIP_FULL, "chipFull", "The TPM has no room for another counter or key.") \
    STATUS(WHORL_CHIP_LOCKED_OUT, "chipLockedOut", "After too many wrong passcodes the TPM compares none for a while.") \
    STATUS(WHORL_COUNTER_LOST, "counterLost", "The counter that binds items to fingers is no longer in the TPM.") \
    STATUS(WHORL_NAME_REFUSED, "nameRefused", "The name cannot be used for a secret or a key.") \
    STATUS(WHORL_NO_SUCH_ITEM, "noSuchItem", "No secret or key has this name.") \
    STATUS(WHORL_ITEM_EXISTS, "itemExists", "A secret or key of this name exists already.") \
    STATUS(WHORL_ENROLLMENT_CHANGED, "enrollmentChanged", "The fingers have changed, and the item never opens again.") \
    STATUS(WHORL_ITEM_TAMPERED, "itemTampered", "The item was changed from outside, or is of another chip.") \
    STATUS(WHORL_MEASURED_BOOT_CHANGED, "measuredBootChanged", "The machine did not start as the item requires.") \
    STATUS(WHORL_ACCESS_DENIED, "accessDenied", "The proof does not meet the item's access control.") \
    STATUS(WHORL_APPLICATION_PASSWORD_NEEDED, "applicationPasswordNeeded", "The item takes a password of the program.") \
    STATUS(WHORL_APPLICATION_PASSWORD_WRONG, "applicationPasswordWrong", "The password of the program is wrong.") \
    STATUS(WHORL_SECRET_EMPTY, "secretEmpty", "The secret is empty.") \
    STATUS(WHORL_SECRET_TOO_LARGE, "secretTooLarge", "The secret is larger than 1 MiB.") \
    STATUS(WHORL_DIGEST_WRONG_SIZE, "digestWrongSize", "The digest does not have 32 bytes.") \
    STATUS(WHORL_ACCESS_REFUSED, "accessRefused", "The access control is not known, or makes no sense.") \
    STATUS(WHORL_PASSCODE_THROTTLED, "passcodeThrottled", "After too many wrong ones, no passcode is compared for a while.") \
    STATUS(WHORL_PASSCODE_WRONG, "passcodeWrong", "The passcode is wrong.") \
    STATUS(WHORL_NOT_PROVEN, "NotProven", "The service could not tell which process asks.") \
    STATUS(WHORL_NO_ENDORSEMENT, "noEndorsement", "") \
    STATUS(WHORL_CREDENTIAL_REFUSED, "credentialRefused", "") \
    STATUS(WHORL_PUBLIC_KEY_REFUSED, "publicKeyRefused", "") \
    STATUS(WHORL_PASSCODE_EXISTS, "passcodeExists", "") \
    STATUS(WHORL_PASSCODE_WRONG_SIZE, "passcodeWrongSize", "") \
    STATUS(WHORL_PASSCODE_BUSY, "passcodeBusy", "Too many passcodes wait.") \
    STATUS(WHORL_APPLICATION_PASSWORD_THROTTLED, "applicationPasswordThrottled", "No password is tried for a while.") \
    STATUS(WHORL_PASSCODE_NEEDED, "passcodeNeeded", "") \
    STATUS(WHORL_FINGER_EXISTS, "fingerExists", "This finger is enrolled for this reader already.") \
    STATUS(WHORL_DUPLICATE, "duplicate", "This finger is enrolled already.") \
    STATUS(WHORL_INCONSISTENT, "inconsistent", "The presses were not of one finger.") \
    STATUS(WHORL_TOO_MANY_RETRIES, "tooManyRetries", "The finger could not be read too many times.") \
    STATUS(WHORL_NO_FINGER_IN_TIME, "noFingerInTime", "No finger came in time.") \
    STATUS(WHORL_OWNER_NEEDED, "ownerNeeded", "The owner has to agree, with a finger or the passcode.") \
    STATUS(WHORL_CHANGED_MEANWHILE, "changedMeanwhile", "The fingers changed after the owner was asked.") \
    STATUS(WHORL_LOCKED_OUT, "lockedOut", "Fingers are locked after too many failed tries.") \
    STATUS(WHORL_NO_SUCH_FINGER, "noSuchFinger", "No such finger is enrolled.") \
    STATUS(WHORL_READER_NOT_CONNECTED, "readerNotConnected", "The reader that keeps the print is not connected.") \
    STATUS(WHORL_READER_FAILED, "reader", "The reader failed.") \
    STATUS(WHORL_READER_WAS_OPEN, "readerWasOpen", "") \
    STATUS(WHORL_ACCOUNT_RENAMED, "accountRenamed", "") \
    STATUS(WHORL_TAKEN, "taken", "Another program shows the prompts of this session.") \
    STATUS(WHORL_NOT_ALLOWED, "notAllowed", "The configuration lets no agent show prompts.") \
    STATUS(WHORL_NOT_WRITABLE, "notWritable", "") \
    STATUS(WHORL_TOO_OPEN, "tooOpen", "") \
    STATUS(WHORL_DAMAGED, "damaged", "") \
    STATUS(WHORL_NEWER_VERSION, "newerVersion", "") \
    STATUS(WHORL_FOREIGN, "foreign", "") \
    STATUS(WHORL_DISK_FULL, "diskFull", "The disk is full.") \
    STATUS(WHORL_QUOTA_REACHED, "quotaReached", "This user's items may take no more room.") \
    STATUS(WHORL_STORE_BUSY, "busy", "") \
    STATUS(WHORL_KEY_MISSING, "keyMissing", "") \
    STATUS(WHORL_KEY_DAMAGED, "keyDamaged", "") \
    STATUS(WHORL_STATE_FAILED, "failed", "") \
    STATUS(WHORL_SHARE_REACHED, "QuotaReached", "This user's share of the service is used up.") \
    STATUS(WHORL_MESSAGE_REFUSED, "MessageRefused", "") \
    STATUS(WHORL_NO_ACCOUNT, "NoAccount", "") \
    STATUS(WHORL_CONFINED, "Confined", "") \
    STATUS(WHORL_NOT_AT_READER, "NotAtReader", "")

/* Two texts for each, one after the other: a table of pointers would have to be relocated at each start. */
#define NUMBER(status, name, text) status,
#define TEXTS(status, name, text) name "\0" text "\0"
static const short numbers[] = { STATUSES(NUMBER) };
static const char texts[] = STATUSES(TEXTS);


/* Names of the service that mean the same as another one here. */
static const struct {
    short status;
    char name[20];
} others[] = {
    { WHORL_STORE_FAILED, "store" },
    { WHORL_NO_FINGER_IN_TIME, "timedOut" },
    { WHORL_INVALID_SESSION, "invalidContext" },
    { WHORL_APP_CANCEL, "cancelled" },
    { WHORL_NO_ANSWER, "unanswered" },
    { WHORL_OLD_SERVICE, "MethodNotFound" },
    { WHORL_OLD_SERVICE, "InterfaceNotFound" },
    { WHORL_INVALID_ARGUMENT, "InvalidParameter" },
};

static int is_name(const char *name, const uint8_t *bytes, size_t count) {
    return strlen(name) == count && !memcmp(name, bytes, count);
}

int library_status(const uint8_t *name, size_t count) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_name(others[i].name, name, count)) return others[i].status;
    const char *next = texts;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* Those above are of this library, and no service says them. */
        if (numbers[i] <= WHORL_AUTHENTICATION_FAILED && is_name(next, name, count)) return numbers[i];
        next += strlen(next) + 1;
        next += strlen(next) + 1;
    }
    return 0;
}

const char *whorl_status_name(int status) {
    const char *next = texts;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i] == status) return next;
        next += strlen(next) + 1;
        next += strlen(next) + 1;
    }
    return "";
}

const char *whorl_status_text(int status) {
    const char *name = whorl_status_name(status);
    const char *text = *name ? name + strlen(name) + 1 : "";
    if (*text || !*name) return text;
    return whorl_status_text(status <= WHORL_NOT_WRITABLE && status >= WHORL_STATE_FAILED ? WHORL_STORE_FAILED : WHORL_REFUSED);
}

const char *whorl_version(void) { return WHORL_VERSION; }
