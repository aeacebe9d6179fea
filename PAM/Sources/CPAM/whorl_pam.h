/* SPDX-License-Identifier: Apache-2.0
 *
 * The system calls and PAM calls of the module, for Swift: variadic functions, flags, and structures whose size is a
 * matter of C. No decision is made here but those about the socket's owner and the terminal's identity. */
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

/* Texts are bytes, since Swift has them so; each ends in a zero. */

/* A sentence in the language of the host, if the host has set one (po/). */
__attribute__((noinline)) static const char *whorl_translated(const char *text) { return dgettext("whorl", text); }

/* Says a sentence in that language: an instruction (PAM_TEXT_INFO), or that something went wrong (PAM_ERROR_MSG). */
__attribute__((noinline)) static void whorl_say(pam_handle_t *handle, int style, const uint8_t *text) {
    pam_prompt(handle, style, NULL, "%s", whorl_translated((const char *)text));
}

/* Writes a sentence on a terminal, in that language. */
__attribute__((noinline)) static void whorl_show(int terminal, const char *text) {
    text = whorl_translated(text);
    ssize_t written = write(terminal, text, strlen(text));
    (void)written;
}

/* Asks on a terminal, after a sentence if there is one. */
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

/* An item that is text; NULL where it is not set. */
static inline const char *whorl_item(const pam_handle_t *handle, int item) {
    const void *value = NULL;
    return pam_get_item(handle, item, &value) == PAM_SUCCESS ? (const char *)value : NULL;
}

/* Whether the service of a screen locker is the part that handles the touch (1) or another part (-1), which runs at the
 * same time, as in KDE; 0 if it is the whole locker. */
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

/* Prompts for a password. Whether it is empty; another one is passed on to the modules that check it. */
static inline int whorl_password_is_empty(pam_handle_t *handle) {
    char *text = NULL;
    if (pam_prompt(handle, PAM_PROMPT_ECHO_OFF, &text, "%s", whorl_translated("Password or touch: ")) || !text) return 0;
    int empty = !*text;
    if (!empty) pam_set_item(handle, PAM_AUTHTOK, text);
    whorl_wipe(text, strlen(text));
    free(text);
    return empty;
}

/* The number of a user; -1 where there is none of this name. */
static inline int64_t whorl_uid(pam_handle_t *handle, const char *name) {
    const struct passwd *entry = pam_modutil_getpwnam(handle, name);
    return entry ? (int64_t)entry->pw_uid : -1;
}

/* The day of the last change of a user's password, in days since 1970-01-01; -1 where the system does not tell it. */
static inline int64_t whorl_changed_on(pam_handle_t *handle, const char *name) {
    const struct spwd *entry = pam_modutil_getspnam(handle, name);
    return entry ? (int64_t)entry->sp_lstchg : -1;
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

/* Waits for the service, the keyboard and the signals, none of which is looked at where it is negative; the bits 1, 2 and
 * 4 say which of them has something. A signal that nothing holds back is the host's, and ends the wait. With an agent, its
 * hanging up is a signal too. */
static inline int whorl_poll(int service, int keyboard, int signals, int agent, int milliseconds) {
    struct pollfd all[] = { { service, POLLIN, 0 }, { keyboard, POLLIN, 0 }, { signals, POLLIN, 0 }, { agent < 0 ? -1 : 0, 0, 0 } };
    if (poll(all, 4, milliseconds) <= 0) return 0;
    return (all[0].revents ? 1 : 0) | (all[1].revents ? 2 : 0) | (all[2].revents | all[3].revents ? 4 : 0);
}

/* --- polkit's agent ----------------------------------------------------------------------------------------------- */

/* A descriptor of the process of polkit's agent, where this process is polkit's helper and the system's service manager has
 * started it (polkit 127): its standard input is the agent's socket, whose other end the kernel names (SO_PEERPIDFD). -1
 * elsewhere, where standard input is anyone's to choose. */
static inline int whorl_agent(void) {
    static const char unit[] = "0::/system.slice/system-polkit\\x2dagent\\x2dhelper.slice/polkit-agent-helper@";
    enum { LENGTH = sizeof unit - 1 };
    char group[LENGTH];
    int agent = -1, file = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    socklen_t size = sizeof agent;
    /* Compared here: memcmp would come as bcmp, one more name. */
    ssize_t same = 0;
    if (read(file, group, LENGTH) == LENGTH)
        while (same < LENGTH && group[same] == unit[same]) same++;
    if (same == LENGTH && !syscall(SYS_getuid)) syscall(SYS_getsockopt, 0, SOL_SOCKET, 77, &agent, &size);
    close(file);
    return agent;
}

/* --- The service's socket ----------------------------------------------------------------------------------------- */

union whorl_control { struct cmsghdr head; char room[CMSG_SPACE(4 * sizeof(int))]; };

/* Sends bytes, with a descriptor beside them where it is not negative. Whether all bytes were taken at once; a message of
 * ours is smaller than any socket's buffer. */
static inline int whorl_send(int socket, const void *bytes, size_t count, int file) {
    union whorl_control control;
    struct iovec part = { (void *)bytes, count };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (file >= 0) {
        control.head = (struct cmsghdr){ CMSG_LEN(sizeof file), SOL_SOCKET, SCM_RIGHTS };
        memcpy(CMSG_DATA(&control.head), &file, sizeof file);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof file);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)count;
}

