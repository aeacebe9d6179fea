/* SPDX-License-Identifier: Apache-2.0
 *
 * libwhorl: fingerprints that unlock secrets and keys, for programs in C and whatever calls C.
 *
 * The engine is the system's service, whorld; this library speaks to it. A program opens a context, begins a request,
 * waits for the context's descriptor in a loop of its own, and takes events:
 *
 *     whorl_context context;
 *     struct whorl_asking asking = WHORL_ASKING_INIT;
 *     asking.reason = "open the till";
 *     if (whorl_open("org.example.till", &context)) ...;
 *     if (whorl_evaluate(context, &asking)) ...;
 *     if (whorl_wait(context, -1) == WHORL_OK) open_the_till();
 *     whorl_close(context);
 *
 * whorl_wait is a loop of poll(2) over whorl_descriptor and whorl_dispatch. A program with a loop of its own (GLib, Qt,
 * asyncio, epoll) watches the descriptor for reading, and calls whorl_dispatch until it returns WHORL_EVENT_NONE.
 *
 * CONTEXTS. A context is a number, as a descriptor is; no number is given twice by a process. 0 is none. A number that is
 * none, or was closed, gives WHORL_INVALID_CONTEXT and does nothing. A context has one request at a time; a program opens
 * as many contexts as it has requests at once, 1,024 at most. A connection to the service is open only during a request.
 *
 * RESULTS. A function returns WHORL_OK or a negative status, but for those that say otherwise. A request that was begun
 * ends with WHORL_EVENT_DONE, exactly once, and whorl_result then says how. WHORL_OK alone is a success: it is said only
 * where the service said so in a whole and valid answer. Of a request with an error it is not known whether the service
 * acted on it where the status is WHORL_NO_ANSWER or WHORL_NOT_UNDERSTOOD.
 *
 * OWNERSHIP. Texts and bytes that a function takes are copied before it returns. A text that a function returns belongs to
 * the context, and is valid until the next call of whorl_dispatch, whorl_wait, whorl_close or of a function that begins a
 * request with this context. Texts are UTF-8 and end in a zero. No memory is left to the caller to free. Secrets and
 * passcodes are never copied into memory of this library: they go between the caller's buffer and a sealed memory file
 * (memfd_create(2)) that is passed to or from the service, and is wiped. The caller locks (mlock(2)) and wipes its buffers.
 *
 * THREADS. The library starts no thread, holds no lock, and calls nothing back. A context is used by one thread at a time:
 * a call while another thread is in one with the same context gives WHORL_BUSY and does nothing. Different contexts are
 * independent. A thread that sleeps in whorl_wait is in no call: another one may cancel the request, or close the context.
 *
 * FORK. In a child of fork(2) the contexts of its parent give WHORL_FORKED; whorl_close frees the child's copy and leaves the
 * parent's request alone. The child opens its own. Descriptors are closed by execve(2).
 *
 * ENVIRONMENT. No variable has an effect, in any program. The socket's path is fixed; its folder has to be root's, and who
 * serves it root or the owner of the socket.
 *
 * UNITS. Times are milliseconds, but for moments, which are seconds since 1970 in UTC. Sizes are bytes.
 *
 * STABILITY. Functions, numbers and the meaning of both stay as they are in all versions that are libwhorl.so.1. New ones are
 * added. A program treats a status, event or update that it does not know as an error, nothing, and nothing.
 */
#ifndef WHORL_H
#define WHORL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of a context. */
typedef uint64_t whorl_context;

/* How a call or a request ended. whorl_status_name and whorl_status_text have a name and a sentence for each. */
enum whorl_status {
    WHORL_OK = 0,

