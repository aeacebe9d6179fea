// SPDX-License-Identifier: Apache-2.0

internal import Glibc
import SecretMemory

/// Reads keys on a thread of its own, so that nothing of Swift's thread pool ever waits for a person.
///
/// What is typed passes through locked memory only, from `read(2)` to the ``SecretBox``.
final class KeyReader: Sendable {
    /// The keys in their order, until this is let go of or the terminal goes away.
    let keys: AsyncStream<Key>
    private let line: TypedLine
    private let wakeUp: CInt

    /// Starts to read from `descriptor`; `nil` when the system has no pipe or thread left.
    init?(_ descriptor: CInt, typing: TypedLine.Typing = .ignored) {
        guard let wake = WakePipe() else { return nil }
        let (keys, continuation) = AsyncStream.makeStream(of: Key.self)
        let line = TypedLine(typing)
        self.keys = keys
        self.line = line
        wakeUp = wake.writeEnd
        let end = wake.readEnd
        let started = startThread {
            Self.read(from: descriptor, until: end, line) { continuation.yield($0) }
            continuation.finish()
            close(end)
        }
        guard started else {
            close(end)
            return nil  // deinit closes the other end
        }
    }

    /// Ends reading, since the thread sees its end of the pipe close, and wipes what was typed.
    deinit {
        line.set(.ignored)
        close(wakeUp)
    }

    /// Sets what becomes of what is typed from now on.
    func take(_ typing: TypedLine.Typing) { line.set(typing) }

    private static func read(
        from descriptor: CInt,
        until wake: CInt,
        _ line: TypedLine,
        _ send: (Key) -> Void
    ) {
        var bytes = SecretBuffer(capacity: 64)
        while wait(for: descriptor, or: wake, milliseconds: -1) {
            repeat {
                guard readSome(descriptor, &bytes) else { return }
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

    /// Whether there was something; `false` when the terminal has gone away.
    private static func readSome(_ descriptor: CInt, _ bytes: inout SecretBuffer) -> Bool {
        bytes.append { room in Glibc.read(descriptor, room.baseAddress, room.count) } > 0
    }
}
