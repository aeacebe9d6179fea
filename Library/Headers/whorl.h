/* SPDX-License-Identifier: Apache-2.0
 *
 * libwhorl: fingerprints that unlock secrets and keys, for programs in C and in languages that can call C.
 *
 * This library is a client of the system service, whorld. A program opens a context, begins a request, watches the
 * context's descriptor in its event loop, and reads events. Or it simply waits:
 *
 *     whorl_context context;
 *     struct whorl_asking asking = WHORL_ASKING_INIT;
 *     asking.reason = "open the till";
 *     if (whorl_open("org.example.till", &context)) ...;
 *     if (whorl_evaluate(context, &asking)) ...;
 *     if (whorl_wait(context, -1) == WHORL_OK) open_the_till();
 *     whorl_close(context);
 *
 * whorl_wait is a poll(2) loop around whorl_descriptor and whorl_dispatch. A program with an event loop (GLib, Qt,
 * asyncio, epoll) watches the descriptor for reading, and calls whorl_dispatch until it returns WHORL_EVENT_NONE.
 *
 * CONTEXTS. A context is a number, like a file descriptor, but a process never gets the same number twice. 0 is never a
 * context. With a number that is not an open context, functions return WHORL_INVALID_CONTEXT and do nothing. A context
 * has one request at a time; for several requests at the same time, open several contexts (at most 1,024). The
 * connection to the service is open only during a request.
 *
 * RESULTS. Unless stated otherwise, functions return WHORL_OK or a negative status. Each request that was begun ends
 * with exactly one WHORL_EVENT_DONE, after which whorl_result returns the result. Only WHORL_OK means success, and is
 * returned only if the service sent a complete and valid reply that says so. With WHORL_NO_ANSWER and
 * WHORL_NOT_UNDERSTOOD, the service may or may not have carried out the request.
 *
 * OWNERSHIP. Strings and bytes passed to a function are copied before it returns. A returned string belongs to the
 * context, and is valid until the next call to whorl_dispatch, whorl_wait, whorl_close or a function that begins a
 * request with this context. Strings are UTF-8 and end with a zero byte. The caller never has to free memory. Secrets
 * and passcodes are never copied into the library's memory, but only between the caller's buffer and a sealed memory
 * file (memfd_create(2)), which is passed to or from the service and then wiped. The caller should lock its buffers
 * (mlock(2)) and wipe them.
 *
 * THREADS. The library does not start threads, hold locks or make callbacks. Only one thread at a time can use a
 * context: if another thread is in a call with the same context, functions return WHORL_BUSY and do nothing. Different
 * contexts are independent. A thread that sleeps in whorl_wait does not count: another thread can cancel the request or
 * close the context.
 *
 * FORK. In a child of fork(2), functions return WHORL_FORKED for the parent's contexts. whorl_close frees the child's
 * copy without affecting the parent's request. The child must open its own contexts. Descriptors are closed by
 * execve(2).
 *
 * ENVIRONMENT. Environment variables have no effect in any program. The path of the socket is fixed. Its directory must
 * belong to root, and the listening process must run as root or as the owner of the socket.
 *
 * UNITS. Durations are in milliseconds, points in time in seconds since 1970-01-01 UTC, and sizes in bytes.
 *
 * STABILITY. Functions and numbers, and their meaning, do not change in any version of libwhorl.so.1, but new ones may
 * be added. Treat an unknown status as an error, and ignore unknown events and updates.
 */
#ifndef WHORL_H
#define WHORL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A context. */
typedef uint64_t whorl_context;

/* The status of a call or a request. whorl_status_name and whorl_status_text return a name and a sentence for each. */
enum whorl_status {
    WHORL_OK = 0,

