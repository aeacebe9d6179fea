/* SPDX-License-Identifier: Apache-2.0
 *
 * The system calls and PAM calls of the module, for Swift: variadic functions, flags, and structures whose size is a
 * matter of C. No decision is made here but those about the socket's owner and the terminal's identity. */
#ifndef WHORL_PAM_H
#define WHORL_PAM_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
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
static inline void whorl_info(pam_handle_t *handle, const uint8_t *text) { pam_info(handle, "%s", (const char *)text); }

static inline void whorl_log(const pam_handle_t *handle, int priority, const uint8_t *text) {
    pam_syslog(handle, priority, "%s", (const char *)text);
}

/* An item that is text; NULL where it is not set. */
static inline const char *whorl_item(const pam_handle_t *handle, int item) {
    const void *value = NULL;
    return pam_get_item(handle, item, &value) == PAM_SUCCESS ? (const char *)value : NULL;
}

/* The number of a user; -1 where there is none of this name. */
static inline int64_t whorl_uid(pam_handle_t *handle, const char *name) {
    const struct passwd *entry = pam_modutil_getpwnam(handle, name);
    return entry ? (int64_t)entry->pw_uid : -1;
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

/* Waits for the service, the keyboard and the signals, none of which is looked at where it is negative; the bits 1, 2 and
 * 4 say which of them has something. A signal that nothing holds back is the host's, and ends the wait. */
static inline int whorl_poll(int service, int keyboard, int signals, int milliseconds) {
    struct pollfd all[] = { { service, POLLIN, 0 }, { keyboard, POLLIN, 0 }, { signals, POLLIN, 0 } };
    if (poll(all, 3, milliseconds) <= 0) return 0;
    return (all[0].revents ? 1 : 0) | (all[1].revents ? 2 : 0) | (all[2].revents ? 4 : 0);
}

/* --- The service's socket ----------------------------------------------------------------------------------------- */

/* Whether all bytes were taken at once; a message of ours is smaller than any socket's buffer. */
static inline int whorl_send(int socket, const void *bytes, size_t count) {
    return send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)count;
}

/* The number of bytes; 0 when the other end has hung up; -1 when there is nothing now; -2 for an error. */
static inline ssize_t whorl_receive(int socket, void *bytes, size_t count) {
    ssize_t got = recv(socket, bytes, count, MSG_DONTWAIT);
    if (got >= 0) return got;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? -1 : -2;
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
