// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import Glibc
import WhorlSecretMemory
import Synchronization
import WhorlService
import WhorlSupport

/// Standard input, for commands that read their data from it.
enum StandardInput {
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads all input into locked memory, up to one byte more than `limit`.
    static func read(atMost limit: Int) async throws -> SecretBox {
        let room = Mutex(SecretBuffer(capacity: limit + 1))
        try await drain { descriptor in
            room.withLock { room in room.append { Glibc.read(descriptor, $0.baseAddress, $0.count) } }
        }
        return SecretBox(room.withLock { $0.take() })
    }

    /// Returns the 32-byte SHA-256 digest of all input, which may be of any size.
    static func digest() async throws -> Data {
        let state = Mutex(SHA256())
        try await drain { descriptor in
            var part = SecretBuffer(capacity: 1 << 16)
            let count = part.append { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            part.withBytes { span in
                span.withUnsafeBytes { bytes in state.withLock { $0.update(bufferPointer: bytes) } }
            }
            return count
        }
        return Data(state.withLock { $0.finalize() })
    }

    /// Calls `take` on a separate thread until it returns 0 or the task is cancelled.
    private static func drain(_ take: @escaping @Sendable (CInt) -> Int) async throws {
        let isCancelled = Mutex(false)
        let reason = await withTaskCancellationHandler {
            await onThread("whorl-stdin") { drained(take) { isCancelled.withLock(\.self) } } ?? EAGAIN
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        guard reason != 0 else { return }
        throw reason == ECANCELED
            ? Failure(ServiceError(.appCancel))
            : Failure(
                code: "unreadable",
                message: "Cannot read standard input.",
                reason: String(cString: strerror(reason)),
                recovery: "Redirect a file or a pipe to the command."
            )
    }

    private static func drained(_ take: (CInt) -> Int, unless isCancelled: () -> Bool) -> CInt {
        var wait = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while !isCancelled() {
            // A cancellation does not wake poll(2), so it is checked regularly.
            let ready = poll(&wait, 1, 100)
            if ready == 0 || (ready < 0 && errno == EINTR) { continue }
            switch take(STDIN_FILENO) {
            case 0: return 0
            case let count where count < 0 && errno != EINTR && errno != EAGAIN: return errno
            default: continue
            }
        }
        return ECANCELED
    }
}
