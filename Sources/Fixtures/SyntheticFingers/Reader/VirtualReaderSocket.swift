// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One connection to the socket of libfprint's virtual image reader.
///
/// Most code should use `VirtualReader`, which opens a connection for each message and detects whether the message
/// arrived. The following behavior was found by experiment with libfprint 1.94.5:
///
/// - `fp_device_open()` creates the socket. Closing the reader leaves a file behind that refuses connections.
/// - One connection can carry any number of messages. The reader never responds.
/// - The reader reads only while a scan is running. Data sent earlier waits in the connection, even if it has been
///   closed, and **is read by the next scan as soon as it starts**. Closing a connection therefore does not withdraw
///   the data. Opening a new connection does, because the reader drops the old one, including any unread data, when it
///   accepts another.
/// - While a scan is running, the reader reads immediately, whether or not it is ready for a finger. A press that
///   arrives while an earlier press is being analyzed (about 10 ms) is lost, and libfprint logs a message. In an
///   enrollment, each press must wait for the progress report of the previous one.
/// - A connection that is closed in the middle of an image still counts as a press with the data sent so far. One that
///   is closed within the first 8 bytes is treated as an image of a nonsensical size. A message must be sent completely
///   or not at all.
/// - After a retry command (-1) alone, an enrollment waits for the finger to be lifted, so the next press is lost.
///   `VirtualReaderMessage.retry` therefore also reports that a finger touches the reader before the command and leaves
///   it afterward.
/// - A scan that receives an unplug message ends with `FP_DEVICE_ERROR_REMOVED`. If no scan is running, the next one
///   ends with this error.
///
/// Every call blocks the thread until its timeout at most. A connection that is closed by the other side does not raise
/// `SIGPIPE`.
package struct VirtualReaderSocket: ~Copyable {
    /// The maximum length of a path in a socket address, in bytes.
    package static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private let descriptor: CInt
    private let path: String

    /// Connects to the socket, and retries while the socket does not exist or refuses connections.
    ///
    /// - Parameters:
    ///   - path: The socket's path, as in `FP_VIRTUAL_IMAGE`.
    ///   - timeout: The time limit for retries. At least one attempt is made.
    /// - Throws: `invalidPath`, `noReader` after the timeout, or `systemFailure` for errors that retrying does not fix,
    ///   such as missing permission.
    package init(connectingTo path: String, timeout: Duration) throws(VirtualReaderError) {
        try self.init(connectingTo: path, until: .now + timeout)
    }

    init(connectingTo path: String, until deadline: ContinuousClock.Instant) throws(VirtualReaderError) {
        let address = try Self.address(of: path)
        while true {
            // A socket that was refused must not be reused, so each attempt uses a new one.
            let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
            let descriptor = socket(AF_UNIX, CInt(kind), 0)
            guard descriptor >= 0 else {
                throw VirtualReaderError(.systemFailure, path: path, systemCode: errno)
            }
            if Self.connect(descriptor, to: address) {
                self.descriptor = descriptor
                self.path = path
                return
            }
            let reason = errno
            close(descriptor)
            // ENOENT: not open yet. ECONNREFUSED: closed. EAGAIN: too many connections waiting to be accepted.
            guard [ENOENT, ECONNREFUSED, EAGAIN, EINTR].contains(reason) else {
                throw VirtualReaderError(.systemFailure, path: path, systemCode: reason)
            }
            guard ContinuousClock.now < deadline else {
                throw VirtualReaderError(.noReader, path: path, systemCode: reason)
            }
            Self.pause()
        }
    }

    deinit {
        close(descriptor)
    }

    /// Sends a complete message.
    ///
    /// A message that was sent has not necessarily been read.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - timeout: The time for which the reader may leave the connection full (at least 100 kB on Linux).
    /// - Throws: `invalidPicture`, `disconnected`, `systemFailure`, or `notRead` after the timeout, which makes the
    ///   connection unusable.
    package func send(_ message: VirtualReaderMessage, timeout: Duration) throws(VirtualReaderError) {
        guard let bytes = message.bytes else { throw VirtualReaderError(.invalidPicture, path: path) }
        try send(bytes, until: .now + timeout)
    }

    /// Waits until the reader has read everything that was sent.
    ///
    /// - Parameter timeout: The time limit.
    /// - Throws: `notRead` if no scan has started before the timeout, `disconnected` if the reader disconnected with
    ///   unread bytes, or `systemFailure`.
    package func waitUntilRead(timeout: Duration) throws(VirtualReaderError) {
        try waitUntilRead(until: .now + timeout)
    }
}

