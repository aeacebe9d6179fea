// SPDX-License-Identifier: Apache-2.0

// Waits for the next prompt in place of whorl-prompt, which needs GTK and much memory.
//
// usage: whorl-prompt-wait DESCRIPTOR PROGRAM [ARGUMENT…]
//
// It runs PROGRAM in this process when there is something to read from DESCRIPTOR, the registration's socket, or its other end
// has hung up. It reads nothing. In C, since it is system calls alone and shall need no runtime.

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **words)
{
    char *end = NULL;
    const long number = count > 2 ? strtol(words[1], &end, 10) : -1;
    if (number < 3 || number > 1 << 20 || *end != '\0') {
        fputs("usage: whorl-prompt-wait DESCRIPTOR PROGRAM [ARGUMENT...]\n", stderr);
        return 64;
    }
    // No other program of the user traces the one that a passcode will be typed into.
    prctl(PR_SET_DUMPABLE, 0);
    struct pollfd registration = {.fd = (int)number, .events = POLLIN};
    while (poll(&registration, 1, -1) < 0) {
        if (errno != EINTR && errno != EAGAIN) {
            perror("whorl-prompt-wait: poll");
            return 1;
        }
    }
    execv(words[2], words + 2);
    perror("whorl-prompt-wait: the prompt cannot be started");
    return 1;
}
