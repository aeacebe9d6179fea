// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Keeps the numbers of the three standard streams from being given to something else.
enum StandardStreams {
    /// To be called before anything is opened.
    ///
    /// Whoever starts a program with `>&-` leaves a number free, and the next file, pipe or reader that is opened
    /// would get it, and with it every word that is meant for a person. In its place stands `/dev/null`, opened the
    /// wrong way round: what is written to a closed output still fails, and an answer that is lost stays lost.
    static func fillGaps() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            // open(2) gives the lowest free number, which is this one: those below are filled.
            _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
