// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads keys on a thread of its own, so that nothing of Swift's thread pool ever waits for a person.
final class KeyReader: Sendable {
    /// The keys in their order, until ``stop()`` or until the terminal goes away.
    let keys: AsyncStream<Key>
    private let wakeUp: CInt

    /// Starts to read from `descriptor`; `nil` when the system has no pipe or thread left.
    init?(_ descriptor: CInt) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (keys, continuation) = AsyncStream.makeStream(of: Key.self)
        self.keys = keys
        wakeUp = ends[1]
        let wake = ends[0]
        let started = startThread {
            Self.read(from: descriptor, until: wake) { continuation.yield($0) }
            continuation.finish()
            close(wake)
        }
        guard started else {
            close(wake)
            return nil  // deinit closes the other end
        }
    }

    /// Ends reading; the thread sees its end of the pipe close.
    deinit { close(wakeUp) }

    private static func read(from descriptor: CInt, until wake: CInt, _ send: (Key) -> Void) {
        while wait(for: descriptor, or: wake, milliseconds: -1) {
            guard var bytes = readSome(descriptor) else { return }
            // An Escape alone: what belongs to it comes within a few milliseconds, even over a slow line.
            if bytes == [0x1B], wait(for: descriptor, or: wake, milliseconds: 50) {
                bytes += readSome(descriptor) ?? []
            }
            KeyParser.keys(in: bytes).forEach(send)
        }
    }

    /// Whether bytes are there; `false` when the time is up or reading shall end.
    private static func wait(for descriptor: CInt, or wake: CInt, milliseconds: CInt) -> Bool {
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

    /// What is there; `nil` when the terminal has gone away.
    private static func readSome(_ descriptor: CInt) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let got = Glibc.read(descriptor, &bytes, bytes.count)
        guard got > 0 else { return nil }
        return Array(bytes.prefix(got))
    }
}

/// Runs `body` on a detached thread that takes no signals.
private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
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
