/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls and PAM calls for the module's Swift code: variadic functions, flags, and structures whose size only C
 * knows. The only decisions made here are about the owner of the socket and the identity of the terminal. */
#ifndef WHORL_PAM_H
#define WHORL_PAM_H

#include <errno.h>
#include <fcntl.h>
#include <libintl.h>
#include <poll.h>
#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <shadow.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <syslog.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "whorl_connect.h"

/* --- PAM ---------------------------------------------------------------------------------------------------------- */

/* Strings are bytes, as in Swift; each ends with a zero byte. */

/* Returns a sentence in the language of the calling program, if that program has set one (po/). */
__attribute__((noinline)) static const char *whorl_translated(const char *text) { return dgettext("whorl", text); }

/* Shows a sentence in that language: an instruction (PAM_TEXT_INFO) or an error (PAM_ERROR_MSG). */
__attribute__((noinline)) static void whorl_say(pam_handle_t *handle, int style, const uint8_t *text) {
    pam_prompt(handle, style, NULL, "%s", whorl_translated((const char *)text));
}

/* Writes a sentence to a terminal, in that language. */
__attribute__((noinline)) static void whorl_show(int terminal, const char *text) {
    text = whorl_translated(text);
    ssize_t written = write(terminal, text, strlen(text));
    (void)written;
}

/* Writes the prompt to a terminal, after a sentence if there is one. */
__attribute__((noinline)) static void whorl_ask(int terminal, const uint8_t *sentence) {
    if (sentence) {
        whorl_show(terminal, "\n");
        whorl_show(terminal, (const char *)sentence);
        whorl_show(terminal, "\n");
    }
    whorl_show(terminal, "Password or touch: ");
}

static inline void whorl_log(const pam_handle_t *handle, int priority, const uint8_t *text) {
    pam_syslog(handle, priority, "%s", (const char *)text);
}

/* Returns an item that is a string; NULL if it is not set. */
static inline const char *whorl_item(const pam_handle_t *handle, int item) {
    const void *value = NULL;
    return pam_get_item(handle, item, &value) == PAM_SUCCESS ? (const char *)value : NULL;
}

/* Returns 1 if the service is the part of a screen locker that handles the touch, -1 if it is another part that runs at the
 * same time (KDE), and 0 for other services. */
static inline int whorl_part(const pam_handle_t *handle) {
    static const char ending[] = "-fingerprint", kde[] = "kde";
    const char *service = whorl_item(handle, PAM_SERVICE);
    if (!service) return 0;
    size_t count = strlen(service), same = 0;
    if (count >= sizeof ending) {
        const char *end = service + count - (sizeof ending - 1);
        while (ending[same] && end[same] == ending[same]) same++;
        if (!ending[same]) return 1;
    }
    for (same = 0; kde[same] && service[same] == kde[same];) same++;
    return !kde[same] && (!service[same] || service[same] == '-') ? -1 : 0;
}

/* Prompts for a password. Returns whether it is empty; otherwise it is passed on to the modules that check it. */
static inline int whorl_password_is_empty(pam_handle_t *handle) {
    char *text = NULL;
    if (pam_prompt(handle, PAM_PROMPT_ECHO_OFF, &text, "%s", whorl_translated("Password or touch: ")) || !text) return 0;
    int empty = !*text;
    if (!empty) pam_set_item(handle, PAM_AUTHTOK, text);
    whorl_wipe(text, strlen(text));
    free(text);
    return empty;
}

/* Returns the ID of the user with this name; -1 if the user does not exist. */
static inline int64_t whorl_uid(pam_handle_t *handle, const char *name) {
    const struct passwd *entry = pam_modutil_getpwnam(handle, name);
    return entry ? (int64_t)entry->pw_uid : -1;
}

