// SPDX-License-Identifier: Apache-2.0

// Waits for the next prompt in place of whorl-prompt, which needs GTK and much memory.
//
// usage: whorl-prompt-wait REGISTRATION SCREEN PROGRAM [ARGUMENT…]
//
// REGISTRATION and SCREEN are descriptors: the socket of the agent's registration with the service, and a connection to the
// display server on which nothing is asked for. It runs PROGRAM in this process when there is something to read from the
// registration, or the service has hung up; it ends when the display server has. It reads nothing. In C, since it is system
// calls alone and shall need no runtime.

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
    // A copy of the registration's socket would keep other agents away. Installed, the kernel sees to it (mode 711).
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
    // While the program is being replaced by another version it may not be there for a moment.
    for (int tries = 0; tries < 100; tries += 1) {
        execv(words[3], words + 3);
        poll(NULL, 0, 100);
    }
    perror("whorl-prompt-wait: the prompt cannot be started");
    return 1;
}