/* The number of bytes; 0 when the other end has hung up; -1 when there is nothing now; -2 for an error. The newest
 * descriptor that came is in "file", which is closed if another comes. */
static inline ssize_t whorl_receive(int socket, void *bytes, size_t count, int *file) {
    union whorl_control control;
    struct iovec part = { bytes, count };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
    ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    /* Nothing but descriptors comes beside bytes here, in one part. */
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

/* fcntl(2) by its number, as above; a file of the service cannot shrink while it is read, and cannot be sealed anew. */
enum { WHORL_ADD_SEALS = 1033, WHORL_GET_SEALS = 1034, WHORL_SEALS = 7 /* seal, shrink, grow */ };

/* Leaves the password that lies in a file of the service for the modules that follow. Nothing else is taken: more bytes
 * than PAM takes, a zero byte, a file that somebody could still cut. */
static inline void whorl_hand_over(pam_handle_t *handle, int file) {
    char password[PAM_MAX_RESP_SIZE];
    ssize_t count = (syscall(SYS_fcntl, file, WHORL_GET_SEALS) & WHORL_SEALS) == WHORL_SEALS
        ? pread(file, password, sizeof password, 0) : 0;
    if (count > 0 && (size_t)count < sizeof password) {
        password[count] = 0;
        if (strlen(password) == (size_t)count) pam_set_item(handle, PAM_AUTHTOK, password);
    }
    whorl_wipe(password, sizeof password);
}

/* A file with the password that a module before has checked, as the service takes it; -1 where there is none. */
static inline int whorl_password_file(const pam_handle_t *handle) {
    const char *password = whorl_item(handle, PAM_AUTHTOK);
    size_t count = password ? strlen(password) : 0;
    if (count == 0 || count >= PAM_MAX_RESP_SIZE) return -1;
    int file = (int)syscall(SYS_memfd_create, "whorl-secret", 3 /* MFD_CLOEXEC | MFD_ALLOW_SEALING */);
    if (file >= 0 && (write(file, password, count) != (ssize_t)count || syscall(SYS_fcntl, file, WHORL_ADD_SEALS, WHORL_SEALS))) {
        close(file);
        return -1;
    }
    return file;
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
    /* The number is the kernel's: 12 bits of the major number between the low and the high ones of the minor number. */
    unsigned int major = (unsigned int)((named.st_rdev >> 8) & 0xfff);
    unsigned int minor = (unsigned int)((named.st_rdev & 0xff) | ((named.st_rdev >> 12) & 0xffffff00));
    if (ioctl(terminal, TIOCGDEV, &number) || ((number >> 8) & 0xfff) != major ||
        ((number & 0xff) | ((number >> 12) & 0xfff00)) != minor || tcgetpgrp(terminal) != getpgrp()) {
        close(terminal);
        return -1;
    }
    return terminal;
}

/* Puts a terminal into the state in which each key comes at once and none is shown; what was typed before is dropped. */
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

/* Puts a terminal back into the state before; with dropping, keys that nothing has read are dropped. */
static inline void whorl_terminal_show(int terminal, const struct termios *before, int dropping) {
    if (dropping) tcflush(terminal, TCIFLUSH);
    tcsetattr(terminal, TCSANOW, before);
}

/* One key; -1 when there is none now; -2 when the terminal is gone. */
static inline int whorl_key(int terminal) {
    unsigned char key;
    ssize_t got = read(terminal, &key, 1);
    int result = got == 1 ? key : got < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : -2;
    whorl_wipe(&key, sizeof key);
    return result;
}

/* --- Signals ------------------------------------------------------------------------------------------------------ */

/* Holds the signals back that would end or stop this process, and returns a descriptor that can be read when one has
 * come; -1 where that cannot be. */
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

/* Whether the only signal that has come is the one that stops a job. */
static inline int whorl_signals_stop(void) {
    sigset_t pending;
    sigemptyset(&pending);
    if (sigpending(&pending) || sigismember(&pending, SIGTSTP) != 1) return 0;
    return !(sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGQUIT) == 1 ||
             sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGHUP) == 1 ||
             sigismember(&pending, SIGALRM) == 1);
}

/* Lets the signals through: the host deals with what has come before this returns. */
static inline void whorl_signals_release(int descriptor, const sigset_t *before) {
    if (descriptor < 0) return;
    close(descriptor);
    sigprocmask(SIG_SETMASK, before, NULL);
}

#endif