    /* Of this library. */
    WHORL_INVALID_ARGUMENT = -1,   /* An argument is NULL, out of range, too long (4,096 bytes), or no UTF-8. */
    WHORL_INVALID_CONTEXT = -2,    /* The context was closed, or never opened. */
    WHORL_FORKED = -3,             /* The context is that of the parent of this process. */
    WHORL_BUSY = -4,               /* A request is under way, or another thread is in a call with this context. */
    WHORL_NO_REQUEST = -5,         /* No request is under way, or none that this call is for. */
    WHORL_TOO_MANY = -6,           /* 1,024 contexts are open. */
    WHORL_SYSTEM = -7,             /* The system refused a descriptor or memory. */
    WHORL_NO_SERVICE = -8,         /* The service is not installed, does not listen, or is not the system's. */
    WHORL_NO_ANSWER = -9,          /* The service hung up before it answered. */
    WHORL_NOT_UNDERSTOOD = -10,    /* The service's answer is none that this version understands. */
    WHORL_OLD_SERVICE = -11,       /* The service is older than this library, and does not know the request. */
    WHORL_REFUSED = -12,           /* The service refused with an error that has no number; WHORL_TEXT_CODE has its name. */
    WHORL_TOO_SMALL = -13,         /* The buffer is too small; the size that is needed was stored. */
    WHORL_TIMED_OUT = -14,         /* whorl_wait waited for so long; the request goes on. */
    WHORL_NOTHING = -15,           /* There is no such value. */

    /* Of evaluations. The names are Apple's where Apple has one. */
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
    WHORL_PLACE_RESTS = -122,      /* Too many fingers in a row did not match at this machine's logins. */
    WHORL_NOT_PERMITTED = -123,    /* The system's rules (polkit), or the program's place, do not allow it. */

    /* Of secrets and keys. */
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
    WHORL_NOT_PROVEN = -225,       /* The kernel does not tell which process asks, and it has no right to items so. */
    WHORL_NO_ENDORSEMENT = -226,
    WHORL_CREDENTIAL_REFUSED = -227,
    WHORL_PUBLIC_KEY_REFUSED = -228,
    WHORL_PASSCODE_EXISTS = -229,
    WHORL_PASSCODE_WRONG_SIZE = -230,
    WHORL_PASSCODE_BUSY = -231,    /* Too many passcodes of this user wait to be compared; try again. */
    WHORL_APPLICATION_PASSWORD_THROTTLED = -232, /* WHORL_NUMBER_MILLISECONDS has the time to wait. */
    WHORL_PASSCODE_NEEDED = -233,

    /* Of fingers. */
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

    /* Of agents. */
    WHORL_AGENT_TAKEN = -401,       /* Another program shows the prompts of this session. */
    WHORL_AGENT_NOT_ALLOWED = -402, /* The administrator lets no agent show prompts. */

    /* Of the service's state directory; WHORL_STORE_FAILED for any other failure of it. */
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

    /* Of the connection to the service. */
    WHORL_SHARE_REACHED = -601,    /* The programs of this user hold as much of the service as one user may. */
    WHORL_MESSAGE_REFUSED = -602,  /* The request is too large. */
    WHORL_NO_ACCOUNT = -603,       /* The service does not serve this user. */
    WHORL_CONFINED = -604,         /* Sandboxed programs cannot do this. */
    WHORL_NOT_AT_READER = -605     /* The session of the program is not at the reader. */
};

/* Returns the name of a status, such as "biometryLockout", and a sentence about it; "" for a number that is none. An error
 * of the service has one sentence for all: what happened is in WHORL_TEXT_MESSAGE. The texts are valid as long as the
 * library is loaded. */
const char *whorl_status_name(int status);
const char *whorl_status_text(int status);

/* Returns the version of the library, such as "0.1.0". */
const char *whorl_version(void);

/* --- Contexts ----------------------------------------------------------------------------------------------------- */

/* Opens a context for the service of this system. Nothing is asked yet, and it succeeds without a service too.
 *
 * The application is the name under which the program asks, such as "org.example.till": prompts show it, and domain states
 * differ by it. The service takes a confined program's id in place of it. */
int whorl_open(const char *application, whorl_context *context);

/* Opens a context for a service whose socket is at another path, as in a container; the same is asked of the path. */
int whorl_open_at(const char *path, const char *application, whorl_context *context);

/* Closes a context; a request that is under way is cancelled. */
int whorl_close(whorl_context context);

/* Returns a descriptor that is readable while whorl_dispatch has something to do, for poll(2) and its like; negative: a
 * status. It is the same one for as long as the context is open. The caller does not read, write or close it. */
int whorl_descriptor(whorl_context context);

/* Returns the events for which the descriptor is watched (POLLIN); 0 while no request is under way; negative: a status. */
int whorl_events(whorl_context context);