    /* Errors of this library. */
    WHORL_INVALID_ARGUMENT = -1,   /* An argument is NULL, out of range, too long (4,096 bytes), or not UTF-8. */
    WHORL_INVALID_CONTEXT = -2,    /* The context was closed, or never opened. */
    WHORL_FORKED = -3,             /* The context belongs to the parent of this process. */
    WHORL_BUSY = -4,               /* A request is in progress, or another thread is in a call with this context. */
    WHORL_NO_REQUEST = -5,         /* No request is in progress, or not one that this call applies to. */
    WHORL_TOO_MANY = -6,           /* 1,024 contexts are open. */
    WHORL_SYSTEM = -7,             /* The system has run out of descriptors or memory. */
    WHORL_NO_SERVICE = -8,         /* The service is not installed or not listening, or is not the system's. */
    WHORL_NO_ANSWER = -9,          /* The service closed the connection before it replied. */
    WHORL_NOT_UNDERSTOOD = -10,    /* This version of the library does not understand the service's reply. */
    WHORL_OLD_SERVICE = -11,       /* The service is older than this library, and does not support the request. */
    WHORL_REFUSED = -12,           /* The service returned an error without a number; its name is in WHORL_TEXT_CODE. */
    WHORL_TOO_SMALL = -13,         /* The buffer is too small; the required size was stored. */
    WHORL_TIMED_OUT = -14,         /* The time limit of whorl_wait has expired; the request continues. */
    WHORL_NOTHING = -15,           /* No such value exists. */

    /* Errors of evaluations, with Apple's names where Apple has one. */
    WHORL_AUTHENTICATION_FAILED = -101,
    WHORL_USER_CANCEL = -102,
    WHORL_USER_FALLBACK = -103,
    WHORL_SYSTEM_CANCEL = -104,
    WHORL_PASSCODE_NOT_SET = -105,
    WHORL_BIOMETRY_NOT_AVAILABLE = -106,
    WHORL_BIOMETRY_OPTED_OUT = -107,
    WHORL_BIOMETRY_NOT_ENROLLED = -108,
    WHORL_BIOMETRY_LOCKOUT = -109,
    WHORL_APP_CANCEL = -110,       /* whorl_cancel was called. */
    WHORL_INVALID_SESSION = -111,
    WHORL_NOT_INTERACTIVE = -112,
    WHORL_BIOMETRY_DISCONNECTED = -113,
    WHORL_REASON_MISSING = -114,
    WHORL_ENROLLMENT_TAMPERED = -115,
    WHORL_ENROLLMENT_ROLLED_BACK = -116,
    WHORL_READER_IN_USE = -117,
    WHORL_STORE_FAILED = -118,
    WHORL_CHIP_UNAVAILABLE = -119,
    WHORL_READER_NOT_CHOSEN = -120,
    WHORL_LID_SHUT = -121,
    WHORL_PLACE_RESTS = -122,      /* Too many touches in a row failed at this machine's logins. */
    WHORL_NOT_PERMITTED = -123,    /* Not allowed by the system's rules (polkit), or from where the program runs. */

    /* Errors of secrets and keys. */
    WHORL_NO_CHIP = -201,
    WHORL_CHIP_BUSY = -202,
    WHORL_CHIP_CROWDED = -203,
    WHORL_CHIP_FAILED = -204,
    WHORL_CHIP_CLEARED = -205,
    WHORL_OWNER_AUTHORIZATION_NEEDED = -206,
    WHORL_CHIP_FULL = -207,
    WHORL_CHIP_LOCKED_OUT = -208,
    WHORL_COUNTER_LOST = -209,
    WHORL_NAME_REFUSED = -210,
    WHORL_NO_SUCH_ITEM = -211,
    WHORL_ITEM_EXISTS = -212,
    WHORL_ENROLLMENT_CHANGED = -213,
    WHORL_ITEM_TAMPERED = -214,
    WHORL_MEASURED_BOOT_CHANGED = -215,
    WHORL_ACCESS_DENIED = -216,
    WHORL_APPLICATION_PASSWORD_NEEDED = -217,
    WHORL_APPLICATION_PASSWORD_WRONG = -218,
    WHORL_SECRET_EMPTY = -219,
    WHORL_SECRET_TOO_LARGE = -220,
    WHORL_DIGEST_WRONG_SIZE = -221,
    WHORL_ACCESS_REFUSED = -222,
    WHORL_PASSCODE_THROTTLED = -223,
    WHORL_PASSCODE_WRONG = -224,
    WHORL_NOT_PROVEN = -225,       /* The calling process cannot be identified, so it cannot use items. */
    WHORL_NO_ENDORSEMENT = -226,
    WHORL_CREDENTIAL_REFUSED = -227,
    WHORL_PUBLIC_KEY_REFUSED = -228,
    WHORL_PASSCODE_EXISTS = -229,
    WHORL_PASSCODE_WRONG_SIZE = -230,
    WHORL_PASSCODE_BUSY = -231,    /* Too many passcodes of this user are waiting to be compared; try again. */
    WHORL_APPLICATION_PASSWORD_THROTTLED = -232, /* WHORL_NUMBER_MILLISECONDS is the time to wait. */
    WHORL_PASSCODE_NEEDED = -233,
    WHORL_SSH_REQUEST_REFUSED = -234,