/* Returns the day on which a user's password was last changed, in days since 1970-01-01; -1 if it is unknown. */
static inline int64_t whorl_changed_on(pam_handle_t *handle, const char *name) {
    const struct spwd *entry = pam_modutil_getspnam(handle, name);
    return entry ? (int64_t)entry->sp_lstchg : -1;
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

/* Waits for the service, the keyboard and signals; negative descriptors are ignored. Returns bits 1, 2 and 4 for those
 * that are ready. A signal that is not blocked is handled by the calling program, and ends the wait. With an agent, a
 * closed connection counts as a signal as well. */
static inline int whorl_poll(int service, int keyboard, int signals, int agent, int milliseconds) {
    struct pollfd all[] = { { service, POLLIN, 0 }, { keyboard, POLLIN, 0 }, { signals, POLLIN, 0 }, { agent < 0 ? -1 : 0, 0, 0 } };
    if (poll(all, 4, milliseconds) <= 0) return 0;
    return (all[0].revents ? 1 : 0) | (all[1].revents ? 2 : 0) | (all[2].revents | all[3].revents ? 4 : 0);
}

/* --- polkit's agent ----------------------------------------------------------------------------------------------- */

/* Returns a descriptor of the process of polkit's agent, if this process is polkit's helper, started by the system's
 * service manager (polkit 127): its standard input is a socket connected to the agent, which the kernel identifies
 * (SO_PEERPIDFD). Otherwise returns -1, because any program could have chosen the standard input. */
static inline int whorl_agent(void) {
    static const char unit[] = "0::/system.slice/system-polkit\\x2dagent\\x2dhelper.slice/polkit-agent-helper@";
    enum { LENGTH = sizeof unit - 1 };
    char group[LENGTH];
    int agent = -1, file = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    socklen_t size = sizeof agent;
    /* Compared here, because memcmp would be compiled to bcmp, one more imported name. */
    ssize_t same = 0;
    if (read(file, group, LENGTH) == LENGTH)
        while (same < LENGTH && group[same] == unit[same]) same++;
    if (same == LENGTH && !syscall(SYS_getuid)) syscall(SYS_getsockopt, 0, SOL_SOCKET, 77, &agent, &size);
    close(file);
    return agent;
}

/* --- The service's socket ----------------------------------------------------------------------------------------- */

union whorl_control { struct cmsghdr head; char room[CMSG_SPACE(4 * sizeof(int))]; };

/* Sends bytes, along with one or two descriptors if they are not negative. Returns whether all bytes were sent
 * immediately; our messages are smaller than the buffer of any socket. */
static inline int whorl_send(int socket, const void *bytes, size_t count, int file, int second) {
    union whorl_control control;
    struct iovec part = { (void *)bytes, count };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (file >= 0) {
        int files[2] = { file, second };
        size_t size = second >= 0 ? sizeof files : sizeof file;
        control.head = (struct cmsghdr){ CMSG_LEN(size), SOL_SOCKET, SCM_RIGHTS };
        memcpy(CMSG_DATA(&control.head), files, size);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(size);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)count;
}

/* Returns the number of bytes received; 0 if the other end has closed the connection, -1 if there is nothing to read
 * now, -2 for an error. Stores the last descriptor received in "file", and closes the previous one. */
static inline ssize_t whorl_receive(int socket, void *bytes, size_t count, int *file) {
    union whorl_control control;
    struct iovec part = { bytes, count };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
    ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    /* The only control message expected here is one with descriptors. */
    struct cmsghdr *head = got >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        size_t room = (size_t)((char *)&control + message.msg_controllen - (char *)CMSG_DATA(head));
        size_t size = head->cmsg_len - CMSG_LEN(0);
        for (size_t at = 0; at + sizeof *file <= size && at + sizeof *file <= room; at += sizeof *file) {
            if (*file >= 0) close(*file);
            memcpy(file, CMSG_DATA(head) + at, sizeof *file);
        }
    }
    if (got >= 0) return got;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? -1 : -2;
}

/* --- The login password ------------------------------------------------------------------------------------------- */

/* For fcntl(2), called by number as above. With these seals, a file of the service cannot shrink while it is read. */
enum { WHORL_ADD_SEALS = 1033, WHORL_GET_SEALS = 1034, WHORL_SEALS = 7 /* seal, shrink, grow */ };

/* Reads the password in a file of the service; a zero byte follows it. Returns its length, or 0 for a file that is larger
 * than PAM allows, contains a zero byte, or could still be truncated. */
static inline size_t whorl_read_password(int file, char password[PAM_MAX_RESP_SIZE]) {
    ssize_t count = (syscall(SYS_fcntl, file, WHORL_GET_SEALS) & WHORL_SEALS) == WHORL_SEALS
        ? pread(file, password, PAM_MAX_RESP_SIZE, 0) : 0;
    if (count <= 0 || count >= PAM_MAX_RESP_SIZE) return 0;
    password[count] = 0;
    return strlen(password) == (size_t)count ? (size_t)count : 0;
}

