// SPDX-License-Identifier: Apache-2.0

/// libfprint's virtual image reader, seen from the side of the finger.
///
/// ```swift
/// let reader = VirtualReader(path: "/run/user/1000/whorl-reader")
/// try reader.send(.press(SyntheticFinger(seed: 7).press(0)), timeout: .seconds(10))
/// ```
///
/// Each message has a connection of its own. What the driver does with it is told at `VirtualReaderSocket`.
public struct VirtualReader: Sendable {
    /// The socket's path, as in `FP_VIRTUAL_IMAGE`.
    public let path: String

    /// Names a reader, which need not be open yet.
    public init(path: String) {
        self.path = path
    }

    /// Waits for a scan, says one thing to it, and returns when it was read.
    ///
    /// It waits while the reader is closed, and connects again if the reader is closed before it has read. A
    /// message that no scan has read in time is taken back: left in the socket it would be the first thing
    /// that a later scan sees. It does *not* tell what the scan made of the message: a press that comes while
    /// libfprint still looks at the one before (about 10 ms) is read and lost.
    ///
    /// - Parameters:
    ///   - message: What to say.
    ///   - timeout: How long to wait for the scan.
    /// - Throws: `invalidPath` and `invalidPicture` before anything is sent; `noReader` if no reader was open
    ///   until the end, `notRead` if one was but did not scan; `systemFailure`.
    public func send(_ message: VirtualReaderMessage, timeout: Duration) throws(VirtualReaderError) {
        guard let bytes = message.bytes else { throw VirtualReaderError(.invalidPicture, path: path) }
        let deadline = ContinuousClock.now + timeout
        while true {
            do {
                return try sendOnce(bytes, until: deadline)
            } catch {
                guard error.code == .disconnected, ContinuousClock.now < deadline else { throw error }
                // Two clients displace each other until a scan reads one of them: not at full speed.
                VirtualReaderSocket.pause()
            }
        }
    }

    private func sendOnce(
        _ bytes: [UInt8],
        until deadline: ContinuousClock.Instant
    ) throws(VirtualReaderError) {
        let socket = try VirtualReaderSocket(connectingTo: path, until: deadline)
        do {
            try socket.send(bytes, until: deadline)
            try socket.waitUntilRead(until: deadline)
        } catch {
            if error.code == .notRead { withdraw() }
            throw error
        }
    }

    /// Makes the reader forget an unread message, by the connection that displaces the one that carried it.
    private func withdraw() {
        // The reader may have gone, and the message with it.
        _ = try? VirtualReaderSocket(connectingTo: path, timeout: .zero)
    }
}