    /* Errors of fingers and readers. */
    WHORL_FINGER_EXISTS = -301,
    WHORL_DUPLICATE = -302,
    WHORL_INCONSISTENT = -303,
    WHORL_TOO_MANY_RETRIES = -304,
    WHORL_NO_FINGER_IN_TIME = -305,
    WHORL_OWNER_NEEDED = -306,
    WHORL_CHANGED_MEANWHILE = -307,
    WHORL_NO_SUCH_FINGER = -309,
    WHORL_READER_NOT_CONNECTED = -310,
    WHORL_READER_FAILED = -311,
    WHORL_READER_WAS_OPEN = -312,
    WHORL_ACCOUNT_RENAMED = -313,
    WHORL_READER_NOT_OPEN = -314,
    WHORL_READER_UNSUPPORTED = -315,
    WHORL_READER_FULL = -316,
    WHORL_READER_LOCK_UNUSABLE = -317,
    WHORL_READER_TOO_HOT = -318,
    WHORL_READER_UNTRUSTWORTHY = -319,
    WHORL_PRINT_NOT_FOUND = -320,
    WHORL_PRINT_REFUSED = -321,
    WHORL_READER_NOT_PERMITTED = -322,

    /* Errors of agents. */
    WHORL_AGENT_TAKEN = -401,       /* Another program already shows the prompts of this session. */
    WHORL_AGENT_NOT_ALLOWED = -402, /* The administrator does not allow agents to show prompts. */

    /* Errors of the service's state directory; any other failure is WHORL_STORE_FAILED. */
    WHORL_STORE_NOT_WRITABLE = -501,
    WHORL_STORE_TOO_OPEN = -502,
    WHORL_STORE_DAMAGED = -503,
    WHORL_STORE_NEWER = -504,
    WHORL_STORE_FOREIGN = -505,
    WHORL_DISK_FULL = -506,
    WHORL_QUOTA_REACHED = -507,    /* This user's storage limit has been reached. */
    WHORL_STORE_BUSY = -508,       /* Another process held the database for too long; try again. */
    WHORL_STORE_KEY_MISSING = -509,
    WHORL_STORE_KEY_DAMAGED = -510,

    /* Errors of the connection to the service. */
    WHORL_SHARE_REACHED = -601,    /* This user's programs have reached the limit on the service's resources. */
    WHORL_MESSAGE_REFUSED = -602,  /* The request is too large. */
    WHORL_NO_ACCOUNT = -603,       /* The service does not serve this user. */
    WHORL_CONFINED = -604,         /* Sandboxed programs cannot do this. */
    WHORL_NOT_AT_READER = -605     /* The program's session is not at the reader. */
};

/* Return the name of a status, such as "biometryLockout", and a sentence that describes it; "" for an unknown number.
 * All errors of the service have the same sentence; WHORL_TEXT_MESSAGE says what happened. The strings are valid for as
 * long as the library is loaded. */
const char *whorl_status_name(int status);
const char *whorl_status_text(int status);

/* Returns the version of the library, such as "0.1.0". */
const char *whorl_version(void);

/* --- Contexts ----------------------------------------------------------------------------------------------------- */

/* Opens a context for the system service. Does not connect yet, so it succeeds even if the service is not installed.
 *
 * The application is the ID of the program, such as "org.example.till". Prompts show it, and each application has a
 * different domain state. For a confined program, the service uses the program's sandbox ID instead. */
int whorl_open(const char *application, whorl_context *context);

/* Opens a context for a service with another socket path, as in a container. The path must meet the same conditions. */
int whorl_open_at(const char *path, const char *application, whorl_context *context);

/* Closes a context. A request in progress is cancelled. */
int whorl_close(whorl_context context);

/* Returns a descriptor that is readable while whorl_dispatch has something to do, for poll(2) and similar functions, or
 * a negative status. It stays the same for as long as the context is open. Do not read, write or close it. */
int whorl_descriptor(whorl_context context);

/* Returns the events to watch the descriptor for (POLLIN), 0 if no request is in progress, or a negative status. */
int whorl_events(whorl_context context);

