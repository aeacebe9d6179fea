/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares a call through the library with the same call made directly over a socket: cost PATH LIBRARY. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <whorl.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static void raw(const char *path) {
    static const char call[] = "{\"method\":\"io.whorl.Fingers.List\",\"parameters\":{}}";
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char answer[4096];
    ssize_t got, all = 0;
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (connect(made, (struct sockaddr *)&address, sizeof address)) exit(3);
    if (send(made, call, sizeof call, MSG_NOSIGNAL) < 0) exit(4);
    do {
        got = recv(made, answer + all, sizeof answer - all, 0);
        if (got <= 0) exit(5);
        all += got;
    } while (answer[all - 1]);
    close(made);
}

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

int main(int count, char **words) {
    enum { ROUNDS = 400 };
    static double with[ROUNDS], without[ROUNDS];
    whorl_context context = 0;
    if (count < 3 || whorl_open_at(words[1], "x", &context)) return 2;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        if (whorl_fingers(context) || whorl_wait(context, -1)) return 6;
        with[round] = now() - begin;
        begin = now();
        raw(words[1]);
        without[round] = now() - begin;
    }
    whorl_close(context);
    qsort(with, ROUNDS, sizeof *with, compare);
    qsort(without, ROUNDS, sizeof *without, compare);
    printf("library %.0f us, socket %.0f us, ratio %.2f\n", with[ROUNDS / 2], without[ROUNDS / 2],
           with[ROUNDS / 2] / without[ROUNDS / 2]);
    return 0;
}