/* Events of a request. */
enum whorl_event {
    WHORL_EVENT_NONE = 0,               /* Nothing now. */
    WHORL_EVENT_DONE = 1,               /* The request has ended; whorl_result says how. */
    WHORL_EVENT_PROMPT = 2,             /* A prompt begins, which the program shows. */
    WHORL_EVENT_UPDATE = 3,             /* The prompt changes; WHORL_NUMBER_UPDATE says how. */
    WHORL_EVENT_PROMPT_END = 4,         /* The prompt ends, and is taken off the screen. */
    WHORL_EVENT_ELSEWHERE = 5,          /* An agent of the session shows the prompt. */
    WHORL_EVENT_PROGRESS = 6,           /* An enrollment goes on; WHORL_NUMBER_UPDATE says how. */
    WHORL_EVENT_PASSCODE_NOT_TAKEN = 7, /* A passcode is not compared, as another one is, or the prompt takes none. */
    WHORL_EVENT_REGISTERED = 8          /* The program shows the prompts of others from now on. */
};

/* Takes what has come from the service without waiting, and returns the next event; negative: a status. Call it until it
 * returns WHORL_EVENT_NONE. WHORL_NO_REQUEST where no request is under way: nothing has to be dispatched. */
int whorl_dispatch(whorl_context context);

/* Waits until the request has ended, at most for so many milliseconds (-1: without a limit), and returns its result.
 * Events before the end are dropped, so that it is for requests without a prompt of the program's own. */
int whorl_wait(whorl_context context, int milliseconds);

/* Returns how the last request ended; WHORL_BUSY while it has not, WHORL_NO_REQUEST before the first one. */
int whorl_result(whorl_context context);

/* Cancels the request. It ends with WHORL_APP_CANCEL, by an event as any other. What the service has done is done. */
int whorl_cancel(whorl_context context);

/* --- Values of the last event or result ----------------------------------------------------------------------------- */

/* Texts. Those about an error come with WHORL_EVENT_DONE and a negative result. Texts of other programs are shown as text,
 * never as markup; control characters and those that change the direction of writing are taken out. */
enum whorl_text {
    WHORL_TEXT_CODE = 1,           /* The name of the error. */
    WHORL_TEXT_MESSAGE = 2,        /* A sentence about what happened; of an update: its sentence, if it has one. */
    WHORL_TEXT_RECOVERY = 3,       /* A sentence about what the person can do. */
    WHORL_TEXT_CAUSE = 4,          /* The cause that a lower layer told, for logs. */
    WHORL_TEXT_METHOD = 5,         /* Of an evaluation: "biometry" or "passcode". */
    WHORL_TEXT_FINGER = 6,         /* A finger, such as "right-index-finger". */
    WHORL_TEXT_READER_KIND = 7,    /* "hardware"; "virtual" or "mock" for a reader that pretends. */
    WHORL_TEXT_PROMPT = 8,         /* The id of the prompt. */
    WHORL_TEXT_TITLE = 9,          /* The heading: the asking program's own word. */
    WHORL_TEXT_REASON = 10,
    WHORL_TEXT_CANCEL_TITLE = 11,
    WHORL_TEXT_FALLBACK_TITLE = 12,/* "" where the button is hidden. */
    WHORL_TEXT_SCAN_TYPE = 13,     /* "press" or "swipe". */
    WHORL_TEXT_ASKER = 14,         /* The id of the confined program that asks; show it in place of the title.
                                    * Unconfined programs of the same user can imitate it: say so. */
    WHORL_TEXT_ASKER_PROCESS = 15, /* The name of the process that asks. */
    WHORL_TEXT_RETRY = 16,         /* Of an update: "general", "tooShort", "centerFinger", "removeFinger", "tooFast". */
    WHORL_TEXT_STRENGTH = 17,      /* Of an evaluation: the strength that the touch had, "any" or words with + between them:
                                      "match-on-chip", "two-fingers", "passcode", and last "reader:" with the reader's id. */
    WHORL_TEXT_PURPOSE = 18,       /* Of a prompt: what the touch is for, by the service's word; show it in a line of its own:
                                      "yes" (unlocks nothing), "storedByProgram", "item", "signIn", "setPasscode",
                                      "changePasscode", "removePasscode", "reseal", "changeFingers", "deleteItem", "keyring",
                                      "keyringOff", "optOut", "logIn", "unlockScreen". */
    WHORL_TEXT_PURPOSE_NAME = 19   /* The name of the item, server, program or PAM service; "" for a purpose without one. */
};

