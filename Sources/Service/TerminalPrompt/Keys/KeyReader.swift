// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
import SecretMemory
internal import WhorlSupport

/// Reads keys on a thread of its own, so that nothing of Swift's thread pool ever waits for a person.
///
/// What is typed passes through locked memory only, from `read(2)` to the ``SecretBox``.
final class KeyReader: Sendable {
    /// The keys in their order, until this is let go of or the terminal goes away.
    let keys: AsyncStream<Key>
    private let line: TypedLine
    private let wake: PipeEnds
    private let ended = DispatchSemaphore(value: 0)

    /// Starts to read from `descriptor`; `nil` when the system has no pipe or thread left.
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

    /// Ends reading, since the thread sees that something is in the pipe, and wipes what was typed.
    ///
    /// The thread has ended then: what is typed later is the next prompt's or the shell's, and it would take it from them.
    deinit {
        line.set(.ignored)
        wake.wake()
        close(wake.writeEnd)
        ended.wait()
    }

    /// Sets what becomes of what is typed from now on.
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
                    // The keys are another program's until this one goes on in the foreground.
                    if isInBackground(descriptor) { break }
                    return
                }
                bytes.withBytes { bytes in
                    for place in 0..<bytes.byteCount {
                        line.take(bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)).map(send)
                    }
                }
                bytes.removeAll()
                // An Escape alone: what belongs to it comes within a few milliseconds, even over a slow line.
            } while line.isPending && wait(for: descriptor, or: wake, milliseconds: 50)
            line.settle().map(send)
        }
    }

    private enum Event {
        case input
        case resumed
        case end
    }

    /// Waits for keys while they are this process's; in the background, for the way out of it alone.
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
            // A negative descriptor is left out (poll(2)). A running job that a shell brings to the foreground gets no
            // signal, so that is looked for.
            ends[2].fd = isAway ? -1 : descriptor
            let ready = poll(&ends, nfds_t(ends.count), isAway ? 200 : -1)
            if ready == 0 || ready < 0 && errno == EINTR { continue }
            if ready < 0 || ends[0].revents != 0 { return .end }
            guard ends[1].revents != 0 else {
                // What somebody else has taken meanwhile is not waited for: reading would hold the end up.
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
        // Where the terminal cannot tell, the read does.
        return ioctl(descriptor, UInt(FIONREAD), &waiting) != 0 || waiting > 0
    }

    /// Whether it is this process's terminal and another program is in its foreground.
    private static func isInBackground(_ terminal: CInt) -> Bool {
        let foreground = tcgetpgrp(terminal)
        return foreground > 0 && foreground != getpgrp()
    }

    /// Whether there was something; `false` when the terminal has gone away.
    private static func readSome(_ descriptor: CInt, _ bytes: inout SecretBuffer) -> Bool {
        bytes.append { room in Glibc.read(descriptor, room.baseAddress, room.count) } > 0
    }
}
