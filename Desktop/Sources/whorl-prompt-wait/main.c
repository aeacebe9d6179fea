// SPDX-License-Identifier: Apache-2.0

// Waits for the next prompt in place of whorl-prompt, which uses GTK and a lot of memory.
//
// usage: whorl-prompt-wait REGISTRATION SCREEN PROGRAM [ARGUMENT…]
//
// REGISTRATION and SCREEN are descriptors: the socket on which the agent is registered with the service, and an idle
// connection to the display server. When REGISTRATION is readable, or the service has closed it, this process executes
// PROGRAM. When the display server has closed SCREEN, it exits. It does not read from either. It is written in C
// because it only makes system calls and must not need a runtime.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static int descriptor(const char *word)
{
    char *end = NULL;
    const long number = strtol(word, &end, 10);
    return number < 3 || number > 1 << 20 || *end != '\0' ? -1 : (int)number;
}

int main(int count, char **words)
{
    const int registration = count > 3 ? descriptor(words[1]) : -1;
    const int screen = count > 3 ? descriptor(words[2]) : -1;
    if (registration < 0 || screen < 0) {
        fputs("usage: whorl-prompt-wait REGISTRATION SCREEN PROGRAM [ARGUMENT...]\n", stderr);
        return 64;
    }
    // A program with a copy of the registration's socket could keep other agents from registering. If this program is
    // installed, its mode (711) has the same effect.
    prctl(PR_SET_DUMPABLE, 0);
    struct pollfd waits[] = {{.fd = registration, .events = POLLIN}, {.fd = screen, .events = 0}};
    while (waits[0].revents == 0) {
        if (poll(waits, 2, -1) < 0 && errno != EINTR && errno != EAGAIN) {
            perror("whorl-prompt-wait: poll");
            return 1;
        }
        if (waits[1].revents != 0) {
            return 0;
        }
    }
    fcntl(screen, F_SETFD, FD_CLOEXEC);
    // During an update, the program may be missing for a moment.
    for (int tries = 0; tries < 100; tries += 1) {
        execv(words[3], words + 3);
        poll(NULL, 0, 100);
    }
    perror("whorl-prompt-wait: the prompt cannot be started");
    return 1;
}