/* Returns a text; "" where there is none, and for a context that is none. Never NULL. */
const char *whorl_text(whorl_context context, int which);

/* Numbers. */
enum whorl_number {
    WHORL_NUMBER_UPDATE = 1,       /* One of enum whorl_update. */
    WHORL_NUMBER_PARTS = 2,        /* What a prompt asks for: 1 a finger, 2 the passcode, 3 either. */
    WHORL_NUMBER_COMPLETED = 3,    /* The stages that are done ... */
    WHORL_NUMBER_TOTAL = 4,        /* ... of so many. */
    WHORL_NUMBER_TRIES_LEFT = 5,
    WHORL_NUMBER_MILLISECONDS = 6, /* The time for which no passcode is compared. */
    WHORL_NUMBER_IS_PRESENT = 7,   /* Whether a finger is on the reader: 1 or 0. */
    WHORL_NUMBER_IS_REUSED = 8,    /* Of an evaluation: whether an earlier touch stood in. */
    WHORL_NUMBER_HAS_READER = 9,   /* Of whorl_can_evaluate. */
    WHORL_NUMBER_IS_PASSCODE_SET = 10,
    WHORL_NUMBER_GENERATION = 11,  /* Of whorl_domain_state: grows with each change of the fingers. */
    WHORL_NUMBER_ASKER_PROCESS = 12,
    WHORL_NUMBER_UNUSED_SECONDS = 13, /* Of a prompt: the touch counts this long after each use ... */
    WHORL_NUMBER_WHOLE_SECONDS = 14   /* ... and this long in all; -1 where it counts once. */
};

/* Returns a number; -1 where there is none. */
int64_t whorl_number(whorl_context context, int which);

/* What changed in a prompt, or in an enrollment. */
enum whorl_update {
    WHORL_UPDATE_OTHER = 0,
    WHORL_UPDATE_TOUCH = 1,          /* The reader waits for a finger. */
    WHORL_UPDATE_FINGER = 2,         /* A finger was laid or lifted: WHORL_NUMBER_IS_PRESENT. */
    WHORL_UPDATE_RETRY = 3,          /* The finger could not be read: WHORL_TEXT_RETRY. */
    WHORL_UPDATE_STAGE = 4,          /* A stage is done: WHORL_NUMBER_COMPLETED, WHORL_NUMBER_TOTAL. */
    WHORL_UPDATE_NO_MATCH = 5,       /* The finger is not enrolled: WHORL_NUMBER_TRIES_LEFT. */
    WHORL_UPDATE_FINGER_ENDED = 6,   /* No finger is asked for any longer, and the passcode is. */
    WHORL_UPDATE_CHECKING = 7,       /* A passcode is compared. */
    WHORL_UPDATE_WRONG_PASSCODE = 8, /* WHORL_NUMBER_TRIES_LEFT before a wait, if that is known. */
    WHORL_UPDATE_THROTTLED = 9,      /* No passcode is compared for WHORL_NUMBER_MILLISECONDS. */
    WHORL_UPDATE_PASSCODE_ENDED = 10,
    WHORL_UPDATE_MATCHED = 11,       /* For the screen alone: whorl_result says whether a request succeeded. */
    WHORL_UPDATE_VERIFIED = 12,      /* As above. */
    WHORL_UPDATE_ENDED = 13,         /* Without success, for the reason in WHORL_TEXT_MESSAGE. */
    WHORL_UPDATE_BEGAN = 14,         /* Of an enrollment: the owner has agreed. WHORL_NUMBER_TOTAL: stages. */
    WHORL_UPDATE_CONFIRMING = 15,    /* Of an enrollment: one more touch confirms it. WHORL_NUMBER_TRIES_LEFT. */
    WHORL_UPDATE_ANOTHER_FINGER = 16 /* The finger matched, and a different one is asked for now. */
};

