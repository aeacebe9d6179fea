/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the library written in C: the table of contexts, the texts of statuses, and system calls. */
#ifndef WHORL_LIBRARY_H
#define WHORL_LIBRARY_H

#include "whorl.h"

#include "CWhorlSocket.h"
#include "whorl_connect.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>

/* --- Contexts ----------------------------------------------------------------------------------------------------- */

/* Adds an object to the table; returns 0 if it is full. */
whorl_context table_add(void *object);
/* Begins a call with a context. With WHORL_OK, only the caller can use the object until table_leave. With WHORL_FORKED,
 * the object is set only if no thread of the parent was in a call, and can only be passed to table_remove. */
int table_enter(whorl_context context, void **object);
void table_leave(whorl_context context);
/* Removes the object of a context that the caller has entered. */
void table_remove(whorl_context context);

/* Frees an object that is still in the table when the library is unloaded. */
void library_drop(void *object);

/* --- Statuses ----------------------------------------------------------------------------------------------------- */

/* Returns the status for the error with this name; 0 if it has none. */
int library_status(const uint8_t *name, size_t count);

/* --- System calls ------------------------------------------------------------------------------------------------ */

static inline int library_is_parent(int pid) { return getpid() == pid; }

/* In C, because EFD_CLOEXEC and EFD_NONBLOCK are members of an enumeration. */
static inline int library_bell_make(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline void library_bell_ring(int bell, int on) {
    uint64_t value = 1;
    ssize_t done = on ? write(bell, &value, sizeof value) : read(bell, &value, sizeof value);
    (void)done;
}

/* Returns whether the last call failed because no data is available yet, or because of a signal. */
static inline int library_is_waiting(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/* Returns whether the last call failed because the other side has closed the connection. */
static inline int library_is_hung_up(void) { return errno == EPIPE || errno == ECONNRESET; }

/* Closes the connection, even if a child of this process still has a copy of the descriptor. */
static inline void library_hang_up(int socket) {
    shutdown(socket, SHUT_RDWR);
    close(socket);
}

/* Waits for a descriptor: returns 1 if it is readable, 0 after a timeout or a signal, and -1 for an error. */
static inline int library_wait(int descriptor, int milliseconds) {
    struct pollfd one = { descriptor, POLLIN, 0 };
    int count = poll(&one, 1, milliseconds);
    if (count < 0) return errno == EINTR ? 0 : -1;
    return count && (one.revents & POLLNVAL) ? -1 : count;
}

/* Creates a sealed memory file with these bytes; returns -1 on failure. */
static inline int library_secret_make(const void *bytes, size_t count) {
    int file = whorl_memfd_create("whorl-secret");
    if (file < 0) return -1;
    if (pwrite(file, bytes, count, 0) != (ssize_t)count || whorl_seal_size(file)) {
        close(file);
        return -1;
    }
    return file;
}

/* Returns the size of a memory file whose size is sealed; -1 for any other file, and if it is larger than 2 MiB. */
static inline ssize_t library_secret_size(int file) {
    int seals = whorl_seals(file);
    if (seals < 0 || (seals & 7) != 7) return -1;
    off_t size = lseek(file, 0, SEEK_END);
    return size < 0 || size > (2 << 20) ? -1 : (ssize_t)size;
}

static inline int library_secret_read(int file, void *buffer, size_t count) {
    return pread(file, buffer, count, 0) == (ssize_t)count;
}

/* Wipes a memory file and closes it. */
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

/* Returns a copy of the program's string, with a zero byte at the end; NULL if there is not enough memory. */
static inline char *library_copy(const uint8_t *bytes, size_t count) {
    char *copy = (char *)malloc(count + 1);
    if (!copy) return NULL;
    memcpy(copy, bytes, count);
    copy[count] = 0;
    return copy;
}

/* Returns a string that is always valid. */
static inline const char *library_empty(void) { return ""; }

#endif