/* Passes the login password to the modules that follow. */
static inline void whorl_hand_over(pam_handle_t *handle, int file) {
    char password[PAM_MAX_RESP_SIZE];
    if (whorl_read_password(file, password)) pam_set_item(handle, PAM_AUTHTOK, password);
    whorl_wipe(password, sizeof password);
}

/* Creates a file, in the form that the service accepts, with the password in an item of PAM; returns -1 if there is
 * none. */
__attribute__((noinline)) static int whorl_password_file(const pam_handle_t *handle, int item) {
    const char *password = whorl_item(handle, item);
    size_t count = password ? strlen(password) : 0;
    if (count == 0 || count >= PAM_MAX_RESP_SIZE) return -1;
    int file = (int)syscall(SYS_memfd_create, "whorl-secret", 3 /* MFD_CLOEXEC | MFD_ALLOW_SEALING */);
    if (file >= 0 && (write(file, password, count) != (ssize_t)count || syscall(SYS_fcntl, file, WHORL_ADD_SEALS, WHORL_SEALS))) {
        close(file);
        return -1;
    }
    return file;
}

/* --- The keyring -------------------------------------------------------------------------------------------------- */

/* What a login notes for its session: the file with the keyring's password, and whose it is. */
static const char whorl_note[] = "whorl_keyring", whorl_note_user[] = "whorl_keyring_user";

static void whorl_close_note(pam_handle_t *handle, void *note, int status) {
    (void)handle, (void)status;
    close((int)(intptr_t)note);
}

/* Keeps the file with the keyring's password until the session begins, out of the reach of other modules' items. */
__attribute__((noinline)) static void whorl_keep_for_session(pam_handle_t *handle, uid_t user, int file) {
    long copy = syscall(SYS_fcntl, file, 1030 /* F_DUPFD_CLOEXEC */, 3);
    if (copy >= 0 && (pam_set_data(handle, whorl_note_user, (void *)(uintptr_t)user, NULL) != PAM_SUCCESS ||
                      pam_set_data(handle, whorl_note, (void *)(intptr_t)copy, whorl_close_note) != PAM_SUCCESS)) close((int)copy);
}

/* Sends the password to the user's keyring, as this user: the first byte says who sends, then follow the number of bytes,
 * the operation (1: unlock), and the password with its length. The keyring may be started by a later line of the stack, so
 * its socket is awaited for 15 seconds. */
static inline void whorl_unlock_keyring(uid_t user, gid_t group, int file) {
    struct { char zero, head[12], password[PAM_MAX_RESP_SIZE]; } packet = { .zero = 0 };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char number[12], *digit = number + sizeof number;
    uint32_t count = (uint32_t)whorl_read_password(file, packet.password);
    if (!count || syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, group, group, group) ||
        syscall(SYS_setresuid, user, user, user)) return;
    *--digit = 0;
    do *--digit = (char)('0' + user % 10); while ((user /= 10));
    char *end = address.sun_path;
    strcpy(end, "/run/user/");
    strcpy(end + strlen(end), digit);
    strcpy(end + strlen(end), "/keyring/control");
    const uint32_t numbers[] = { 12 + count, 1, count };
    for (size_t i = 0; i < 12; i++) packet.head[i] = (char)(numbers[i / 4] >> (24 - i % 4 * 8));
    for (int tries = 0; tries < 600; tries++, poll(NULL, 0, 25)) {
        int keyring = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (!connect(keyring, (struct sockaddr *)&address, sizeof address)) {
            struct pollfd reply = { keyring, POLLIN, 0 };
            if (write(keyring, &packet.zero, 1) == 1 && write(keyring, packet.head, 12 + count) > 0) poll(&reply, 1, 15000);
            return;
        }
        close(keyring);
    }
}

/* Unlocks the keyring of the user whose session begins, if the service released its password to this login. A separate
 * process does this in the background. The calling program gets no SIGCHLD for it, and shares no open files with it. */
