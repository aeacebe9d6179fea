/* SPDX-License-Identifier: Apache-2.0
 *
 * What the library needs of C: the table of contexts, whose storage is fixed, the texts of statuses, and system calls. */
#ifndef WHORL_LIBRARY_H
#define WHORL_LIBRARY_H

#include "whorl.h"

#include "CWhorlSocket.h"
#include "whorl_connect.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>

/* --- Contexts ----------------------------------------------------------------------------------------------------- */

/* Puts an object into the table; 0 when it is full. */
whorl_context table_add(void *object);
/* Begins a call with a context; with WHORL_OK its object is the caller's alone until table_leave. With WHORL_FORKED the object
 * is there only for table_remove, and only if no thread of the parent was in a call. */
int table_enter(whorl_context context, void **object);
void table_leave(whorl_context context);
/* Takes an object out, during a call that has entered. */
void table_remove(whorl_context context);

/* Frees an object that is still there when the library is unloaded. */
void library_drop(void *object);

/* --- Statuses ----------------------------------------------------------------------------------------------------- */

/* The status of an error of this name; 0 for one that has none. */
int library_status(const uint8_t *name, size_t count);

/* --- System calls --------------------------------------------------------------------------------------------------- */

static inline int library_is_parent(int pid) { return getpid() == pid; }

/* The flags are EFD_CLOEXEC and EFD_NONBLOCK, which C declares as an enumeration. */
static inline int library_bell_make(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline void library_bell_ring(int bell, int on) {
    uint64_t value = 1;
    ssize_t done = on ? write(bell, &value, sizeof value) : read(bell, &value, sizeof value);
    (void)done;
}

/* Whether the last call failed because nothing has come yet, or for a signal. */
static inline int library_is_waiting(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/* Whether the last call failed because the other side has closed the connection. */
static inline int library_is_hung_up(void) { return errno == EPIPE || errno == ECONNRESET; }

/* Hangs up, also where a child of this process still has a copy of the descriptor. */
static inline void library_hang_up(int socket) {
    shutdown(socket, SHUT_RDWR);
    close(socket);
}

/* Waits for a descriptor: 1 when it is readable, 0 when the time is up or a signal came, -1 for an error. */
static inline int library_wait(int descriptor, int milliseconds) {
    struct pollfd one = { descriptor, POLLIN, 0 };
    int count = poll(&one, 1, milliseconds);
    if (count < 0) return errno == EINTR ? 0 : -1;
    return count && (one.revents & POLLNVAL) ? -1 : count;
}

/* A sealed memory file with these bytes; -1 where the system refuses one. */
static inline int library_secret_make(const void *bytes, size_t count) {
    int file = whorl_memfd_create("whorl-secret");
    if (file < 0) return -1;
    if (pwrite(file, bytes, count, 0) != (ssize_t)count || whorl_seal_size(file)) {
        close(file);
        return -1;
    }
    return file;
}

/* The size of a memory file that cannot change; -1 for any other file, and for one above the largest size of a secret. */
static inline ssize_t library_secret_size(int file) {
    int seals = whorl_seals(file);
    if (seals < 0 || (seals & 7) != 7) return -1;
    off_t size = lseek(file, 0, SEEK_END);
    return size < 0 || size > (2 << 20) ? -1 : (ssize_t)size;
}

static inline int library_secret_read(int file, void *buffer, size_t count) {
    return pread(file, buffer, count, 0) == (ssize_t)count;
}

/* Overwrites a memory file, and closes it. */
static inline void library_secret_drop(int file) {
    static const unsigned char zeros[256];
    ssize_t size = library_secret_size(file);
    for (ssize_t place = 0; place < size;) {
        size_t part = (size_t)(size - place) < sizeof zeros ? (size_t)(size - place) : sizeof zeros;
        ssize_t written = pwrite(file, zeros, part, place);
        if (written <= 0) break;
        place += written;
    }
    close(file);
}

/* Copies a text of the program into memory of its own. */
static inline char *library_copy(const uint8_t *bytes, size_t count) {
    char *copy = (char *)malloc(count + 1);
    if (!copy) return NULL;
    memcpy(copy, bytes, count);
    copy[count] = 0;
    return copy;
}

/* A text that is always there. */
static inline const char *library_empty(void) { return ""; }

#endif
