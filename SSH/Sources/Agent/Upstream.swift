// SPDX-License-Identifier: Apache-2.0

internal import CAgent
internal import CWhorl

/// A connection to another agent, for one client.
final class Upstream {
    /// The next result of reading.
    enum Arrival {
        case reply(Bytes)
        case nothing
        /// The agent has closed the connection, or has sent an invalid message.
        case end
    }

    private let connection: Int32
    private let watch: Int32
    private let number: UInt64
    private var framing = SSHFraming()
    private var output = Output()
    /// The number of outstanding replies to binds, which are ignored.
    private var ignored = 0

    /// Connects, and repeats the client's binds; `nil` if the agent does not accept the connection.
    init?(path: Bytes, binds: [Bytes], watch: Int32, number: UInt64) {
        let made = unsafe agent_connect(path.terminated)
        guard made >= 0 else { return nil }
        guard whorl_watch_set(watch, made, 0, Int32(WHORL_READABLE), number) == 0 else {
            close(made)
            return nil
        }
        connection = made
        self.watch = watch
        self.number = number
        for bind in binds { send(bind: bind) }
    }

    /// Sends a bind, whose reply is ignored.
    func send(bind contents: Bytes) {
        var message: Bytes = [MessageType.extensionRequest]
        message.append(string: Bytes("session-bind@openssh.com"))
        message.append(contentsOf: contents)
        ignored += 1
        send(message)
    }

    /// Sends a request, whose reply ``receive()`` returns.
    func send(_ message: Bytes) {
        output.add(message.framed)
        flush()
    }

    /// Sends what was not sent yet.
    func flush() {
        _ = output.flush(connection)
        let wanted = Int32(WHORL_READABLE) | (output.isEmpty ? 0 : Int32(WHORL_WRITABLE))
        _ = whorl_watch_set(watch, connection, 1, wanted, number)
    }

    func receive() -> Arrival {
        var room = Bytes(repeating: 0, count: 4096)
        while true {
            switch framing.next() {
            case .broken: return .end
            case .message(let message):
                guard ignored == 0 else {
                    ignored -= 1
                    continue
                }
                return .reply(message)
            case .incomplete: break
            }
            let got = unsafe room.withUnsafeMutableBytes {
                unsafe agent_read(connection, $0.baseAddress, $0.count)
            }
            if got < 0 { return .nothing }
            guard got > 0 else { return .end }
            framing.add(room[0..<got])
        }
    }

    func end() {
        _ = whorl_watch_remove(watch, connection)
        close(connection)
    }
}

/// Bytes that wait until a connection takes them.
struct Output {
    private var bytes: Bytes = []
    private var place = 0

    var isEmpty: Bool { place == bytes.count }

    mutating func add(_ more: Bytes) { bytes.append(contentsOf: more) }

    /// Sends as much as possible; `false` at the end of the connection.
    mutating func flush(_ connection: Int32) -> Bool {
        while !isEmpty {
            let sent = unsafe bytes.withUnsafeBytes {
                unsafe agent_write(connection, $0.baseAddress?.advanced(by: place), $0.count - place)
            }
            if sent < 0 { return true }
            guard sent > 0 else { return false }
            place += sent
        }
        bytes = []
        place = 0
        return true
    }
}