/* Events of a request. */
enum whorl_event {
    WHORL_EVENT_NONE = 0,               /* No event is available. */
    WHORL_EVENT_DONE = 1,               /* The request has ended; call whorl_result. */
    WHORL_EVENT_PROMPT = 2,             /* A prompt begins, which the program shows. */
    WHORL_EVENT_UPDATE = 3,             /* The prompt changes, as described by WHORL_NUMBER_UPDATE. */
    WHORL_EVENT_PROMPT_END = 4,         /* The prompt ends; remove it from the screen. */
    WHORL_EVENT_ELSEWHERE = 5,          /* An agent of the session shows the prompt. */
    WHORL_EVENT_PROGRESS = 6,           /* An enrollment progresses, as described by WHORL_NUMBER_UPDATE. */
    WHORL_EVENT_PASSCODE_NOT_TAKEN = 7, /* A passcode is not compared: another one is, or none is expected. */
    WHORL_EVENT_REGISTERED = 8          /* The program shows the prompts of other programs from now on. */
};

/* Reads what the service has sent, without waiting, and returns the next event or a negative status. Call it until it
 * returns WHORL_EVENT_NONE. Returns WHORL_NO_REQUEST if no request is in progress. */
int whorl_dispatch(whorl_context context);

/* Waits until the request ends, for at most this many milliseconds (-1: no limit), and returns its result. Earlier
 * events are discarded, so use it only for requests whose prompts the program does not show. */
int whorl_wait(whorl_context context, int milliseconds);

/* Returns the result of the last request; WHORL_BUSY while it is in progress, WHORL_NO_REQUEST before the first one. */
int whorl_result(whorl_context context);

/* Cancels the request. It ends with a WHORL_EVENT_DONE as usual, and the result WHORL_APP_CANCEL. Anything that the
 * service has already done is not undone. */
int whorl_cancel(whorl_context context);

/* --- Values of the last event or result -------------------------------------------------------------------------- */

/* Strings. Those that describe an error are available after WHORL_EVENT_DONE with a negative result. Show strings of
 * other programs as plain text, never as markup. Control characters and characters that change the direction of text
 * have been removed from them. */
enum whorl_text {
    WHORL_TEXT_CODE = 1,           /* The name of the error. */
    WHORL_TEXT_MESSAGE = 2,        /* Says what happened; in an update, its message, if it has one. */
    WHORL_TEXT_RECOVERY = 3,       /* Says what the user can do. */
    WHORL_TEXT_CAUSE = 4,          /* The cause reported by a lower layer, for logs. */
    WHORL_TEXT_METHOD = 5,         /* In an evaluation: "biometry" or "passcode". */
    WHORL_TEXT_FINGER = 6,         /* A finger, such as "right-index-finger". */
    WHORL_TEXT_READER_KIND = 7,    /* "hardware"; "virtual" or "mock" for a test reader. */
    WHORL_TEXT_PROMPT = 8,         /* The ID of the prompt. */
    WHORL_TEXT_TITLE = 9,          /* The heading, as chosen by the calling program. */
    WHORL_TEXT_REASON = 10,
    WHORL_TEXT_CANCEL_TITLE = 11,
    WHORL_TEXT_FALLBACK_TITLE = 12,/* "" if the button is hidden. */
    WHORL_TEXT_SCAN_TYPE = 13,     /* "press" or "swipe". */
    WHORL_TEXT_ASKER = 14,         /* The ID of the calling program if it is confined; show it instead of the title, and
                                    * point out that unconfined programs of the same user can imitate it. */
    WHORL_TEXT_ASKER_PROCESS = 15, /* The name of the calling process. */
    WHORL_TEXT_RETRY = 16,         /* In an update: "general", "tooShort", "centerFinger", "removeFinger", "tooFast". */
    WHORL_TEXT_STRENGTH = 17,      /* In an evaluation: the strength of the touch, "any" or words separated by "+":
                                    * "match-on-chip", "two-fingers", "passcode", and finally "reader:" with the
                                    * reader's ID. */
    WHORL_TEXT_PURPOSE = 18,       /* In a prompt: the purpose of the touch, as determined by the service; show it on a
                                    * separate line: "yes" (unlocks nothing), "storedByProgram", "item", "signIn",
                                    * "setPasscode", "changePasscode", "removePasscode", "reseal", "changeFingers",
                                    * "deleteItem", "listItems", "deleteEverything", "sshLogin", "sshLoginBound",
                                    * "sshLoginUnproven", "gitSignature", "sshSignature", "sshAuthentication",
                                    * "sshUnknownData", "sshPins", "keyring", "keyringOff", "keyringPassword", "openKeyring", "optOut", "logIn",
                                    * "unlockScreen". */
    WHORL_TEXT_PURPOSE_NAME = 19   /* The name of the item, server, program or PAM service; "" if the purpose has no name. */
};

