// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Waits for bytes or the end of input, and returns whether they came; `false` after a timeout or a wake-up.
func wait(for descriptor: CInt, or wake: CInt, milliseconds: CInt) -> Bool {
    var ends = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
    ]
    while true {
        let ready = poll(&ends, nfds_t(ends.count), milliseconds)
        if ready < 0, errno == EINTR { continue }
        return ready > 0 && ends[1].revents == 0
    }
}
