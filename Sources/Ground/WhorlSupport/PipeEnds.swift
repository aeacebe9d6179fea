// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The two ends of a pipe, which programs started by this process do not inherit.
package struct PipeEnds: Sendable {
    package let readEnd: CInt
    package let writeEnd: CInt

    /// Creates a pipe; returns `nil` if the system has no descriptors left, with the reason in `errno`.
    ///
    /// - Parameter isBlocking: Whether reading from an empty pipe, or writing to a full one, waits.
    package init?(isBlocking: Bool = true) {
        // Use one call: a program that another thread starts between pipe(2) and fcntl(2) would inherit the ends.
        typealias Call = @convention(c) (UnsafeMutablePointer<CInt>?, CInt) -> CInt
        var ends: [CInt] = [-1, -1]
        guard let pipe2 = gnuFunction("pipe2", as: Call.self),
            pipe2(&ends, O_CLOEXEC | (isBlocking ? 0 : O_NONBLOCK)) == 0
        else { return nil }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    /// Writes a byte to wake a thread that is waiting for the read end.
    ///
    /// Closing the write end might not wake it, because a program that another thread is starting may have it open.
    package func wake() { _ = write(writeEnd, [0], 1) }

    /// Closes both ends; must be called exactly once.
    package func close() {
        _ = Glibc.close(readEnd)
        _ = Glibc.close(writeEnd)
    }
}