/* Returns a string; "" if it is not available, or if the context is invalid. Never NULL. */
const char *whorl_text(whorl_context context, int which);

/* Numbers. */
enum whorl_number {
    WHORL_NUMBER_UPDATE = 1,       /* One of enum whorl_update. */
    WHORL_NUMBER_PARTS = 2,        /* What the prompt accepts: 1 a finger, 2 the passcode, 3 either. */
    WHORL_NUMBER_COMPLETED = 3,    /* The number of completed stages. */
    WHORL_NUMBER_TOTAL = 4,        /* The total number of stages. */
    WHORL_NUMBER_TRIES_LEFT = 5,
    WHORL_NUMBER_MILLISECONDS = 6, /* The time during which no passcode is compared. */
    WHORL_NUMBER_IS_PRESENT = 7,   /* Whether a finger is on the reader: 1 or 0. */
    WHORL_NUMBER_IS_REUSED = 8,    /* In an evaluation: whether an earlier touch was reused. */
    WHORL_NUMBER_HAS_READER = 9,   /* From whorl_can_evaluate. */
    WHORL_NUMBER_IS_PASSCODE_SET = 10,
    WHORL_NUMBER_GENERATION = 11,  /* From whorl_domain_state: increases with each change of the enrolled fingers. */
    WHORL_NUMBER_ASKER_PROCESS = 12,
    WHORL_NUMBER_UNUSED_SECONDS = 13, /* In a prompt: how long a touch can be reused after each use; -1 if it cannot. */
    WHORL_NUMBER_WHOLE_SECONDS = 14   /* In a prompt: how long a touch can be reused in total; -1 if it cannot. */
};

/* Returns a number; -1 if it is not available. */
int64_t whorl_number(whorl_context context, int which);

/* Changes to a prompt or an enrollment. */
enum whorl_update {
    WHORL_UPDATE_OTHER = 0,
    WHORL_UPDATE_TOUCH = 1,          /* The reader is waiting for a finger. */
    WHORL_UPDATE_FINGER = 2,         /* A finger was placed or lifted: WHORL_NUMBER_IS_PRESENT. */
    WHORL_UPDATE_RETRY = 3,          /* The finger could not be read: WHORL_TEXT_RETRY. */
    WHORL_UPDATE_STAGE = 4,          /* A stage is complete: WHORL_NUMBER_COMPLETED, WHORL_NUMBER_TOTAL. */
    WHORL_UPDATE_NO_MATCH = 5,       /* The finger is not enrolled: WHORL_NUMBER_TRIES_LEFT. */
    WHORL_UPDATE_FINGER_ENDED = 6,   /* Fingers are no longer accepted, but the passcode is. */
    WHORL_UPDATE_CHECKING = 7,       /* A passcode is being compared. */
    WHORL_UPDATE_WRONG_PASSCODE = 8, /* WHORL_NUMBER_TRIES_LEFT before a wait, if that is known. */
    WHORL_UPDATE_THROTTLED = 9,      /* No passcode is compared for WHORL_NUMBER_MILLISECONDS. */
    WHORL_UPDATE_PASSCODE_ENDED = 10,
    WHORL_UPDATE_MATCHED = 11,       /* Only for display: call whorl_result to find out if a request succeeded. */
    WHORL_UPDATE_VERIFIED = 12,      /* Only for display, as above. */
    WHORL_UPDATE_ENDED = 13,         /* The prompt failed for the reason in WHORL_TEXT_MESSAGE. */
    WHORL_UPDATE_BEGAN = 14,         /* In an enrollment: the owner has agreed. WHORL_NUMBER_TOTAL: stages. */
    WHORL_UPDATE_CONFIRMING = 15,    /* In an enrollment: one more touch confirms it. WHORL_NUMBER_TRIES_LEFT. */
    WHORL_UPDATE_ANOTHER_FINGER = 16 /* The finger matched, and a different one is required now. */
};

