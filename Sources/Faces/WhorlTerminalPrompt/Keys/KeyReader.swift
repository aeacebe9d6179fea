// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
import WhorlSecretMemory
internal import WhorlSupport

/// A reader that reads keys on a dedicated thread, so that the threads of Swift's pool never wait for the user.
///
/// From `read(2)` to the ``SecretBox``, typed bytes are stored only in locked memory.
final class KeyReader: Sendable {
    /// The keys in order, until the reader is released or the terminal is closed.
    let keys: AsyncStream<Key>
    private let line: TypedLine
    private let wake: PipeEnds
    private let ended = DispatchSemaphore(value: 0)

    /// Starts reading from `descriptor`, or returns `nil` if the system cannot create a pipe or a thread.
    init?(_ descriptor: CInt, typing: TypedLine.Typing = .ignored) {
        guard let wake = PipeEnds() else { return nil }
        let resumptions = TerminalMode.resumptions
        let (keys, continuation) = AsyncStream.makeStream(of: Key.self)
        let line = TypedLine(typing)
        self.keys = keys
        self.line = line
        self.wake = wake
        let end = wake.readEnd
        let ended = ended
        let started = startThread("whorl-keys") {
            Self.read(from: descriptor, until: end, resumptions, line) { continuation.yield($0) }
            continuation.finish()
            close(end)
            ended.signal()
        }
        guard started else {
            close(end)
            ended.signal()
            return nil  // deinit closes the other end
        }
    }

    /// Stops the thread through the pipe, and wipes the typed input.
    ///
    /// Afterward, the thread does not read further input. Keys that are typed later go to the next prompt or to the
    /// shell.
    deinit {
        line.set(.ignored)
        wake.wake()
        close(wake.writeEnd)
        ended.wait()
    }

    /// Sets how further input is used.
    func take(_ typing: TypedLine.Typing) { line.set(typing) }

    private static func read(
        from descriptor: CInt,
        until wake: CInt,
        _ resumptions: CInt,
        _ line: TypedLine,
        _ send: (Key) -> Void
    ) {
        var bytes = SecretBuffer(capacity: 64)
        while true {
            switch nextEvent(descriptor, wake, resumptions) {
            case .end: return
            case .resumed:
                send(.resumed)
                continue
            case .input: break
            }
            repeat {
                guard readSome(descriptor, &bytes) else {
                    // The keys belong to another program until this one returns to the foreground.
                    if isInBackground(descriptor) { break }
                    return
                }
                bytes.withBytes { bytes in
                    for place in 0..<bytes.byteCount {
                        line.take(bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)).map(send)
                    }
                }
                bytes.removeAll()
                // A single Escape. The rest of a sequence arrives within a few milliseconds, even over a slow
                // connection.
            } while line.isPending && wait(for: descriptor, or: wake, milliseconds: 50)
            line.settle().map(send)
        }
    }

    private enum Event {
        case input
        case resumed
        case end
    }

    /// Waits for keys in the foreground.
    ///
    /// In the background, this method waits only until the process returns to the foreground.
    private static func nextEvent(_ descriptor: CInt, _ wake: CInt, _ resumptions: CInt) -> Event {
        var ends = [wake, resumptions, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var wasInBackground = false
        while true {
            let isAway = isInBackground(descriptor)
            if wasInBackground, !isAway {
                TerminalMode.takeAgain()
                return .resumed
            }
            wasInBackground = isAway
            // poll(2) ignores a negative descriptor. A running job that a shell brings to the foreground gets no
            // signal, so the foreground is polled.
            ends[2].fd = isAway ? -1 : descriptor
            let ready = poll(&ends, nfds_t(ends.count), isAway ? 200 : -1)
            if ready == 0 || ready < 0 && errno == EINTR { continue }
            if ready < 0 || ends[0].revents != 0 { return .end }
            guard ends[1].revents != 0 else {
                // Do not wait for input that another process has read in the meantime, because that would delay the
                // end.
                if ends[2].revents == Int16(POLLIN), !hasInput(descriptor) { continue }
                return .input
            }
            var bytes: UInt64 = 0
            _ = Glibc.read(resumptions, &bytes, 8)
            if !isInBackground(descriptor) { return .resumed }
        }
    }

    private static func hasInput(_ descriptor: CInt) -> Bool {
        var waiting: CInt = 0
        // If the terminal cannot report its input, reading will show.
        return ioctl(descriptor, UInt(FIONREAD), &waiting) != 0 || waiting > 0
    }

    /// Returns whether the descriptor is this process's terminal and another program is in its foreground.
    private static func isInBackground(_ terminal: CInt) -> Bool {
        let foreground = tcgetpgrp(terminal)
        return foreground > 0 && foreground != getpgrp()
    }

    /// Reads the available bytes.
    ///
    /// Returns `false` if the terminal was closed.
    private static func readSome(_ descriptor: CInt, _ bytes: inout SecretBuffer) -> Bool {
        bytes.append { room in Glibc.read(descriptor, room.baseAddress, room.count) } > 0
    }
}
