// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One connection to the socket of libfprint's virtual image reader.
///
/// Most uses want `VirtualReader`, which makes a connection for each message and knows whether it arrived.
/// What follows was found by experiment with libfprint 1.94.5:
///
/// - The socket exists from `fp_device_open()` on. Closing the reader leaves a file that refuses.
/// - One connection may carry any number of messages. The reader never answers.
/// - The reader reads only while a scan is running. What arrives earlier waits in the connection, closed or
///   not, and **is read by the next scan the moment it starts**. Closing a connection therefore takes nothing
///   back; a new connection does, for the reader drops the old one, read or unread, as soon as it accepts
///   another.
/// - While a scan runs the reader reads at once, ready or not. A press that arrives while an earlier press is
///   analyzed (about 10 ms) is lost, with a complaint in libfprint's log. In an enrollment each press must
///   wait for the progress report of the one before.
/// - A connection closed amid a picture still counts as a press, of whatever was sent; one closed amid the
///   first 8 bytes is taken for a picture of a nonsensical size. A message must be sent whole or not begun.
/// - A bare retry (-1) leaves an enrollment waiting for the finger to be lifted, so that the next press is
///   lost; `VirtualReaderMessage.retry` reports a finger on and off around it.
/// - A scan that was told the reader is unplugged ends with `FP_DEVICE_ERROR_REMOVED`; with no scan, the next
///   one does.
///
/// Every call blocks the thread, up to its timeout. A connection that the other side has closed raises no
/// `SIGPIPE`.
package struct VirtualReaderSocket: ~Copyable {
    /// The longest path that a socket's address can hold, in bytes.
    package static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private let descriptor: CInt
    private let path: String

    /// Connects, trying again while there is no socket or it refuses.
    ///
    /// - Parameters:
    ///   - path: The socket's path, as in `FP_VIRTUAL_IMAGE`.
    ///   - timeout: How long to try; it is tried once in any case.
    /// - Throws: `invalidPath`; `noReader` after the timeout; `systemFailure` for what time does not mend,
    ///   such as missing permission.
    package init(connectingTo path: String, timeout: Duration) throws(VirtualReaderError) {
        try self.init(connectingTo: path, until: .now + timeout)
    }

    init(connectingTo path: String, until deadline: ContinuousClock.Instant) throws(VirtualReaderError) {
        let address = try Self.address(of: path)
        while true {
            // A socket that was refused is not to be used again, hence a new one for each try.
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
            // ENOENT: not open yet. ECONNREFUSED: closed. EAGAIN: too many are waiting to be accepted.
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

    /// Sends a message whole.
    ///
    /// That it was sent does not mean that it was read.
    ///
    /// - Parameters:
    ///   - message: What to say.
    ///   - timeout: How long the reader may leave the connection full (at least 100 kB on Linux).
    /// - Throws: `invalidPicture`; `disconnected`; `notRead` after the timeout, when the connection is of no
    ///   more use; `systemFailure`.
    package func send(_ message: VirtualReaderMessage, timeout: Duration) throws(VirtualReaderError) {
        guard let bytes = message.bytes else { throw VirtualReaderError(.invalidPicture, path: path) }
        try send(bytes, until: .now + timeout)
    }

    /// Waits until the reader has read everything that was sent.
    ///
    /// - Parameter timeout: How long to wait at most.
    /// - Throws: `notRead` after the timeout: no scan has begun; `disconnected` if the reader hung up on
    ///   unread bytes; `systemFailure`.
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
            // A hang-up throws unread bytes away, so "none unread" counts only if it was no such hang-up.
            // Linux tells the two ends apart: ECONNRESET if the other side left bytes unread, the end of the
            // stream if not.
            guard try isOpen(), unread > 0 else { return }
            guard ContinuousClock.now < deadline else { throw VirtualReaderError(.notRead, path: path) }
            wait(for: POLLIN, atMost: 2)
        }
    }

    /// Whether the reader still listens; it throws `disconnected` if it hung up on unread bytes.
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

    /// Lets the other side get on, before something is tried again.
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
    /// A finger is put on the reader, looks like this, and is lifted.
    ///
    /// 16 to 5000 pixels each way: on smaller pictures libfprint 1.94.5 crashes, on larger ones it hangs up.
    case press(GrayImage)

    /// A finger is put on and lifted, and the reader could not read it.
    case retry(Retry)

    /// The reader fails with a libfprint error code (`FpDeviceError`); a code that libfprint does not know
    /// becomes 0, general.
    case failure(code: Int32)

    /// Whether a press brings its own "finger on" and "finger off", as it does on every new connection.
    case automaticFinger(Bool)

    /// A finger is on the reader, or off it, where `automaticFinger` is false.
    case finger(present: Bool)

    /// The reader is pulled out.
    case unplug

    /// The reason for which the reader could not read a press.
    ///
    /// The corresponding C type is `FpDeviceRetry`.
    package enum Retry: Int32, Sendable, CaseIterable {
        /// Anything else. The corresponding C constant is `FP_DEVICE_RETRY_GENERAL`.
        case general = 0
        /// The swipe was too short. The corresponding C constant is `FP_DEVICE_RETRY_TOO_SHORT`.
        case tooShort = 1
        /// The finger was not in the middle. The corresponding C constant is `FP_DEVICE_RETRY_CENTER_FINGER`.
        case centerFinger = 2
        /// The finger must be lifted first. The corresponding C constant is `FP_DEVICE_RETRY_REMOVE_FINGER`.
        case removeFinger = 3
    }
}

extension VirtualReaderMessage {
    /// The pictures that libfprint can take, in pixels each way.
    package static let pictureSides = 16...5000

    /// The bytes that carry the message, or `nil` for a picture too small or too large.
    ///
    /// Each part begins with two 32-bit numbers in the machine's byte order: width and height of the picture
    /// whose bytes follow, or a negative command and its argument.
    var bytes: [UInt8]? {
        switch self {
        case .press(let image):
            guard Self.pictureSides.contains(image.width), Self.pictureSides.contains(image.height) else {
                return nil
            }
            return Self.words(Int32(image.width), Int32(image.height)) + image.pixels
        case .retry(let reason):
            // A bare retry leaves an enrollment waiting for a finger to be lifted, and the next press is
            // lost.
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
