// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A client of libfprint's virtual image reader, which presents fingers to the reader.
///
/// ```swift
/// let reader = VirtualReader(path: "/run/user/1000/whorl-reader")
/// try reader.send(.press(SyntheticFinger(seed: 7).press(0)), timeout: .seconds(10))
/// ```
///
/// Each message uses a separate connection. `VirtualReaderSocket` describes how the driver handles it.
package struct VirtualReader: Sendable {
    /// The socket's path, as in `FP_VIRTUAL_IMAGE`.
    package let path: String

    /// Creates a client for a reader, which does not have to be open yet.
    package init(path: String) {
        self.path = path
    }

    /// Waits for a scan, sends a message to it, and returns when the message has been read.
    ///
    /// It waits while the reader is closed, and connects again if the reader is closed before it has read the message.
    /// If no scan reads the message in time, the message is withdrawn, because the next scan would otherwise read it
    /// first. The result of the scan is *not* returned. A press that is sent while libfprint is still analyzing the
    /// previous one (about 10 ms) is read and lost.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - timeout: The time to wait for the scan.
    /// - Throws: `invalidPath` or `invalidPicture` before anything is sent, `noReader` if no reader was opened in time,
    ///   `notRead` if a reader was open but did not scan, or `systemFailure`.
    package func send(_ message: VirtualReaderMessage, timeout: Duration) throws(VirtualReaderError) {
        guard let bytes = message.bytes else { throw VirtualReaderError(.invalidPicture, path: path) }
        let deadline = ContinuousClock.now + timeout
        while true {
            do {
                return try sendOnce(bytes, until: deadline)
            } catch {
                guard error.code == .disconnected, ContinuousClock.now < deadline else { throw error }
                // Two clients displace each other until a scan reads from one of them; the pause keeps that from
                // spinning.
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

    /// Makes the reader drop an unread message by opening a connection that displaces the one with the message.
    private func withdraw() {
        // The reader may have been closed, and the message lost with it.
        _ = try? VirtualReaderSocket(connectingTo: path, timeout: .zero)
    }
}

/// An error that occurred while sending a message to a virtual reader.
package struct VirtualReaderError: Error, Equatable, Sendable {
    /// The kinds of failure.
    package enum Code: String, Sendable {
        /// The socket's path is empty, contains a zero byte or is longer than 107 bytes, which is the limit for
        /// sockets.
        case invalidPath = "invalidPath"
        /// The image is too small or too large for the reader. Nothing was sent.
        case invalidPicture = "invalidPicture"
        /// No reader was listening on the socket before the timeout.
        case noReader = "noReader"
        /// The reader was listening but did not read before the timeout, because no scan was waiting for a finger.
        case notRead = "notRead"
        /// The reader disconnected before it had read the whole message.
        case disconnected = "disconnected"
        /// A system call failed.
        case systemFailure = "systemFailure"
    }

    /// The kind of failure.
    package let code: Code

    /// The socket's path.
    package let path: String

    /// The system's `errno`, or 0 if there is none.
    package let systemCode: Int32

    init(_ code: Code, path: String, systemCode: Int32 = 0) {
        self.code = code
        self.path = path
        self.systemCode = systemCode
    }

    /// A sentence that describes the failure.
    package var message: String {
        switch code {
        case .invalidPath: "“\(path)” cannot be the path of a reader's socket."
        case .invalidPicture:
            "The picture is not between \(VirtualReaderMessage.pictureSides.lowerBound) and "
                + "\(VirtualReaderMessage.pictureSides.upperBound) pixels each way."
        case .noReader: "No virtual reader is open at “\(path)”."
        case .notRead: "The virtual reader at “\(path)” was not waiting for a finger."
        case .disconnected: "The virtual reader at “\(path)” hung up."
        case .systemFailure:
            "The virtual reader at “\(path)” cannot be reached: "
                + String(cString: strerror(systemCode)) + "."
        }
    }

    /// A sentence that tells the user what to do.
    package var recovery: String {
        switch code {
        case .invalidPath: "Choose a path of 1 to \(VirtualReaderSocket.longestPath) bytes."
        case .invalidPicture: "Send a larger or a smaller picture."
        case .noReader:
            "Start a scan in a process that has FP_VIRTUAL_IMAGE set to this path, then try again."
        case .notRead: "Start a scan, then try again."
        case .disconnected: "Open the reader again, or let the other client finish, then try again."
        case .systemFailure: "Check that this user may read and write the socket, then try again."
        }
    }
}

extension VirtualReaderError: CustomDebugStringConvertible {
    /// The message, with the code and the `errno`.
    package var debugDescription: String {
        "\(message) (\(code), errno \(systemCode))"
    }
}
