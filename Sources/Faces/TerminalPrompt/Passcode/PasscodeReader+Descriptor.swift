// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import SecretMemory
internal import WhorlSupport

extension PasscodeReader {
    private typealias Outcome = Result<SecretBox, PasscodeReadingError>

    /// Reads a passcode from an open file descriptor, up to the first line feed, which is dropped, or to the end.
    ///
    /// It reads byte by byte and never past the line feed, so that the next call returns the next line. The descriptor
    /// stays open. The bytes are only in locked memory. This call waits without blocking Swift's thread pool, and ends
    /// when its task is cancelled.
    ///
    /// - Parameter descriptor: A file, a pipe or a socket; not a terminal, which would show the input.
    /// - Returns: The passcode, 1 to 1,024 bytes.
    /// - Throws: `isTerminal`, `empty`, `tooLong`, `control`, `unreadable`, `cancelled`.
    public static func read(from descriptor: CInt) async throws(PasscodeReadingError) -> SecretBox {
        guard isatty(descriptor) == 0 else { throw PasscodeReadingError(.isTerminal) }
        guard let wake = PipeEnds() else { throw unreadable() }
        // Closed only after the thread has ended and a cancellation has written its byte: both need the open ends.
        defer { wake.close() }
        let outcome = await withTaskCancellationHandler {
            await onThread("whorl-passcode") { line(from: descriptor, until: wake.readEnd) }
        } onCancel: {
            wake.wake()
        }
        guard let outcome else {
            throw PasscodeReadingError(.unreadable, cause: "the system has no thread left")
        }
        return try outcome.get()
    }

    private static func line(from descriptor: CInt, until wake: CInt) -> Outcome {
        var line = PasscodeLine()
        var byte = SecretBuffer(capacity: 1)
        while true {
            byte.removeAll()
            guard wait(for: descriptor, or: wake, milliseconds: -1) else {
                return .failure(PasscodeReadingError(.cancelled))
            }
            switch byte.append({ Glibc.read(descriptor, $0.baseAddress, 1) }) {
            case 1: break
            case 0: return outcome(line.submit())
            default:
                if errno == EINTR || errno == EAGAIN { continue }
                return .failure(unreadable())
            }
            switch byte.withBytes({ $0.unsafeLoad(as: UInt8.self) }) {
            case 0x0A: return outcome(line.submit())
            case 0x00..<0x20, 0x7F: _ = line.edit(.control)
            case let value: _ = line.edit(.byte(value))
            }
            // At once: the input that follows may be endless.
            if let fault = line.fault { return .failure(PasscodeReadingError(spoiledBy: fault)) }
        }
    }

    private static func outcome(_ submission: PasscodeLine.Submission) -> Outcome {
        switch submission {
        case .empty: .failure(PasscodeReadingError(.empty))
        case .refused(let fault): .failure(PasscodeReadingError(spoiledBy: fault))
        case .passcode(let box): .success(box)
        }
    }

    private static func unreadable() -> PasscodeReadingError {
        PasscodeReadingError(.unreadable, cause: String(cString: strerror(errno)))
    }
}
