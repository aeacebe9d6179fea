// SPDX-License-Identifier: Apache-2.0

internal import CAgent
internal import CWhorl

/// A program that is connected to the agent.
///
/// Its requests are answered one after the other, in their order; while it waits for a touch, other programs do not.
final class Client {
    /// The event that a client waits for.
    enum Work {
        case nothing
        /// The list of keys that is being read, until this time, for a request to list them or to sign.
        case keyList(until: Int64, request: Bytes)
        /// The answer to a touch.
        case signing(Signing)
        /// The keys of the other agent, until this time.
        case upstreamList(until: Int64)
        /// The reply of the other agent.
        case upstreamReply(Reply)
        /// The time after which a wrong passphrase is refused.
        case pause(until: Int64)
    }

    /// The use of the other agent's reply.
    enum Reply {
        /// It is passed on.
        case asItIs
        /// It says whether the other agent was locked or unlocked as well.
        case toLock
    }

    /// The number of unread bytes above which no more are read.
    private static let mostUnread = SSHFraming.longest + 65_536

    let connection: Int32
    /// The process that connected, as a process descriptor.
    let process: Int32
    let pid: Int32
    let slot: Int
    private let watch: Int32
    private var framing = SSHFraming()
    private var output = Output()
    private(set) var hasEnded = false

    var work = Work.nothing
    var upstream: Upstream?
    /// The contents of the connection's binds, including those that were refused.
    private(set) var binds: [Bytes] = []
    private var bindBytes = 0
    /// Whether binds are missing, so that the way of a request cannot be told.
    private(set) var lacksBinds = false
    private var isForLogin = false
    /// Whether the connection comes from a host that the agent is forwarded to, whose user must not lock the agent.
    private(set) var isForwarded = false
    /// The key of the host that the last bind names.
    private(set) var hostKey: Bytes?

    /// Takes over a connection; `nil` if the program is another user's, or has ended.
    init?(_ connection: Int32, slot: Int, watch: Int32) {
        var pid: pid_t = 0
        let process = unsafe agent_process(connection, &pid)
        guard process >= 0 else { return nil }
        guard whorl_watch_set(watch, connection, 0, Int32(WHORL_READABLE), Watched.client(slot)) == 0 else {
            close(process)
            return nil
        }
        self.connection = connection
        self.process = process
        self.pid = pid
        self.slot = slot
        self.watch = watch
    }

    /// Closes the connection; a prompt for it ends.
    func end() {
        if case .signing(let signing) = work { signing.end() }
        work = .nothing
        upstream?.end()
        upstream = nil
        _ = whorl_watch_remove(watch, connection)
        close(connection)
        close(process)
        hasEnded = true
    }

    /// Returns the next request, if the last one was answered and the answer was sent.
    func nextRequest() -> Bytes? {
        guard !hasEnded, output.isEmpty, case .nothing = work else { return nil }
        switch framing.next() {
        case .message(let message): return message
        case .incomplete: return nil
        case .broken:
            end()
            return nil
        }
    }

    /// Reads what has arrived; ends the connection if the program did.
    func read() {
        var room = Bytes(repeating: 0, count: 16_384)
        while framing.count < Self.mostUnread {
            let got = unsafe room.withUnsafeMutableBytes {
                unsafe agent_read(connection, $0.baseAddress, $0.count)
            }
            if got < 0 { break }
            guard got > 0 else { return end() }
            framing.add(room[0..<got])
        }
        watchAgain()
    }

    /// Answers the request.
    func reply(_ message: Bytes) {
        work = .nothing
        output.add(message.framed)
        flush()
    }

    func reply(_ type: UInt8) { reply([type]) }

    /// Sends what was not sent yet.
    func flush() {
        guard output.flush(connection) else { return end() }
        watchAgain()
    }

    private func watchAgain() {
        let readable = framing.count < Self.mostUnread ? Int32(WHORL_READABLE) : 0
        let writable = output.isEmpty ? 0 : Int32(WHORL_WRITABLE)
        _ = whorl_watch_set(watch, connection, 1, readable | writable, Watched.client(slot))
    }

    /// Keeps a bind for the service, which verifies it, and returns whether it could be valid.
    func add(bind contents: Bytes) -> Bool {
        guard bindBytes + contents.count <= Signing.longestBinds, binds.count < 32 else {
            lacksBinds = true
            return false
        }
        bindBytes += contents.count
        binds.append(contents)
        upstream?.send(bind: contents)
        guard let bind = Bind(contents), !isForLogin, binds.count <= 16 else { return false }
        isForLogin = !bind.isForwarding
        if bind.isForwarding { isForwarded = true }
        hostKey = bind.hostKey
        return true
    }
}

/// The numbers of watched descriptors.
enum Watched {
    static let listening: UInt64 = 0
    static let keyList: UInt64 = 1
    static let hangup: UInt64 = 2

    /// A connection of a client's slot.
    enum Part: UInt64 { case client, signing, upstream }

    static func client(_ slot: Int) -> UInt64 { number(slot, .client) }

    static func number(_ slot: Int, _ part: Part) -> UInt64 { UInt64(slot + 1) * 4 + part.rawValue }

    /// The slot and part of a number; `nil` for the agent's own descriptors.
    static func slot(_ number: UInt64) -> (Int, Part)? {
        guard number >= 4, let part = Part(rawValue: number % 4) else { return nil }
        return (Int(number / 4) - 1, part)
    }
}
