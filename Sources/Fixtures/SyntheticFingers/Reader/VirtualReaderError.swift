// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An error of sending a message to a virtual reader.
public struct VirtualReaderError: Error, Equatable, Sendable {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The socket's path is empty, holds a zero byte or is longer than 107 bytes, a socket's limit.
        case invalidPath = "invalidPath"
        /// The picture is smaller or larger than the reader can take; nothing was sent.
        case invalidPicture = "invalidPicture"
        /// No reader listened on the socket before the time was up.
        case noReader = "noReader"
        /// The reader listened but did not read before the time was up: no scan was waiting for a finger.
        case notRead = "notRead"
        /// The reader hung up before it had read everything.
        case disconnected = "disconnected"
        /// The system refused a call.
        case systemFailure = "systemFailure"
    }

    /// The kind of failure.
    public let code: Code

    /// The socket's path.
    public let path: String

    /// The system's `errno`, or 0 without one.
    public let systemCode: Int32

    init(_ code: Code, path: String, systemCode: Int32 = 0) {
        self.code = code
        self.path = path
        self.systemCode = systemCode
    }

    /// A sentence that says what happened.
    public var message: String {
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

    /// A sentence that says what the person can do.
    public var recovery: String {
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
    /// The message with its codes.
    public var debugDescription: String {
        "\(message) (\(code), errno \(systemCode))"
    }
}
