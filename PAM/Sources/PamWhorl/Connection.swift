// SPDX-License-Identifier: Apache-2.0

internal import CPAM

/// A non-blocking connection to the service.
struct Connection: ~Copyable {
    let descriptor: Int32
    private var framing = Framing()
    /// The bytes that were read last.
    ///
    /// Those from `place` to `count` have not been processed yet.
    private var room = Bytes(repeating: 0, count: 2048)
    private var place = 0
    private var count = 0
    /// The file that came with the last message; -1 without one.
    private(set) var file: Int32 = -1

    /// Connects to the service.
    ///
    /// `nil` if the system's service is not running, or accepts no further client now.
    init?(_ options: Options) {
        let opened = unsafe whorl_connect(options.folder.terminated, options.socket.terminated)
        guard opened >= 0 else { return nil }
        descriptor = opened
    }

    /// Whether the service can identify this process without a challenge.
    var isProven: Bool { whorl_is_named(descriptor) != 0 }

    deinit {
        close(descriptor)
        if file >= 0 { close(file) }
    }

    /// Sends a call, optionally with one or two files.
    ///
    /// `false` if the service has closed the connection or does not read.
    func send(_ call: Bytes, with file: Int32 = -1, _ second: Int32 = -1) -> Bool {
        unsafe call.withUnsafeBytes {
            unsafe whorl_send(descriptor, $0.baseAddress, $0.count, file, second) == 1
        }
    }

    /// The next result of reading from the service.
    enum Arrival {
        case message(Bytes)
        case nothing
        /// The service has closed the connection, or has sent an invalid message.
        case end
    }

    /// Returns the next message that has arrived.
    mutating func receive() -> Arrival {
        while true {
            while place < count {
                place += 1
                if let message = framing.take(room[place - 1]) { return .message(message) }
                if framing.isBroken { return .end }
            }
            (place, count) = (0, 0)
            let got = unsafe room.withUnsafeMutableBytes {
                unsafe whorl_receive(descriptor, $0.baseAddress, $0.count, &file)
            }
            if got == -1 { return .nothing }
            guard got > 0, got <= room.count else { return .end }
            count = got
        }
    }

    /// Proves this process to the service, if the kernel does not; `false` if the service does not reply.
    mutating func prove() -> Bool {
        guard !isProven else { return true }
        guard send(Call.challenge), let reply = waitForReply(3) else { return false }
        // A service that does not support challenges does not need them.
        guard reply.error == nil, let question = reply.question else { return true }
        return send(Call.prove(question)) && waitForReply(3) != nil
    }

    /// Waits until the service replies, closes the connection, or the time in seconds is up.
    ///
    /// - Returns: The reply, which may be an error.
    @inline(never)
    mutating func waitForReply(_ seconds: Int64) -> Reply? {
        let deadline = whorl_milliseconds() + seconds * 1000
        while true {
            switch receive() {
            case .message(let message): return Reply(message)
            case .end: return nil
            case .nothing:
                let left = deadline - whorl_milliseconds()
                guard left > 0 else { return nil }
                _ = whorl_poll(descriptor, -1, -1, -1, Int32(truncatingIfNeeded: left))
            }
        }
    }
}