/* Bytes of a result. */
enum whorl_bytes_of {
    WHORL_BYTES_DOMAIN_STATE = 1, /* 32 bytes, which change when a finger is added, removed or replaced. */
    WHORL_BYTES_PUBLIC_KEY = 2,   /* A point of P-256, uncompressed: 4, x, y; 65 bytes. */
    WHORL_BYTES_SIGNATURE = 3     /* r and s; 64 bytes. */
};

/* Copies bytes of the last result into a buffer, and stores their number. WHORL_NOTHING where there are none. */
int whorl_bytes(whorl_context context, int which, void *buffer, size_t room, size_t *count);

/* Moves the secret that whorl_read_secret got into a buffer, and stores its size; it is then forgotten here. With
 * WHORL_TOO_SMALL it stays for another try. A secret that is not taken is wiped when the next request begins. */
int whorl_take_secret(whorl_context context, void *buffer, size_t room, size_t *count);

/* Values of a row of the last list. */
enum whorl_row {
    WHORL_ROW_NAME = 1,           /* Of an item: its name; of a finger: its name. */
    WHORL_ROW_KIND = 2,           /* Of an item: "secret" or "key". */
    WHORL_ROW_ACCESS = 3,         /* Of an item: its access control. */
    WHORL_ROW_STANDING = 4,       /* Of an item: "valid", "enrollmentChanged", "unknown" or "tampered". */
    WHORL_ROW_CREATED = 5,        /* The moment at which it was made; a number. */
    WHORL_ROW_ID = 6,             /* Of a finger. */
    WHORL_ROW_LABEL = 7,          /* Of a finger: the person's word for it. */
    WHORL_ROW_READER = 8,         /* Of a finger: the name of its reader. */
    WHORL_ROW_LAST_MATCHED = 9    /* Of a finger: the moment of its last match; a number. */
};

/* Returns the number of rows of the last list, whorl_fingers or whorl_items; negative: a status. */
int whorl_rows(whorl_context context);

/* Returns a text of a row, never NULL, and a number of a row, -1 where there is none. Rows are counted from 0. */
const char *whorl_row_text(whorl_context context, int row, int which);
int64_t whorl_row_number(whorl_context context, int row, int which);

/* --- Requests: each begins, and ends with WHORL_EVENT_DONE ------------------------------------------------------------ */

enum whorl_policy {
    WHORL_BIOMETRICS = 1,  /* A matching finger. */
    WHORL_DEVICE_OWNER = 2 /* A matching finger, or the owner's passcode. */
};

enum whorl_asking_flags {
    WHORL_SHOWS_PROMPTS = 1,  /* A person can see the prompts of this program (WHORL_EVENT_PROMPT). */
    WHORL_TAKES_PASSCODE = 2, /* A person can type a passcode into them. */
    WHORL_NO_INTERACTION = 4, /* The request fails where a prompt would be needed. */
    WHORL_PASSCODE_ALONE = 8  /* Of fingers: the owner consents by the passcode, not by a touch. */
};

/* How the owner is asked. Begin with WHORL_ASKING_INIT. */
struct whorl_asking {
    size_t size;                /* sizeof(struct whorl_asking), which says what the caller knows of it. */
    int policy;                 /* enum whorl_policy; WHORL_BIOMETRICS. */
    unsigned int flags;         /* enum whorl_asking_flags; 0: an agent of the session shows the prompt, or nothing does. */
    const char *reason;         /* The reason that the person is told; needed by evaluations and items. */
    const char *cancel_title;   /* The text of the cancel button; NULL: "Cancel". */
    const char *fallback_title; /* The text of the fallback button; NULL: the usual one; "": it is hidden. */
    int timeout;                /* Milliseconds until nothing is waited for any longer; 60,000. The administrator limits it. */
    int reuse;                  /* Milliseconds for which an earlier touch stands in; 0. */
};
#define WHORL_ASKING_INIT { sizeof(struct whorl_asking), WHORL_BIOMETRICS, 0, NULL, NULL, NULL, 60000, 0 }

/* Asks whether an evaluation could succeed now; it never prompts. The result is WHORL_OK or the reason of the no. Gives
 * WHORL_NUMBER_HAS_READER, WHORL_NUMBER_IS_PASSCODE_SET, WHORL_TEXT_READER_KIND, WHORL_BYTES_DOMAIN_STATE. */
int whorl_can_evaluate(whorl_context context, int policy);

