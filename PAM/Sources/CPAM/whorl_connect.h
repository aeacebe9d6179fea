/* SPDX-License-Identifier: Apache-2.0
 *
 * The connection to the service's socket, shared by the PAM module and the C library, with the clock and the wiping
 * function that both need. */
#ifndef WHORL_CONNECT_H
#define WHORL_CONNECT_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static inline void whorl_wipe(void *bytes, size_t count) {
    volatile unsigned char *next = (volatile unsigned char *)bytes;
    while (count--) *next++ = 0;
}

static inline int64_t whorl_milliseconds(void) {
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) ? 0 : (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Calls stat(2) by number, because the C library's function has a newer version than the oldest supported system. */
static inline int whorl_stat(const char *path, struct stat *found, int flags) {
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, found, flags);
}

struct whorl_peer { pid_t pid; uid_t uid; gid_t gid; };

/* Connects to a socket, but only if root created it: its folder must belong to root, and the listening process must run
 * as root or as the owner of the socket. If the service's queue is full, waits up to two seconds, because the kernel
 * serves waiting processes in order and during a flood retries would not succeed. Returns -1 on failure. */
static inline int whorl_connect(const uint8_t *folder_, const uint8_t *path_) {
    const char *folder = (const char *)folder_, *path = (const char *)path_;
    struct stat place, file;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) return -1;
    if (whorl_stat(folder, &place, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(place.st_mode) || place.st_uid ||
        (place.st_mode & (S_IWGRP | S_IWOTH))) return -1;
    if (whorl_stat(path, &file, AT_SYMLINK_NOFOLLOW) || !S_ISSOCK(file.st_mode)) return -1;
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) return -1;
    struct timeval limit = { 0, 500000 };
    struct whorl_peer peer;
    socklen_t size = sizeof peer;
    /* Called by number: each imported function name adds a hundred bytes to the module. */
    syscall(SYS_setsockopt, made, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    /* A signal also interrupts connect(2). */
    int tries = 4;
    while (tries && connect(made, (const struct sockaddr *)&address, sizeof address)) tries--;
    if (!tries || syscall(SYS_fcntl, made, F_SETFL, O_NONBLOCK) ||
        syscall(SYS_getsockopt, made, SOL_SOCKET, SO_PEERCRED, &peer, &size) || size != sizeof peer ||
        (peer.uid != 0 && peer.uid != file.st_uid)) {
        close(made);
        return -1;
    }
    return made;
}

/* Returns whether the kernel tells the service which process has connected (SO_PEERPIDFD, Linux 6.5), in which case the
 * service does not require proof. */
static inline int whorl_is_named(int made) {
    int number = -1;
    socklen_t size = sizeof number;
    return !syscall(SYS_getsockopt, made, SOL_SOCKET, 77, &number, &size) && !close(number);
}

#endif
