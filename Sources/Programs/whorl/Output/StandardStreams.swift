// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Keeps the descriptors of the three standard streams from being assigned to other files.
enum StandardStreams {
    /// Opens missing standard streams; must be called before anything is opened.
    ///
    /// A program that is started with `>&-` has a free descriptor. The next file, pipe or reader that is opened would
    /// get it, and with it every text that is meant for a person. So `/dev/null` takes the place, opened in the wrong
    /// direction: writing to a closed output still fails, and a lost answer is still reported.
    static func fillGaps() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            // open(2) returns the lowest free number, which is this one: those below are filled.
            _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
