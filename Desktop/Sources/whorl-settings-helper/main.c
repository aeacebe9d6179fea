// SPDX-License-Identifier: Apache-2.0

// Changes which programs accept a touch, for all users of the computer. whorl-settings runs it as root with pkexec.
//
// usage: whorl-settings-helper login|sudo|screen-lock|administrator on|off SERVICE
//        whorl-settings-helper all|keyring on|off
//
// polkit grants one switch, which is the first argument, and not a command. So this program runs only what is listed in
// this file and in switches.h. Nothing that its caller can choose reaches that program: no path, variable, descriptor,
// limit or timer. It is written in C because it only makes system calls and must not need a runtime.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "switches.h"

// The exit statuses of sysexits.h.
enum { wrong_usage = 64, system_error = 71, no_permission = 77 };

static const char pam_auth_update[] = "/usr/sbin/pam-auth-update";
// Where this program is installed, below the folder that also has bin/whorl.
static const char own_place[] = "/libexec/whorl/whorl-settings-helper";

static int fail(const char *what)
{
    fprintf(stderr, "whorl-settings-helper: %s: %s\n", what, strerror(errno));
    return system_error;
}

static int fail_usage(void)
{
    fputs("usage: whorl-settings-helper login|sudo|screen-lock|administrator on|off SERVICE\n"
          "       whorl-settings-helper all|keyring on|off\n", stderr);
    return wrong_usage;
}

// Returns the name of the service in the table, and not the argument; NULL if the switch has no such service.
static const char *listed_service(const char *kind, const char *service)
{
    const struct whorl_switch *listed;
    for (size_t number = 0; (listed = whorl_service(number)) != NULL; number += 1) {
        if (strcmp(kind, listed->kind) == 0 && strcmp(service, listed->name) == 0) {
            return listed->name;
        }
    }
    return NULL;
}

// Looks up the profile of a switch in the table; returns NULL if the table has no such profile.
static const char *listed_profile(const char *kind)
{
    const struct whorl_switch *listed;
    for (size_t number = 0; (listed = whorl_profile(number)) != NULL; number += 1) {
        if (strcmp(kind, listed->kind) == 0) {
            return listed->name;
        }
    }
    return NULL;
}

// Finds whorl in the folder where this program is installed; returns 0 on failure.
static int find_whorl(char path[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    const size_t place = sizeof own_place - 1;
    if (length < 0) {
        return 0;
    }
    path[length] = '\0';
    if ((size_t)length < place || strcmp(path + length - place, own_place) != 0) {
        errno = ENOENT;
        return 0;
    }
    // It is shorter than the end that it replaces.
    strcpy(path + length - place, "/bin/whorl");
    return 1;
}

// Opens descriptors 0 to 2 and closes all others; returns 0 on failure.
static int own_descriptors(void)
{
    const int null = open("/dev/null", O_RDWR);
    // Of descriptors that the caller has closed, this takes the first one, and the others are filled below.
    if (null < 0 || dup2(null, STDIN_FILENO) < 0) {
        return 0;
    }
    for (int number = STDOUT_FILENO; number <= STDERR_FILENO; number += 1) {
        if (fcntl(number, F_GETFD) < 0 && dup2(null, number) < 0) {
            return 0;
        }
    }
    return syscall(SYS_close_range, 3U, UINT_MAX, 0U) == 0;
}

// Removes the limits and timers of the caller, which could end a change halfway; returns 0 on failure.
static int own_limits(void)
{
    static const __rlimit_resource_t unlimited[] = {
        RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_RTTIME,
    };
    static const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
    static const struct rlimit usual_stack = { 8 << 20, RLIM_INFINITY };
    static const struct rlimit usual_files = { 1024, 4096 };
    static const struct itimerval never;
    for (size_t number = 0; number < sizeof unlimited / sizeof *unlimited; number += 1) {
        if (setrlimit(unlimited[number], &none) != 0) {
            return 0;
        }
    }
    return setrlimit(RLIMIT_STACK, &usual_stack) == 0 && setrlimit(RLIMIT_NOFILE, &usual_files) == 0
        && setitimer(ITIMER_REAL, &never, NULL) == 0 && setitimer(ITIMER_VIRTUAL, &never, NULL) == 0
        && setitimer(ITIMER_PROF, &never, NULL) == 0;
}

// Handles all signals in the default way, except those of a window or terminal that is closed.
static void own_signals(void)
{
    static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGPIPE };
    sigset_t none;
    // The C library refuses its own signals, and the kernel those that cannot be handled.
    for (int number = 1; number < NSIG; number += 1) {
        signal(number, SIG_DFL);
    }
    for (size_t number = 0; number < sizeof ignored / sizeof *ignored; number += 1) {
        signal(ignored[number], SIG_IGN);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// Leaves the control group of the caller's session, whose user could end or stop everything in it halfway; returns 0 on
// failure. Without cgroup v2, or where it cannot be changed (a container), there is no such group to leave.
static int leave_group(void)
{
    const int group = open("/sys/fs/cgroup/cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (group < 0) {
        return errno == ENOENT || errno == EROFS || errno == EACCES;
    }
    // The number of the process that writes.
    const int has_left = write(group, "0", 1) == 1;
    close(group);
    return has_left;
}

int main(int count, char **words)
{
    if (count < 3) {
        return fail_usage();
    }
    const int turns_on = strcmp(words[2], "on") == 0;
    const char *service = count == 4 ? listed_service(words[1], words[3]) : NULL;
    const char *profile = count == 3 ? listed_profile(words[1]) : NULL;
    if ((!turns_on && strcmp(words[2], "off") != 0) || (service == NULL && profile == NULL)) {
        return fail_usage();
    }
    if (getuid() != 0 || geteuid() != 0) {
        fputs("whorl-settings-helper: must run as root; whorl-settings runs it with pkexec\n", stderr);
        return no_permission;
    }
    char whorl[PATH_MAX];
    if (!find_whorl(whorl)) {
        return fail("not in its folder");
    }
    if (chdir("/") != 0 || !leave_group() || !own_descriptors() || !own_limits()) {
        return fail("cannot prepare");
    }
    own_signals();
    umask(022);

    // The test of a new file needs a terminal. The other checks of `whorl pam add` remain.
    const char *const add[] = { whorl, "pam", "add", service, "--no-try", "--json", NULL };
    const char *const remove[] = { whorl, "pam", "remove", service, "--json", NULL };
    const char *const update[] = { pam_auth_update, turns_on ? "--enable" : "--disable", profile, NULL };
    const char *const *command = profile != NULL ? update : turns_on ? add : remove;
    const char *const environment[] = {
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", NULL,
    };
    execve(command[0], (char *const *)command, (char *const *)environment);
    return fail(command[0]);
}