extension VirtualReaderSocket {
    func send(_ bytes: [UInt8], until deadline: ContinuousClock.Instant) throws(VirtualReaderError) {
        var sent = 0
        while sent < bytes.count {
            let got = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                return Glibc.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
            }
            if got >= 0 {
                sent += got
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                guard ContinuousClock.now < deadline else { throw VirtualReaderError(.notRead, path: path) }
                wait(for: POLLOUT, atMost: 20)
            case EPIPE, ECONNRESET: throw VirtualReaderError(.disconnected, path: path, systemCode: errno)
            default: throw VirtualReaderError(.systemFailure, path: path, systemCode: errno)
            }
        }
    }

    func waitUntilRead(until deadline: ContinuousClock.Instant) throws(VirtualReaderError) {
        while true {
            var unread: CInt = 0
            guard ioctl(descriptor, UInt(TIOCOUTQ), &unread) == 0 else {
                throw VirtualReaderError(.systemFailure, path: path, systemCode: errno)
            }
            // Disconnecting discards unread bytes, so "none unread" counts only if the reader is still connected, or
            // read everything. Linux distinguishes the two: ECONNRESET if the other side left bytes unread, otherwise
            // the end of the stream.
            guard try isOpen(), unread > 0 else { return }
            guard ContinuousClock.now < deadline else { throw VirtualReaderError(.notRead, path: path) }
            wait(for: POLLIN, atMost: 2)
        }
    }

    /// Returns whether the reader is still connected, or throws `disconnected` if it disconnected with unread bytes.
    private func isOpen() throws(VirtualReaderError) -> Bool {
        var byte: UInt8 = 0
        let got = recv(descriptor, &byte, 1, CInt(MSG_DONTWAIT))
        if got >= 0 { return got > 0 }
        switch errno {
        case EAGAIN, EINTR: return true
        case ECONNRESET: throw VirtualReaderError(.disconnected, path: path, systemCode: ECONNRESET)
        default: throw VirtualReaderError(.systemFailure, path: path, systemCode: errno)
        }
    }

    /// Pauses so that the other side can run before another attempt.
    static func pause() {
        usleep(5_000)
    }

    private func wait(for events: CInt, atMost milliseconds: CInt) {
        var one = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        _ = poll(&one, 1, milliseconds)
    }

    private static func address(of path: String) throws(VirtualReaderError) -> sockaddr_un {
        let name = Array(path.utf8)
        guard !name.isEmpty, name.count <= longestPath, !name.contains(0) else {
            throw VirtualReaderError(.invalidPath, path: path)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        return address
    }

    private static func connect(_ descriptor: CInt, to address: sockaddr_un) -> Bool {
        withUnsafeBytes(of: address) { bytes in
            let generic = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return Glibc.connect(descriptor, generic, socklen_t(bytes.count)) == 0
        }
    }
}

/// A message to libfprint's virtual image reader.
package enum VirtualReaderMessage: Sendable, Equatable {
    /// A finger with the given image touches the reader and is lifted.
    ///
    /// The image must have 16 to 5000 pixels in each direction, because libfprint 1.94.5 crashes on smaller images and
    /// disconnects on larger ones.
    case press(GrayImage)

    /// A finger touches the reader and is lifted, but cannot be read.
    case retry(Retry)

    /// The reader fails with a libfprint error code (`FpDeviceError`). Unknown codes become 0 (general).
    case failure(code: Int32)

    /// Sets whether a press includes "finger on" and "finger off", as it does on every new connection.
    case automaticFinger(Bool)

    /// A finger is placed on the reader or removed from it. This has an effect only if `automaticFinger` is `false`.
    case finger(present: Bool)

    /// The reader is unplugged.
    case unplug

    /// The reason why the reader could not read a press.
    ///
    /// The corresponding C type is `FpDeviceRetry`.
    package enum Retry: Int32, Sendable, CaseIterable {
        /// There is another reason. The corresponding C constant is `FP_DEVICE_RETRY_GENERAL`.
        case general = 0
        /// The swipe was too short. The corresponding C constant is `FP_DEVICE_RETRY_TOO_SHORT`.
        case tooShort = 1
        /// The finger was not centered. The corresponding C constant is `FP_DEVICE_RETRY_CENTER_FINGER`.
        case centerFinger = 2
        /// The finger must first be lifted. The corresponding C constant is `FP_DEVICE_RETRY_REMOVE_FINGER`.
        case removeFinger = 3
    }
}

extension VirtualReaderMessage {
    /// The supported image sizes, in pixels in each direction.
    package static let pictureSides = 16...5000

    /// The encoded message, or `nil` if the image is too small or too large.
    ///
    /// Each part starts with two 32-bit numbers in the machine's byte order. They are the width and height of an image
    /// whose bytes follow, or a negative command and its argument.
    var bytes: [UInt8]? {
        switch self {
        case .press(let image):
            guard Self.pictureSides.contains(image.width), Self.pictureSides.contains(image.height) else {
                return nil
            }
            return Self.words(Int32(image.width), Int32(image.height)) + image.pixels
        case .retry(let reason):
            // After a bare retry, an enrollment waits for the finger to be lifted, and the next press is lost.
            return Self.words(-4, 1) + Self.words(-1, reason.rawValue) + Self.words(-4, 0)
        case .failure(let code): return Self.words(-2, code)
        case .automaticFinger(let on): return Self.words(-3, on ? 1 : 0)
        case .finger(let present): return Self.words(-4, present ? 1 : 0)
        case .unplug: return Self.words(-5, 0)
        }
    }

    private static func words(_ first: Int32, _ second: Int32) -> [UInt8] {
        [first, second].withUnsafeBytes { [UInt8]($0) }
    }
}
