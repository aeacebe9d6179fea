// SPDX-License-Identifier: Apache-2.0
//
// System calls that Swift cannot make itself: variadic calls, and those that use the macros for control messages. No
// function allocates memory; each returns -1 and sets errno on failure, like the call that it wraps.
#ifndef WHORL_CSOCKET_H
#define WHORL_CSOCKET_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/// The maximum number of descriptors in a sent message, and in a received one (the kernel's SCM_MAX_FD).
///
/// All descriptors of a received message are accepted: the kernel would close the others on this thread, and close(2)
/// may block.
enum { WHORL_DESCRIPTORS_SENT = 8, WHORL_DESCRIPTORS_RECEIVED = 253 };

/// Socket options and control messages that glibc declares only for GNU programs (<linux/socket.h>).
enum {
    WHORL_SCM_CREDENTIALS = 2,
    WHORL_SO_PASSCRED = 16,
    WHORL_SO_PEERCRED = 17,
    WHORL_SO_PEERSEC = 31,
    WHORL_SO_PEERPIDFD = 77
};

/// `struct ucred` of <linux/socket.h>.
struct whorl_credentials {
    int pid;
    unsigned int uid;
    unsigned int gid;
};

/// The control part of a received message.
struct whorl_control {
    int descriptors[WHORL_DESCRIPTORS_RECEIVED];
    int descriptor_count;
    /// The ID of the process that sent the message, as reported by the kernel; 0 if the socket does not request it.
    int sender;
    /// Whether descriptors were dropped, so that the message is incomplete.
    int is_truncated;
};

static inline int whorl_memfd_create(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 3u /* MFD_CLOEXEC | MFD_ALLOW_SEALING */);
}

/// Fixes the size of a memfd with F_SEAL_SEAL, F_SEAL_SHRINK and F_SEAL_GROW.
static inline int whorl_seal_size(int fd) { return fcntl(fd, 1033, 7); }

/// Returns the seals of a descriptor; -1 if it is not a memfd.
static inline int whorl_seals(int fd) { return fcntl(fd, 1034); }

/// Values for `whence` of lseek(2): the next byte that occupies memory, and the next that does not.
enum { WHORL_SEEK_DATA = 3, WHORL_SEEK_HOLE = 4 };

/// Frees the memory of the first bytes of a memory file, which then read as zero; the size of the file is unchanged.
static inline int whorl_free(int fd, long long count) {
    return (int)syscall(SYS_fallocate, fd, 3 /* FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE */, 0LL, count);
}

static inline int whorl_pidfd_open(int pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0u);
}

/// Calls accept4(2) without an address; the new descriptor is non-blocking and is closed on exec.
static inline int whorl_accept(int fd) {
    return (int)syscall(SYS_accept4, fd, (void *)0, (void *)0, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/// Calls sendmsg(2) with bytes and descriptors, without blocking or raising a signal.
static inline ssize_t whorl_send(int fd, const void *bytes, size_t count, const int *descriptors, int number) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int) * WHORL_DESCRIPTORS_SENT)];
    } control;
    struct iovec part = { (void *)bytes, count };
    struct msghdr message;
    if (number < 0 || number > WHORL_DESCRIPTORS_SENT) {
        errno = EINVAL;
        return -1;
    }
    memset(&message, 0, sizeof message);
    memset(&control, 0, sizeof control);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (number > 0) {
        size_t size = sizeof(int) * (size_t)number;
        struct cmsghdr *header;
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(size);
        header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), descriptors, size);
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Calls recvmsg(2) without blocking; the caller must close the received descriptors.
static inline ssize_t whorl_receive(int fd, void *bytes, size_t count, struct whorl_control *result) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int) * WHORL_DESCRIPTORS_RECEIVED) +
                  CMSG_SPACE(sizeof(struct whorl_credentials))];
    } control;
    struct iovec part = { bytes, count };
    struct msghdr message;
    struct cmsghdr *header;
    ssize_t received;
    memset(result, 0, sizeof *result);
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    received = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (received < 0)
        return received;
    result->is_truncated = (message.msg_flags & MSG_CTRUNC) != 0;
    for (header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_len < CMSG_LEN(0))
            continue;
        if (header->cmsg_type == SCM_RIGHTS) {
            size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int), i;
            for (i = 0; i < number; i++) {
                int one;
                memcpy(&one, CMSG_DATA(header) + i * sizeof(int), sizeof one);
                if (result->descriptor_count < WHORL_DESCRIPTORS_RECEIVED)
                    result->descriptors[result->descriptor_count++] = one;
            }
        } else if (header->cmsg_type == WHORL_SCM_CREDENTIALS &&
                   header->cmsg_len >= CMSG_LEN(sizeof(struct whorl_credentials))) {
            struct whorl_credentials sender;
            memcpy(&sender, CMSG_DATA(header), sizeof sender);
            result->sender = sender.pid;
        }
    }
    return received;
}

