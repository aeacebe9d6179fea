/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests the C that needs the C library alone: the system calls that Swift cannot make, the way to the service's socket and
 * libwhorl's table of contexts. scripts/check-arm64 runs it on an emulated processor, on which char has no sign, and with
 * pages of 16 KiB. usage: parts FOLDER PAGE-SIZE */
#include "library.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static int failures;

#define EXPECT(condition)                                                                                                      \
    do {                                                                                                                       \
        if (!(condition)) {                                                                                                    \
            fprintf(stderr, "%s:%d: not true: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);                        \
            failures++;                                                                                                        \
        }                                                                                                                      \
    } while (0)

/* Called by the table for what a program leaves open. */
void library_drop(void *object) { (void)object; }

/* The numbers are written out in Swift, or in C without the header that has them. */
static void numbers(void) {
    EXPECT(WHORL_SO_PASSCRED == SO_PASSCRED);
    EXPECT(WHORL_SO_PEERCRED == SO_PEERCRED);
    EXPECT(WHORL_SO_PEERSEC == SO_PEERSEC);
    EXPECT((int)WHORL_SCM_CREDENTIALS == (int)SCM_CREDENTIALS);
    EXPECT(WHORL_SEEK_DATA == SEEK_DATA && WHORL_SEEK_HOLE == SEEK_HOLE);
    EXPECT(F_ADD_SEALS == 1033 && F_GET_SEALS == 1034);
    EXPECT((F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) == 7);
    EXPECT(O_TMPFILE == (020000000 | O_DIRECTORY));
    EXPECT(sizeof(struct whorl_credentials) == sizeof(struct ucred) && sizeof(struct whorl_peer) == sizeof(struct ucred));
    EXPECT(sizeof(long) == 8 && sizeof(void *) == 8 && sizeof(time_t) == 8 && sizeof(off_t) == 8);
}

/* Messages with the largest number of descriptors, of all byte values. */
static void messages(void) {
    int ends[2], on = 1, sent[WHORL_DESCRIPTORS_SENT];
    unsigned char bytes[256], seen[256];
    struct whorl_control control;
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    EXPECT(setsockopt(ends[1], SOL_SOCKET, WHORL_SO_PASSCRED, &on, sizeof on) == 0);
    for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)i;
    for (int i = 0; i < WHORL_DESCRIPTORS_SENT; i++) {
        sent[i] = whorl_memfd_create("test");
        EXPECT(sent[i] >= 0 && pwrite(sent[i], &i, sizeof i, 0) == sizeof i);
    }
    EXPECT(whorl_receive(ends[1], seen, sizeof seen, &control) == -1 && library_is_waiting());
    EXPECT(whorl_send(ends[0], bytes, sizeof bytes, sent, WHORL_DESCRIPTORS_SENT + 1) == -1 && errno == EINVAL);
    EXPECT(whorl_send(ends[0], bytes, sizeof bytes, sent, WHORL_DESCRIPTORS_SENT) == sizeof bytes);
    EXPECT(whorl_unread(ends[0]) > 0);
    EXPECT(whorl_receive(ends[1], seen, sizeof seen, &control) == sizeof seen);
    EXPECT(!memcmp(bytes, seen, sizeof seen) && !control.is_truncated);
    EXPECT(control.descriptor_count == WHORL_DESCRIPTORS_SENT);
    EXPECT(control.sender == getpid());
    for (int i = 0; i < control.descriptor_count; i++) {
        int number = -1;
        EXPECT(pread(control.descriptors[i], &number, sizeof number, 0) == sizeof number && number == i);
        EXPECT(fcntl(control.descriptors[i], F_GETFD) == FD_CLOEXEC);
        close(control.descriptors[i]);
        close(sent[i]);
    }
    EXPECT(whorl_end_quietly(ends[0]));
    EXPECT(whorl_receive(ends[1], seen, sizeof seen, &control) == 0);
    close(ends[0]);
    close(ends[1]);
}

/* Memory files: their seals, and their memory in whole pages. */
static void secrets(long page) {
    static char room[300001], *const large = room;
    const size_t size = sizeof room - 1;
    char byte = 0;
    memset(large, 0xe9, size);
    int file = library_secret_make(large, size);
    EXPECT(file >= 0 && whorl_seals(file) == 7 && library_secret_size(file) == (ssize_t)size);
    EXPECT(ftruncate(file, 0) == -1 && ftruncate(file, 1 << 20) == -1);
    EXPECT(library_secret_read(file, large, size) && (unsigned char)large[size - 1] == 0xe9);
    EXPECT(!library_secret_read(file, large, size + 1));
    struct stat before, after;
    EXPECT(fstat(file, &before) == 0 && before.st_blocks * 512 >= (long)size);
    EXPECT(whorl_free(file, size) == 0 && fstat(file, &after) == 0);
    /* Part of the last page is zeroed, and not given back. */
    EXPECT(after.st_size == (off_t)size && after.st_blocks * 512 < 2 * page + 65536);
    EXPECT(pread(file, &byte, 1, size - 1) == 1 && byte == 0);
    EXPECT(lseek(file, 0, WHORL_SEEK_HOLE) == 0);
    library_secret_drop(file);
    int plain = open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT(whorl_seals(plain) == -1 && library_secret_size(plain) == -1);
    close(plain);
}

/* Watched sockets: the structure is packed on x86-64 alone. */
static void watches(void) {
    int watch = whorl_watch_make(), ends[2];
    struct whorl_watch_event events[WHORL_WATCH_EVENTS];
    const unsigned long long number = 0xfedcba9876543210ULL;
    EXPECT(watch >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    EXPECT(whorl_watch_set(watch, ends[1], 0, WHORL_READABLE, number) == 0);
    EXPECT(write(ends[0], "x", 1) == 1 && whorl_watch_wait(watch, events) == 1);
    EXPECT(events[0].number == number && events[0].can == WHORL_READABLE);
    EXPECT(whorl_watch_set(watch, ends[1], 1, WHORL_READABLE | WHORL_WRITABLE, number + 1) == 0);
    EXPECT(whorl_watch_wait(watch, events) == 1 && events[0].number == number + 1);
    EXPECT(events[0].can == (WHORL_READABLE | WHORL_WRITABLE));
    EXPECT(whorl_watch_remove(watch, ends[1]) == 0);
    int bell = library_bell_make();
    library_bell_ring(bell, 1);
    EXPECT(library_wait(bell, 0) == 1);
    library_bell_ring(bell, 0);
    EXPECT(library_wait(bell, 0) == 0);
    close(bell);
    close(ends[0]);
    close(ends[1]);
    close(watch);
}

/* Sockets that a child closes: clone(2) has its arguments in another order here. */
static void children(void) {
    int ends[2], status = -1, process = whorl_pidfd_open(getpid());
    EXPECT(process >= 0 || errno == ENOSYS);
    if (process >= 0) close(process);
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    int child = whorl_close_in_child(ends, 1);
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    char byte;
    EXPECT(read(ends[1], &byte, 1) == 0);
    close(ends[1]);
}

/* The way to a socket: one in a folder of root's alone. */
static void connections(const char *folder) {
    char path[200], inner[200];
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(inner, sizeof inner, "%s/ours", folder);
    snprintf(path, sizeof path, "%s/ours/\xc3\xa9", folder);
    EXPECT(mkdir(inner, 0755) == 0);
    strcpy(address.sun_path, path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 4) == 0);
    const uint8_t *where = (const uint8_t *)inner, *what = (const uint8_t *)path;
    int made = whorl_connect(where, what);
    EXPECT(made >= 0);
    int taken = whorl_accept(listener);
    EXPECT(taken >= 0 && fcntl(taken, F_GETFL) & O_NONBLOCK);
    (void)whorl_is_named(made); /* depends on the kernel */
    close(made);
    close(taken);
    EXPECT(chmod(inner, 0777) == 0 && whorl_connect(where, what) == -1);
    EXPECT(chmod(inner, 0755) == 0 && whorl_connect(where, (const uint8_t *)"/dev/null") == -1);
    close(listener);
    int64_t now = whorl_milliseconds();
    EXPECT(now > 0 && whorl_milliseconds() >= now);
    char secret[] = "secret";
    whorl_wipe(secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++) EXPECT(secret[i] == 0);
}

/* The table, which threads enter at the same time: its orders are weaker here than on x86-64. */
enum { THREADS = 4, ROUNDS = 20000 };
static whorl_context shared;
static long entered;

static void *enter(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS;) {
        void *object = NULL;
        int status = table_enter(shared, &object);
        if (status == WHORL_BUSY) continue;
        if (status != WHORL_OK || object != &entered) return (void *)1;
        /* Not atomic: the table lets one in at a time. */
        entered++;
        i++;
        table_leave(shared);
    }
    return NULL;
}

static void contexts(void) {
    pthread_t threads[THREADS];
    void *result, *object;
    EXPECT(table_enter(0, &object) == WHORL_INVALID_CONTEXT && table_enter(~0ULL, &object) == WHORL_INVALID_CONTEXT);
    shared = table_add(&entered);
    EXPECT(shared != 0);
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_create(&threads[i], NULL, enter, NULL) == 0);
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], &result) == 0 && result == NULL);
    EXPECT(entered == (long)THREADS * ROUNDS);
    EXPECT(table_enter(shared, &object) == WHORL_OK);
    table_remove(shared);
    EXPECT(table_enter(shared, &object) == WHORL_INVALID_CONTEXT);
    whorl_context next = table_add(&entered);
    EXPECT(next != 0 && next != shared);
    EXPECT(table_enter(next, &object) == WHORL_OK);
    table_remove(next);
    EXPECT(library_status((const uint8_t *)"biometryNotEnrolled", 19) == WHORL_BIOMETRY_NOT_ENROLLED);
    EXPECT(library_status((const uint8_t *)"\xff\xfe", 2) == 0);
}

int main(int count, char **words) {
    if (count != 3) return 64;
    long page = sysconf(_SC_PAGESIZE);
    EXPECT(page == atol(words[2]));
    numbers();
    messages();
    secrets(page);
    watches();
    children();
    connections(words[1]);
    contexts();
    printf("parts: pages of %ld bytes, char is %s: %s\n", page, (char)-1 < 0 ? "signed" : "unsigned", failures ? "failed" : "ok");
    return failures ? 1 : 0;
}
