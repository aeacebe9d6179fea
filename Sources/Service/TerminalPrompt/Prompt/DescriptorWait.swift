// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Whether bytes are there, or an end of them; `false` when the time is up or waiting shall end.
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
