/* SPDX-License-Identifier: Apache-2.0
 *
 * The names and sentences of statuses. Errors of the service have the names that the service sends. */
#include "library.h"

/* The errors of this library, with their sentences. */
#define OWN(STATUS) \
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
    STATUS(WHORL_APP_CANCEL, "appCancel", "The program canceled the request.") \
    STATUS(WHORL_BIOMETRY_NOT_ENROLLED, "biometryNotEnrolled", "No finger enrolled for this reader.") \
    STATUS(WHORL_SECRET_EMPTY, "secretEmpty", "The secret is empty.") \
    STATUS(WHORL_SECRET_TOO_LARGE, "secretTooLarge", "The secret is larger than 1 MiB.") \
    STATUS(WHORL_DIGEST_WRONG_SIZE, "digestWrongSize", "The digest does not have 32 bytes.")

/* The errors of the service, which sends a message and a recovery suggestion with each. */
#define OF_SERVICE(STATUS) \
    STATUS(WHORL_AUTHENTICATION_FAILED, "authenticationFailed") \
    STATUS(WHORL_USER_CANCEL, "userCancel") \
    STATUS(WHORL_USER_FALLBACK, "userFallback") \
    STATUS(WHORL_SYSTEM_CANCEL, "systemCancel") \
    STATUS(WHORL_PASSCODE_NOT_SET, "passcodeNotSet") \
    STATUS(WHORL_BIOMETRY_NOT_AVAILABLE, "biometryNotAvailable") \
    STATUS(WHORL_BIOMETRY_OPTED_OUT, "biometryOptedOut") \
    STATUS(WHORL_BIOMETRY_LOCKOUT, "biometryLockout") \
    STATUS(WHORL_INVALID_SESSION, "invalidSession") \
    STATUS(WHORL_NOT_INTERACTIVE, "notInteractive") \
    STATUS(WHORL_BIOMETRY_DISCONNECTED, "biometryDisconnected") \
    STATUS(WHORL_REASON_MISSING, "reasonMissing") \
    STATUS(WHORL_ENROLLMENT_TAMPERED, "enrollmentTampered") \
    STATUS(WHORL_ENROLLMENT_ROLLED_BACK, "enrollmentRolledBack") \
    STATUS(WHORL_READER_IN_USE, "readerInUse") \
    STATUS(WHORL_STORE_FAILED, "storeFailed") \
    STATUS(WHORL_CHIP_UNAVAILABLE, "chipUnavailable") \
    STATUS(WHORL_READER_NOT_CHOSEN, "readerNotChosen") \
    STATUS(WHORL_LID_SHUT, "lidShut") \
    STATUS(WHORL_PLACE_RESTS, "placeRests") \
    STATUS(WHORL_NOT_PERMITTED, "notPermitted") \
    STATUS(WHORL_NO_CHIP, "noChip") \
    STATUS(WHORL_CHIP_BUSY, "chipBusy") \
    STATUS(WHORL_CHIP_CROWDED, "chipCrowded") \
    STATUS(WHORL_CHIP_FAILED, "chipFailed") \
    STATUS(WHORL_CHIP_CLEARED, "chipCleared") \
    STATUS(WHORL_OWNER_AUTHORIZATION_NEEDED, "ownerAuthorizationNeeded") \
    STATUS(WHORL_CHIP_FULL, "chipFull") \
    STATUS(WHORL_CHIP_LOCKED_OUT, "chipLockedOut") \
    STATUS(WHORL_COUNTER_LOST, "counterLost") \
    STATUS(WHORL_NAME_REFUSED, "nameRefused") \
    STATUS(WHORL_NO_SUCH_ITEM, "noSuchItem") \
    STATUS(WHORL_ITEM_EXISTS, "itemExists") \
    STATUS(WHORL_ENROLLMENT_CHANGED, "enrollmentChanged") \
    STATUS(WHORL_ITEM_TAMPERED, "itemTampered") \
    STATUS(WHORL_MEASURED_BOOT_CHANGED, "measuredBootChanged") \
    STATUS(WHORL_ACCESS_DENIED, "accessDenied") \
    STATUS(WHORL_APPLICATION_PASSWORD_NEEDED, "applicationPasswordNeeded") \
    STATUS(WHORL_APPLICATION_PASSWORD_WRONG, "applicationPasswordWrong") \
    STATUS(WHORL_ACCESS_REFUSED, "accessRefused") \
    STATUS(WHORL_PASSCODE_THROTTLED, "passcodeThrottled") \
    STATUS(WHORL_PASSCODE_WRONG, "passcodeWrong") \
    STATUS(WHORL_NOT_PROVEN, "NotProven") \
    STATUS(WHORL_NO_ENDORSEMENT, "noEndorsement") \
    STATUS(WHORL_CREDENTIAL_REFUSED, "credentialRefused") \
    STATUS(WHORL_PUBLIC_KEY_REFUSED, "publicKeyRefused") \
    STATUS(WHORL_PASSCODE_EXISTS, "passcodeExists") \
    STATUS(WHORL_PASSCODE_WRONG_SIZE, "passcodeWrongSize") \
    STATUS(WHORL_PASSCODE_BUSY, "passcodeBusy") \
    STATUS(WHORL_APPLICATION_PASSWORD_THROTTLED, "applicationPasswordThrottled") \
    STATUS(WHORL_PASSCODE_NEEDED, "passcodeNeeded") \
    STATUS(WHORL_SSH_REQUEST_REFUSED, "sshRequestRefused") \
    STATUS(WHORL_FINGER_EXISTS, "fingerExists") \
    STATUS(WHORL_DUPLICATE, "duplicate") \
    STATUS(WHORL_INCONSISTENT, "inconsistent") \
    STATUS(WHORL_TOO_MANY_RETRIES, "tooManyRetries") \
    STATUS(WHORL_NO_FINGER_IN_TIME, "noFingerInTime") \
    STATUS(WHORL_OWNER_NEEDED, "ownerNeeded") \
    STATUS(WHORL_CHANGED_MEANWHILE, "changedMeanwhile") \
    STATUS(WHORL_NO_SUCH_FINGER, "noSuchFinger") \
    STATUS(WHORL_READER_NOT_CONNECTED, "readerNotConnected") \
    STATUS(WHORL_READER_FAILED, "readerFailed") \
    STATUS(WHORL_READER_WAS_OPEN, "readerWasOpen") \
    STATUS(WHORL_ACCOUNT_RENAMED, "accountRenamed") \
    STATUS(WHORL_READER_NOT_OPEN, "readerNotOpen") \
    STATUS(WHORL_READER_UNSUPPORTED, "readerUnsupported") \
    STATUS(WHORL_READER_FULL, "readerFull") \
    STATUS(WHORL_READER_LOCK_UNUSABLE, "readerLockUnusable") \
    STATUS(WHORL_READER_TOO_HOT, "readerTooHot") \
    STATUS(WHORL_READER_UNTRUSTWORTHY, "readerUntrustworthy") \
    STATUS(WHORL_PRINT_NOT_FOUND, "printNotFound") \
    STATUS(WHORL_PRINT_REFUSED, "printRefused") \
    STATUS(WHORL_READER_NOT_PERMITTED, "readerNotPermitted") \
    STATUS(WHORL_AGENT_TAKEN, "agentTaken") \
    STATUS(WHORL_AGENT_NOT_ALLOWED, "agentNotAllowed") \
    STATUS(WHORL_STORE_NOT_WRITABLE, "storeNotWritable") \
    STATUS(WHORL_STORE_TOO_OPEN, "storeTooOpen") \
    STATUS(WHORL_STORE_DAMAGED, "storeDamaged") \
    STATUS(WHORL_STORE_NEWER, "storeNewer") \
    STATUS(WHORL_STORE_FOREIGN, "storeForeign") \
    STATUS(WHORL_DISK_FULL, "diskFull") \
    STATUS(WHORL_QUOTA_REACHED, "quotaReached") \
    STATUS(WHORL_STORE_BUSY, "storeBusy") \
    STATUS(WHORL_STORE_KEY_MISSING, "storeKeyMissing") \
    STATUS(WHORL_STORE_KEY_DAMAGED, "storeKeyDamaged") \
    STATUS(WHORL_SHARE_REACHED, "QuotaReached") \
    STATUS(WHORL_MESSAGE_REFUSED, "MessageRefused") \
    STATUS(WHORL_NO_ACCOUNT, "NoAccount") \
    STATUS(WHORL_CONFINED, "Confined") \
    STATUS(WHORL_NOT_AT_READER, "NotAtReader")

/* The sentence for errors of the service. */
static const char fallback[] = "The service whorld refused.";

/* Two strings for each status, one after the other. A table of pointers would have to be relocated at each start. */
#define NUMBER(status, ...) status,
#define TEXTS(status, name, text) name "\0" text "\0"
#define NAME(status, name) name "\0" "\0"
static const short numbers[] = { OWN(NUMBER) OF_SERVICE(NUMBER) };
static const char texts[] = OWN(TEXTS) OF_SERVICE(NAME);

/* Errors of the service that have another name here. */
static const struct {
    short status;
    char name[20];
} others[] = {
    { WHORL_NO_FINGER_IN_TIME, "timedOut" },
    { WHORL_INVALID_SESSION, "invalidContext" },
    { WHORL_NO_ANSWER, "serviceUnavailable" },
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
        /* The service never sends the errors of this library. */
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
    if (!*name) return name;
    const char *text = name + strlen(name) + 1;
    return *text ? text : fallback;
}

const char *whorl_version(void) { return WHORL_VERSION; }