/* Byte strings of a result. */
enum whorl_bytes_of {
    WHORL_BYTES_DOMAIN_STATE = 1, /* 32 bytes, which change when a finger is added, removed or replaced. */
    WHORL_BYTES_PUBLIC_KEY = 2,   /* An uncompressed P-256 point, 65 bytes: the byte 4, then x and y. */
    WHORL_BYTES_SIGNATURE = 3     /* 64 bytes: r and s. */
};

/* Copies bytes of the last result into a buffer, and stores their number. Returns WHORL_NOTHING if there are none. */
int whorl_bytes(whorl_context context, int which, void *buffer, size_t room, size_t *count);

/* Moves the secret read by whorl_read_secret into a buffer, and stores its size. The library then no longer has it.
 * With WHORL_TOO_SMALL, it can be taken again. A secret that is not taken is wiped when the next request begins. */
int whorl_take_secret(whorl_context context, void *buffer, size_t room, size_t *count);

/* The values of a row of the last list. */
enum whorl_row {
    WHORL_ROW_NAME = 1,           /* The name of the item or the finger. */
    WHORL_ROW_KIND = 2,           /* Items: "secret" or "key". */
    WHORL_ROW_ACCESS = 3,         /* Items: the access control. */
    WHORL_ROW_STANDING = 4,       /* Items: the state, "valid", "enrollmentChanged", "unknown" or "tampered". */
    WHORL_ROW_CREATED = 5,        /* The time of creation or enrollment; a number. */
    WHORL_ROW_ID = 6,             /* Fingers: the ID. */
    WHORL_ROW_LABEL = 7,          /* Fingers: the label chosen by the user. */
    WHORL_ROW_READER = 8,         /* Fingers: the name of the reader. */
    WHORL_ROW_LAST_MATCHED = 9    /* Fingers: the time of the last match; a number. */
};

/* Returns the number of rows of the last list (whorl_fingers or whorl_items), or a negative status. */
int whorl_rows(whorl_context context);

/* Return a string of a row, never NULL, or a number of a row, -1 if it is not available. The first row is 0. */
const char *whorl_row_text(whorl_context context, int row, int which);
int64_t whorl_row_number(whorl_context context, int row, int which);

/* --- Requests: each function begins one, which ends with WHORL_EVENT_DONE ---------------------------------------- */

enum whorl_policy {
    WHORL_BIOMETRICS = 1,  /* A matching finger. */
    WHORL_DEVICE_OWNER = 2 /* A matching finger, or the owner's passcode. */
};

enum whorl_asking_flags {
    WHORL_SHOWS_PROMPTS = 1,  /* The program shows prompts to the user (WHORL_EVENT_PROMPT). */
    WHORL_TAKES_PASSCODE = 2, /* The user can type a passcode into these prompts. */
    WHORL_NO_INTERACTION = 4, /* The request fails if a prompt would be required. */
    WHORL_PASSCODE_ALONE = 8  /* For changes of fingers: the owner consents with the passcode, not with a touch. */
};

/* The options for prompting the owner. Initialize it with WHORL_ASKING_INIT. */
struct whorl_asking {
    size_t size;                /* sizeof(struct whorl_asking), which tells the library the caller's version of it. */
    int policy;                 /* enum whorl_policy; default: WHORL_BIOMETRICS. */
    unsigned int flags;         /* enum whorl_asking_flags; with 0, only an agent of the session can show the prompt. */
    const char *reason;         /* The reason shown to the user; required by evaluations and for items. */
    const char *cancel_title;   /* The title of the cancel button; NULL: "Cancel". */
    const char *fallback_title; /* The title of the fallback button; NULL: the default; "": the button is hidden. */
    int timeout;                /* Time limit in milliseconds; default: 60,000. The administrator can lower it. */
    int reuse;                  /* Milliseconds for which an earlier touch can be reused; default: 0. */
};
#define WHORL_ASKING_INIT { sizeof(struct whorl_asking), WHORL_BIOMETRICS, 0, NULL, NULL, NULL, 60000, 0 }

/* Checks whether an evaluation could succeed now, without prompting. The result is WHORL_OK, or the reason why it would
 * fail. Provides WHORL_NUMBER_HAS_READER, WHORL_NUMBER_IS_PASSCODE_SET, WHORL_TEXT_READER_KIND and
 * WHORL_BYTES_DOMAIN_STATE. */
