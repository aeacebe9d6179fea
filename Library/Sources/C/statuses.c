/* SPDX-License-Identifier: Apache-2.0
 *
 * The names and sentences of statuses. The names of errors of the service are those that it sends. */
#include "library.h"

#define STATUSES(STATUS) \
    STATUS(WHORL_OK, "ok", "It succeeded.") \
    STATUS(WHORL_INVALID_ARGUMENT, "invalidArgument", "An argument of the call is missing, too long or out of range.") \
    STATUS(WHORL_INVALID_CONTEXT, "invalidContext", "The context was closed, or never opened.") \
    STATUS(WHORL_FORKED, "forked", "The context is that of the parent process; open one of this process.") \
    STATUS(WHORL_BUSY, "busy", "A request is under way with this context; wait for its end, or open another context.") \
    STATUS(WHORL_NO_REQUEST, "noRequest", "No request is under way that this call is for.") \
    STATUS(WHORL_TOO_MANY, "tooMany", "Too many contexts are open; close those that are not needed.") \
    STATUS(WHORL_SYSTEM, "system", "The system has no descriptor or no memory left for it.") \
    STATUS(WHORL_NO_SERVICE, "noService", "The service whorld is not installed, or an administrator has switched it off: sudo systemctl enable --now whorld.socket") \
    STATUS(WHORL_NO_ANSWER, "noAnswer", "The service whorld hung up before it answered; `whorl doctor` says whether it runs.") \
    STATUS(WHORL_NOT_UNDERSTOOD, "notUnderstood", "The answer of the service whorld is not understood; update the library.") \
    STATUS(WHORL_OLD_SERVICE, "oldService", "The service whorld is older than the library; restart it after its update.") \
    STATUS(WHORL_REFUSED, "refused", "The service whorld refused.") \
    STATUS(WHORL_TOO_SMALL, "tooSmall", "The buffer is too small; the size that is needed was stored.") \
    STATUS(WHORL_TIMED_OUT, "timedOut", "The request has not ended in this time, and goes on.") \
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
    STATUS(WHORL_BIOMETRY_DISCONNECTED, "biometryDisconnected", "The reader that the fingers are enrolled for is not connected.") \
    STATUS(WHORL_REASON_MISSING, "reasonMissing", "The reason for the request is empty.") \
    STATUS(WHORL_ENROLLMENT_TAMPERED, "enrollmentTampered", "The enrolled fingers were changed from outside.") \
    STATUS(WHORL_ENROLLMENT_ROLLED_BACK, "enrollmentRolledBack", "The enrolled fingers are an older state than the one last seen.") \
    STATUS(WHORL_READER_IN_USE, "readerInUse", "The fingerprint reader is in use.") \
    STATUS(WHORL_STORE_FAILED, "storeFailed", "The state directory cannot be used.") \
    STATUS(WHORL_CHIP_UNAVAILABLE, "chipUnavailable", "The TPM that protects the state directory cannot be used.") \
    STATUS(WHORL_READER_NOT_CHOSEN, "readerNotChosen", "It is not clear which fingerprint reader is meant.") \
    STATUS(WHORL_NO_CHIP, "noChip", "The machine has no TPM that can be used.") \
    STATUS(WHORL_CHIP_BUSY, "chipBusy", "The TPM does not answer at the moment.") \
    STATUS(WHORL_CHIP_CROWDED, "chipCrowded", "The TPM's room for loaded objects is used up.") \
    STATUS(WHORL_CHIP_FAILED, "chipFailed", "The TPM refused a command.") \
    STATUS(WHORL_CHIP_CLEARED, "chipCleared", "The TPM was cleared, or is another one.") \
    STATUS(WHORL_OWNER_AUTHORIZATION_NEEDED, "ownerAuthorizationNeeded", "The TPM's owner has set an authorization value.") \
    STATUS(WHORL_CHIP_FULL, "chipFull", "The TPM has no room for another counter or key.") \
    STATUS(WHORL_CHIP_LOCKED_OUT, "chipLockedOut", "The TPM compares no passcode for a while, after too many wrong ones.") \
    STATUS(WHORL_COUNTER_LOST, "counterLost", "The counter that binds items to fingers is no longer in the TPM.") \
    STATUS(WHORL_NAME_REFUSED, "nameRefused", "The name cannot be used for a secret or a key.") \
    STATUS(WHORL_NO_SUCH_ITEM, "noSuchItem", "No secret or key has this name.") \
    STATUS(WHORL_ITEM_EXISTS, "itemExists", "A secret or key of this name exists already.") \
    STATUS(WHORL_ENROLLMENT_CHANGED, "enrollmentChanged", "The fingers have changed, and the item never opens again.") \
    STATUS(WHORL_ITEM_TAMPERED, "itemTampered", "The item was changed from outside, or is of another chip.") \
    STATUS(WHORL_MEASURED_BOOT_CHANGED, "measuredBootChanged", "The machine's start is another one than the item's.") \
    STATUS(WHORL_ACCESS_DENIED, "accessDenied", "The proof does not meet the item's access control.") \
    STATUS(WHORL_APPLICATION_PASSWORD_NEEDED, "applicationPasswordNeeded", "The item takes a password of the program.") \
    STATUS(WHORL_APPLICATION_PASSWORD_WRONG, "applicationPasswordWrong", "The password of the program is wrong.") \
    STATUS(WHORL_SECRET_EMPTY, "secretEmpty", "The secret is empty.") \
    STATUS(WHORL_SECRET_TOO_LARGE, "secretTooLarge", "The secret is larger than 1 MiB.") \
    STATUS(WHORL_DIGEST_WRONG_SIZE, "digestWrongSize", "The digest does not have 32 bytes.") \
    STATUS(WHORL_ACCESS_REFUSED, "accessRefused", "The access control is not known, or makes no sense.") \
    STATUS(WHORL_PASSCODE_THROTTLED, "passcodeThrottled", "No passcode is compared for a while, after too many wrong ones.") \
    STATUS(WHORL_PASSCODE_WRONG, "passcodeWrong", "The passcode is wrong.") \
    STATUS(WHORL_NOT_PROVEN, "NotProven", "The service could not tell which process asks.") \
    STATUS(WHORL_FINGER_EXISTS, "fingerExists", "A finger of this name is enrolled for this reader already.") \
    STATUS(WHORL_DUPLICATE, "duplicate", "This finger is enrolled already.") \
    STATUS(WHORL_INCONSISTENT, "inconsistent", "The presses were not of one finger.") \
    STATUS(WHORL_TOO_MANY_RETRIES, "tooManyRetries", "The finger could not be read too many times in a row.") \
    STATUS(WHORL_NO_FINGER_IN_TIME, "noFingerInTime", "No finger came in time.") \
    STATUS(WHORL_OWNER_NEEDED, "ownerNeeded", "The owner has to agree, with an enrolled finger or the passcode.") \
    STATUS(WHORL_CHANGED_MEANWHILE, "changedMeanwhile", "The fingers changed after the owner was asked.") \
    STATUS(WHORL_LOCKED_OUT, "lockedOut", "Fingers are locked after too many failed tries.") \
    STATUS(WHORL_NO_SUCH_FINGER, "noSuchFinger", "No such finger is enrolled.") \
    STATUS(WHORL_READER_NOT_CONNECTED, "readerNotConnected", "The reader that keeps the print is not connected.") \
    STATUS(WHORL_READER_FAILED, "reader", "The reader failed.") \
    STATUS(WHORL_TAKEN, "taken", "Another program shows the prompts of this session already.") \
    STATUS(WHORL_NOT_ALLOWED, "notAllowed", "The service's configuration lets no agent show prompts.")

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
    return *name ? name + strlen(name) + 1 : "";
}

const char *whorl_version(void) { return WHORL_VERSION; }
