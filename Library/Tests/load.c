/* SPDX-License-Identifier: Apache-2.0
 *
 * Repeatedly loads, uses and unloads the library: load PATH LIBRARY ROUNDS. Every fourth time, it is unloaded during a
 * request. Prints the number of open files and the memory in use (as counted by glibc), before and after, and the time
 * that dlopen takes. */
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <whorl.h>

static double loading;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int files(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static int round_of(const char *path, const char *library, int is_cut) {
    double begin = now();
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    loading += now() - begin;
    if (!loaded) return 3;
    __typeof__(&whorl_open_at) open_at = (__typeof__(&whorl_open_at))dlsym(loaded, "whorl_open_at");
    __typeof__(&whorl_can_evaluate) ask = (__typeof__(&whorl_can_evaluate))dlsym(loaded, "whorl_can_evaluate");
    __typeof__(&whorl_wait) wait = (__typeof__(&whorl_wait))dlsym(loaded, "whorl_wait");
    __typeof__(&whorl_close) done = (__typeof__(&whorl_close))dlsym(loaded, "whorl_close");
    whorl_context context = 0;
    if (open_at(path, "org.example.load", &context) || ask(context, WHORL_BIOMETRICS)) return 4;
    if (!is_cut) {
        int result = wait(context, 30000);
        if (result != WHORL_OK) return 5;
        if (done(context)) return 6;
    }
    if (dlclose(loaded)) return 7;
    return dlopen(library, RTLD_NOW | RTLD_NOLOAD) ? 8 : 0;
}

int main(int count, char **words) {
    int rounds = count > 3 ? atoi(words[3]) : 1, result = 0;
    /* Memory kept by the first rounds, such as the loader's tables, does not count as growth. */
    for (int round = 0; round < 8 && !result; round++) result = round_of(words[1], words[2], round % 4 == 3);
    int files_before = files();
    loading = 0;
    size_t memory_before = mallinfo2().uordblks;
    for (int round = 0; round < rounds && !result; round++) result = round_of(words[1], words[2], round % 4 == 3);
    printf("rounds %d, files %d to %d, bytes %zu to %zu, ", rounds, files_before, files(), memory_before, mallinfo2().uordblks);
    printf("dlopen %.0f us\n", loading / rounds);
    return result;
}