/// Shuts down a local socket, so that no more data can arrive, and returns whether it has no unread data.
static inline int whorl_end_quietly(int fd) {
    int unread = 1;
    shutdown(fd, SHUT_RDWR);
    return ioctl(fd, FIONREAD, &unread) == 0 && unread == 0;
}

/// Closes local sockets so that an exiting child process frees their unread data, and returns the child's process ID.
///
/// Unread descriptors in a socket are closed together with it. An exiting process does not block on descriptors that
/// linger (SO_LINGER, socket(7)), as any other process would. The caller must wait for the child. If no child can
/// be created, the sockets are not closed.
static inline int whorl_close_in_child(const int *fds, int count) {
    int ends[2], child, i;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    child = (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        // The child keeps the sockets open until the caller has closed them.
        char byte;
        syscall(SYS_close, ends[1]);
        syscall(SYS_read, ends[0], &byte, 1);
        syscall(SYS_exit_group, 0);
    }
    close(ends[0]);
    if (child > 0)
        for (i = 0; i < count; i++)
            close(fds[i]);
    close(ends[1]);
    return child;
}

/// Returns the number of bytes that the other side of a local socket has not read, including the kernel's overhead
/// (SIOCOUTQ, which is TIOCOUTQ).
static inline int whorl_unread(int fd) {
    int unread = 0;
    return ioctl(fd, TIOCOUTQ, &unread) == 0 ? unread : -1;
}

/// The operations that a watched socket is ready for; a hang-up counts as readable, because reading reports it.
enum { WHORL_READABLE = 1, WHORL_WRITABLE = 2 };

static inline int whorl_watch_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

/// Starts watching a socket (`change` 0) or changes what it is watched for (`change` 1); the caller chooses `number`.
static inline int whorl_watch_set(int watch, int fd, int change, int wanted, unsigned long long number) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = ((wanted & WHORL_READABLE) ? EPOLLIN : 0u) | ((wanted & WHORL_WRITABLE) ? EPOLLOUT : 0u);
    event.data.u64 = number;
    return epoll_ctl(watch, change ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
}

static inline int whorl_watch_remove(int watch, int fd) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    return epoll_ctl(watch, EPOLL_CTL_DEL, fd, &event);
}

/// A watched socket that is ready for an operation.
struct whorl_watch_event {
    unsigned long long number;
    int can;
};

enum { WHORL_WATCH_EVENTS = 64 };

/// Waits until watched sockets are ready, and returns the number of ready sockets, at most WHORL_WATCH_EVENTS.
static inline int whorl_watch_wait(int watch, struct whorl_watch_event *events) {
    struct epoll_event told[WHORL_WATCH_EVENTS];
    int count = epoll_wait(watch, told, WHORL_WATCH_EVENTS, -1), i;
    for (i = 0; i < count; i++) {
        events[i].number = told[i].data.u64;
        events[i].can = ((told[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) ? WHORL_READABLE : 0) |
                        ((told[i].events & EPOLLOUT) ? WHORL_WRITABLE : 0);
    }
    return count;
}

#endif