static inline void whorl_open_keyring(pam_handle_t *handle) {
    const void *note = NULL, *whose = NULL;
    const char *name = NULL;
    if (pam_get_data(handle, whorl_note, &note) != PAM_SUCCESS || pam_get_data(handle, whorl_note_user, &whose) != PAM_SUCCESS ||
        pam_get_user(handle, &name, NULL) != PAM_SUCCESS) return;
    const struct passwd *user = pam_modutil_getpwnam(handle, name);
    int file = (int)(intptr_t)note;
    /* sudo's session is another user's. */
    long child = file >= 0 && user && user->pw_uid == (uid_t)(uintptr_t)whose ? syscall(SYS_clone, 0, NULL, NULL, NULL, NULL) : -1;
    if (child == 0) {
        if (syscall(SYS_clone, 0, NULL, NULL, NULL, NULL) == 0) {
            syscall(SYS_close_range, 0, file - 1, 0);
            syscall(SYS_close_range, file + 1, ~0U, 0);
            whorl_unlock_keyring(user->pw_uid, user->pw_gid, file);
        }
        syscall(SYS_exit_group, 0);
    }
    while (child > 0 && syscall(SYS_wait4, child, NULL, 0x80000000 /* __WCLONE */, NULL) < 0 && errno == EINTR) {}
    pam_set_data(handle, whorl_note, (void *)(intptr_t)-1, whorl_close_note);
}

/* --- The terminal ------------------------------------------------------------------------------------------------- */

/* Opens the controlling terminal if it is the one with this name and this process is in the foreground there. */
static inline int whorl_terminal(const uint8_t *path_) {
    const char *path = (const char *)path_;
    struct stat named;
    unsigned int number = 0;
    if (whorl_stat(path, &named, 0) || !S_ISCHR(named.st_mode)) return -1;
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (terminal < 0) return -1;
    /* The kernel's number: low bits of the minor number, 12-bit major number, then the rest of the minor number. */
    unsigned int major = (unsigned int)((named.st_rdev >> 8) & 0xfff);
    unsigned int minor = (unsigned int)((named.st_rdev & 0xff) | ((named.st_rdev >> 12) & 0xffffff00));
    if (ioctl(terminal, TIOCGDEV, &number) || ((number >> 8) & 0xfff) != major ||
        ((number & 0xff) | ((number >> 12) & 0xfff00)) != minor || tcgetpgrp(terminal) != getpgrp()) {
        close(terminal);
        return -1;
    }
    return terminal;
}

/* Makes a terminal report each key immediately and show none. Discards what was typed before. */
static inline int whorl_terminal_hide(int terminal, struct termios *before) {
    if (tcgetattr(terminal, before)) return -1;
    struct termios hidden = *before;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL | ICANON | IEXTEN);
    hidden.c_lflag |= ISIG;
    hidden.c_cc[VMIN] = 1;
    hidden.c_cc[VTIME] = 0;
    tcflush(terminal, TCIFLUSH);
    return tcsetattr(terminal, TCSANOW, &hidden);
}

/* Restores a terminal's previous state. With "dropping", discards keys that have not been read. */
static inline void whorl_terminal_show(int terminal, const struct termios *before, int dropping) {
    if (dropping) tcflush(terminal, TCIFLUSH);
    tcsetattr(terminal, TCSANOW, before);
}

/* Returns a key; -1 if none was typed yet, -2 if the terminal is gone. */
static inline int whorl_key(int terminal) {
    unsigned char key;
    ssize_t got = read(terminal, &key, 1);
    int result = got == 1 ? key : got < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : -2;
    whorl_wipe(&key, sizeof key);
    return result;
}

/* --- Signals ------------------------------------------------------------------------------------------------------ */

/* Blocks the signals that would terminate or stop this process, and returns a descriptor that is readable when one is
 * pending; -1 on failure. */
static inline int whorl_signals_hold(sigset_t *before) {
    static const int held[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM, SIGTSTP };
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) sigaddset(&set, held[i]);
    if (sigprocmask(SIG_BLOCK, &set, before)) return -1;
    int made = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (made < 0) sigprocmask(SIG_SETMASK, before, NULL);
    return made;
}

/* Returns whether the only pending signal is the one that stops a job. */
static inline int whorl_signals_stop(void) {
    sigset_t pending;
    sigemptyset(&pending);
    if (sigpending(&pending) || sigismember(&pending, SIGTSTP) != 1) return 0;
    return !(sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGQUIT) == 1 ||
             sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGHUP) == 1 ||
             sigismember(&pending, SIGALRM) == 1);
}

/* Unblocks the signals. The calling program handles pending ones before this function returns. */
static inline void whorl_signals_release(int descriptor, const sigset_t *before) {
    if (descriptor < 0) return;
    close(descriptor);
    sigprocmask(SIG_SETMASK, before, NULL);
}

#endif