/* Asks the owner. Gives WHORL_TEXT_METHOD, WHORL_TEXT_FINGER, WHORL_TEXT_READER_KIND, WHORL_TEXT_STRENGTH,
 * WHORL_BYTES_DOMAIN_STATE. A result means what the caller makes of it: a program whose memory the person can change guards nothing by it. What has to stay
 * closed is kept as a secret or a key. */
int whorl_evaluate(whorl_context context, const struct whorl_asking *asking);

/* Asks for the state of the fingers. Gives WHORL_BYTES_DOMAIN_STATE and WHORL_NUMBER_GENERATION. The result is
 * WHORL_BIOMETRY_NOT_ENROLLED where no finger is enrolled. */
int whorl_domain_state(whorl_context context);

/* Lists the enrolled fingers as rows. */
int whorl_fingers(whorl_context context);

/* Enrolls a finger, such as "right-index-finger", with a label or NULL. The owner is asked first where a finger is enrolled
 * or a passcode is set. Gives WHORL_EVENT_PROGRESS. */
int whorl_enroll(whorl_context context, const char *finger, const char *label, const struct whorl_asking *asking);

/* Removes a finger by its id (WHORL_ROW_ID), with the owner's consent. */
int whorl_remove_finger(whorl_context context, const char *id, const struct whorl_asking *asking);

/* Lists the secrets and keys of the user as rows. */
int whorl_items(whorl_context context);

/* Stores a secret of 1 byte to 1 MiB under a name that no secret has. The access control is a text: "biometry-any",
 * "biometry-current-set", "user-presence", "passcode", and others of Docs/CommandLine.md. */
int whorl_store_secret(whorl_context context, const char *name, const char *access, const void *bytes, size_t count);

/* Reads a secret; the owner is asked for what its access control says. whorl_take_secret then moves it to the caller. */
int whorl_read_secret(whorl_context context, const char *name, const struct whorl_asking *asking);

/* Makes a key for ECDSA over P-256 that never leaves the chip, under a name that no key has. Gives WHORL_BYTES_PUBLIC_KEY. */
int whorl_make_key(whorl_context context, const char *name, const char *access);

/* Asks for the public half of a key. Gives WHORL_BYTES_PUBLIC_KEY. */
int whorl_public_key(whorl_context context, const char *name);

/* Signs a SHA-256 digest of 32 bytes; the owner is asked for what the key's access control says. Gives
 * WHORL_BYTES_SIGNATURE. */
int whorl_sign(whorl_context context, const char *name, const void *digest, size_t count, const struct whorl_asking *asking);

/* Deletes a secret or a key. The owner is asked first if it requires its owner and may still open. */
int whorl_delete_secret(whorl_context context, const char *name, const struct whorl_asking *asking);
int whorl_delete_key(whorl_context context, const char *name, const struct whorl_asking *asking);

/* --- A screen of one's own ------------------------------------------------------------------------------------------ */

/* Shows the prompts of the other programs of the session, until it is cancelled (Docs/Service.md, "Agents"). The flags are
 * those of struct whorl_asking. Gives WHORL_EVENT_REGISTERED, then prompts; it never ends with WHORL_OK. */
int whorl_register_agent(whorl_context context, unsigned int flags);

/* What the person does in a prompt. It is named by its id (WHORL_TEXT_PROMPT); NULL is the newest one. They wait for
 * nothing, and nothing that they say makes a request succeed: a passcode is compared by the service.
 *
 * whorl_prompt_passcode hands in what was typed, 1 to 1,024 bytes without a line's end; whorl_prompt_typing tells four times a
 * second at the most that the person types, so that the time limit begins again; whorl_prompt_close says that no passcode will
 * come; whorl_prompt_end says that a button was pressed. An ended prompt is confirmed to the service by this library. */
enum whorl_action { WHORL_ACTION_CANCEL = 1, WHORL_ACTION_FALLBACK = 2 };
int whorl_prompt_passcode(whorl_context context, const char *prompt, const void *passcode, size_t count);
int whorl_prompt_typing(whorl_context context, const char *prompt);
int whorl_prompt_close(whorl_context context, const char *prompt);
int whorl_prompt_end(whorl_context context, const char *prompt, int action);

#ifdef __cplusplus
}
#endif

#endif