int whorl_can_evaluate(whorl_context context, int policy);

/* Prompts the owner. Provides WHORL_TEXT_METHOD, WHORL_TEXT_FINGER, WHORL_TEXT_READER_KIND, WHORL_TEXT_STRENGTH and
 * WHORL_BYTES_DOMAIN_STATE. The result protects nothing by itself: a user who can change the program's memory can also
 * change the result. To protect something, store it as a secret or use a key. */
int whorl_evaluate(whorl_context context, const struct whorl_asking *asking);

/* Reads the state of the enrolled fingers. Provides WHORL_BYTES_DOMAIN_STATE and WHORL_NUMBER_GENERATION. The result is
 * WHORL_BIOMETRY_NOT_ENROLLED if no finger is enrolled. */
int whorl_domain_state(whorl_context context);

/* Lists the enrolled fingers as rows. */
int whorl_fingers(whorl_context context);

/* Enrolls a finger, such as "right-index-finger", with a label or NULL. If a finger is already enrolled or a passcode
 * is set, the owner is prompted first. Sends WHORL_EVENT_PROGRESS events. */
int whorl_enroll(whorl_context context, const char *finger, const char *label, const struct whorl_asking *asking);

/* Removes the finger with this ID (WHORL_ROW_ID), with the owner's consent. */
int whorl_remove_finger(whorl_context context, const char *id, const struct whorl_asking *asking);

/* Lists the user's secrets and keys as rows. */
int whorl_items(whorl_context context);

/* Stores a secret of 1 byte to 1 MiB under a new name. The access control is a string: "biometry-any",
 * "biometry-current-set", "user-presence", "passcode", or another one described in Docs/CommandLine.md. */
int whorl_store_secret(whorl_context context, const char *name, const char *access, const void *bytes, size_t count);

/* Reads a secret after prompting for what its access control requires. Then call whorl_take_secret to get it. */
int whorl_read_secret(whorl_context context, const char *name, const struct whorl_asking *asking);

/* Creates an ECDSA P-256 key, which never leaves the TPM, under a new name. Provides WHORL_BYTES_PUBLIC_KEY. */
int whorl_make_key(whorl_context context, const char *name, const char *access);

/* Reads the public half of a key. Provides WHORL_BYTES_PUBLIC_KEY. */
int whorl_public_key(whorl_context context, const char *name);

/* Signs a SHA-256 digest of 32 bytes after prompting for what the key's access control requires. Provides
 * WHORL_BYTES_SIGNATURE. */
int whorl_sign(whorl_context context, const char *name, const void *digest, size_t count, const struct whorl_asking *asking);

/* Delete a secret or a key. If it requires its owner and might still be usable, the owner is prompted first. */
int whorl_delete_secret(whorl_context context, const char *name, const struct whorl_asking *asking);
int whorl_delete_key(whorl_context context, const char *name, const struct whorl_asking *asking);

/* --- Showing prompts --------------------------------------------------------------------------------------------- */

/* Shows the prompts of the session's other programs until it is cancelled (Docs/Service.md, "Agents"). The flags are
 * those of struct whorl_asking. Sends WHORL_EVENT_REGISTERED, then prompts; it never ends with WHORL_OK. */
int whorl_register_agent(whorl_context context, unsigned int flags);

/* Report the user's actions in a prompt, specified by its ID (WHORL_TEXT_PROMPT) or, with NULL, the most recent one.
 * These functions do not wait, and nothing they report makes a request succeed: the service compares the passcode.
 *
 * whorl_prompt_passcode submits what was typed, 1 to 1,024 bytes without a newline. whorl_prompt_typing reports, at
 * most four times a second, that the user is typing, which restarts the time limit. whorl_prompt_close reports that no
 * passcode will be entered. whorl_prompt_end reports that a button was pressed. The library confirms the end of a
 * prompt to the service by itself. */
enum whorl_action { WHORL_ACTION_CANCEL = 1, WHORL_ACTION_FALLBACK = 2 };
int whorl_prompt_passcode(whorl_context context, const char *prompt, const void *passcode, size_t count);
int whorl_prompt_typing(whorl_context context, const char *prompt);
int whorl_prompt_close(whorl_context context, const char *prompt);
int whorl_prompt_end(whorl_context context, const char *prompt, int action);

#ifdef __cplusplus
}
#endif

#endif
