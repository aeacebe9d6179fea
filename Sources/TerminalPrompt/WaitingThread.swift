// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A pipe whose only use is that its write end closes.
struct WakePipe {
    let readEnd: CInt
    let writeEnd: CInt

    /// `nil` when the system has no descriptors left.
    init?() {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        readEnd = ends[0]
        writeEnd = ends[1]
    }
}

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

/// Runs `body` on a detached thread that takes no signals.
///
/// - Returns: `false` when the system has no thread left.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    // Retained here, taken by the thread once.
    let box = Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let failure = pthread_create(
        &thread,
        nil,
        { argument in
            guard let argument else { return nil }
            Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
            return nil
        },
        box.toOpaque()
    )
    guard failure == 0 else {
        box.release()
        return false
    }
    pthread_detach(thread)
    return true
}
