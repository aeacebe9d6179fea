/* SPDX-License-Identifier: Apache-2.0
 *
 * The system calls of the SSH agent. */
#ifndef WHORL_AGENT_H
#define WHORL_AGENT_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Serves a listening socket until a signal ends the process; `upstream` may be NULL. Returns an exit status. In Swift. */
int agent_serve(int listening, const char *service, const char *upstream);

/* The signal pipe: readable after SIGHUP, which makes the agent read its list of keys again; -1 on failure. */
int agent_hangup_descriptor(void);

/* Accepts a program; -1 if none is waiting. The descriptor does not block. */
static inline int agent_accept(int listening) {
    return (int)syscall(SYS_accept4, listening, (void *)0, (void *)0, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

struct agent_peer { pid_t pid; uid_t uid; gid_t gid; };

/* Finds out who connected. Returns a process descriptor (pidfd_open(2)), or -1 if the program is not the user's or root's,
 * or has ended. Before Linux 6.5, the descriptor is opened by process ID and may be that of a process that got the ID
 * afterwards. */
static inline int agent_process(int connection, pid_t *pid) {
    struct agent_peer peer;
    socklen_t size = sizeof peer;
    int process = -1;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) || size != sizeof peer) return -1;
    if (peer.uid != getuid() && peer.uid != 0) return -1;
    *pid = peer.pid;
    size = sizeof process;
    if (!getsockopt(connection, SOL_SOCKET, 77 /* SO_PEERPIDFD */, &process, &size)) return process;
    return (int)syscall(SYS_pidfd_open, peer.pid, 0u);
}

/* Connects to another agent without blocking; -1 on failure, if it is this process, and if it runs as another user, who
 * would get the passphrases and keys that are passed on. */
static inline int agent_connect(const uint8_t *path_) {
    const char *path = (const char *)path_;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct agent_peer peer;
    socklen_t size = sizeof peer;
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return -1;
    if (connect(made, (const struct sockaddr *)&address, sizeof address) ||
        getsockopt(made, SOL_SOCKET, SO_PEERCRED, &peer, &size) || size != sizeof peer || peer.pid == getpid() ||
        (peer.uid != getuid() && peer.uid != 0)) {
        close(made);
        return -1;
    }
    return made;
}

/* Reads or writes without blocking and without a signal. Returns -1 if nothing can be transferred now, 0 at the end of the
 * connection, or after an error. */
static inline ssize_t agent_read(int connection, void *bytes, size_t count) {
    ssize_t got = recv(connection, bytes, count, MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR ? -1 : 0;
    return got;
}

static inline ssize_t agent_write(int connection, const void *bytes, size_t count) {
    ssize_t sent = send(connection, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? -1 : 0;
    return sent;
}

static inline void agent_drain(int pipe) {
    char bytes[64];
    while (read(pipe, bytes, sizeof bytes) > 0) {}
}

enum { AGENT_EVENTS = 32 };
struct agent_event { uint64_t number; int can_write; };

/* Waits for watched descriptors, at most this many milliseconds; -1 means without a limit. Returns the number of events. */
static inline int agent_wait(int watch, struct agent_event *events, int milliseconds) {
    struct epoll_event told[AGENT_EVENTS];
    int count = epoll_wait(watch, told, AGENT_EVENTS, milliseconds);
    for (int i = 0; i < count; i++) {
        events[i].number = told[i].data.u64;
        events[i].can_write = (told[i].events & EPOLLOUT) != 0;
    }
    return count < 0 ? 0 : count;
}

/* Reads a file into a buffer; returns the number of bytes, and 0 for a file that is missing, longer, or no regular file. */
size_t agent_read_file(const uint8_t *path, uint8_t *bytes, size_t count);

/* Returns the user's home directory; empty if it is unknown. */
const char *agent_home(void);

static inline int agent_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

static inline int agent_has_ended(int process) {
    struct pollfd one = { process, POLLIN, 0 };
    return poll(&one, 1, 0) > 0;
}

/* Memory for a passphrase: it is neither swapped nor dumped, nor inherited by children. NULL on failure. */
enum { AGENT_PASSPHRASE = 4096 };
static inline uint8_t *agent_locked_memory(void) {
    void *made = mmap(NULL, AGENT_PASSPHRASE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return NULL;
    if (mlock(made, AGENT_PASSPHRASE) || madvise(made, AGENT_PASSPHRASE, MADV_DONTDUMP) ||
        madvise(made, AGENT_PASSPHRASE, MADV_WIPEONFORK)) {
        munmap(made, AGENT_PASSPHRASE);
        return NULL;
    }
    return (uint8_t *)made;
}

/* Writes a line to the journal, and to the terminal to which a process of the user writes its errors, if that is one. */
void agent_tell(pid_t pid, const uint8_t *line, size_t count);

#endif
