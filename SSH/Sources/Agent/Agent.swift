// SPDX-License-Identifier: Apache-2.0

internal import CAgent
internal import CWhorl

/// Runs the agent until a signal ends the process.
@c(agent_serve)
@unsafe public func serve(
    _ listening: Int32,
    _ service: UnsafePointer<CChar>?,
    _ upstream: UnsafePointer<CChar>?
) -> Int32 {
    guard let service = unsafe Bytes(copying: service) else { return 64 }
    guard let agent = Agent(listening, service: service, upstream: unsafe Bytes(copying: upstream)) else {
        return 1
    }
    agent.serve()
}

/// The agent with its keys and clients.
///
/// It has one thread, so keys are listed immediately while other programs wait for a touch. Only a connection to the
/// service can delay it, for up to two seconds if the service's queue is full.
final class Agent {
    /// The maximum number of clients, and of those of one process.
    ///
    /// All programs on a host that the agent is forwarded to are clients of one ssh process.
    private static let mostClients = (all: 256, ofProcess: 64)
    /// How long a list waits for the service, and for the other agent, in milliseconds.
    private static let listLimits = (keys: Int64(1000), upstream: Int64(2000))

    private let listening: Int32
    private let hangup: Int32
    let service: Bytes
    let upstreamPath: Bytes?
    let watch: Int32
    private var clients: [Client?] = []
    var passphrase = Passphrase()
    /// The number of wrong passphrases since the last right one.
    var wrongPassphrases: Int64 = 0

    private(set) var keys: [Key] = []
    private var hasKeys = false
    private var keyList: KeyList?

    init?(_ listening: Int32, service: Bytes, upstream: Bytes?) {
        self.listening = listening
        self.service = service
        upstreamPath = upstream
        watch = whorl_watch_make()
        hangup = agent_hangup_descriptor()
        guard watch >= 0, hangup >= 0,
            whorl_watch_set(watch, listening, 0, Int32(WHORL_READABLE), Watched.listening) == 0,
            whorl_watch_set(watch, hangup, 0, Int32(WHORL_READABLE), Watched.hangup) == 0
        else { return nil }
    }

    func serve() -> Never {
        readKeys()
        var events = [agent_event](repeating: agent_event(), count: Int(AGENT_EVENTS))
        while true {
            let count = unsafe events.withUnsafeMutableBufferPointer {
                unsafe agent_wait(watch, $0.baseAddress, milliseconds)
            }
            for event in events[0..<Int(count)] { handle(event) }
            endWaits()
        }
    }

    private func handle(_ event: agent_event) {
        switch event.number {
        case Watched.listening: accept()
        case Watched.hangup:
            agent_drain(hangup)
            readKeys()
        case Watched.keyList: proceedWithKeys()
        default:
            guard let (slot, part) = Watched.slot(event.number), clients.indices.contains(slot),
                let client = clients[slot]
            else { return }
            switch part {
            case .client:
                if event.can_write != 0 { client.flush() }
                if !client.hasEnded { client.read() }
            case .signing: proceedWithSignature(client)
            case .upstream:
                client.upstream?.flush()
                proceedWithUpstream(client)
            }
            answer(client)
        }
    }

    private func accept() {
        while true {
            let connection = agent_accept(listening)
            guard connection >= 0 else { return }
            var slot = clients.firstIndex { $0 == nil } ?? clients.count
            if slot >= Self.mostClients.all { slot = -1 }
            guard slot >= 0, let client = Client(connection, slot: slot, watch: watch) else {
                close(connection)
                continue
            }
            guard clients.count(where: { $0?.pid == client.pid }) < Self.mostClients.ofProcess else {
                client.end()
                continue
            }
            if slot == clients.count { clients.append(client) } else { clients[slot] = client }
        }
    }

    /// Answers a client's requests as far as possible, and forgets the client if it has ended.
    private func answer(_ client: Client) {
        while let message = client.nextRequest() { handle(message, of: client) }
        if client.hasEnded { clients[client.slot] = nil }
    }

    // MARK: - Times

    /// The number of milliseconds until a client need not wait any longer; -1 if none waits for a time.
    private var milliseconds: Int32 {
        var next: Int64 = -1
        for client in clients {
            guard let time = client?.deadline else { continue }
            next = next < 0 ? time : min(next, time)
        }
        guard next >= 0 else { return -1 }
        return Int32(clamping: max(0, next - whorl_milliseconds()))
    }

    private func endWaits() {
        let now = whorl_milliseconds()
        for case let client? in clients {
            guard let deadline = client.deadline, deadline <= now else { continue }
            switch client.work {
            case .keyList(_, let request): resume(request, of: client)
            case .upstreamList:
                client.upstream?.end()
                client.upstream = nil
                client.reply(keyReply([]))
            case .pause: client.reply(MessageType.failure)
            case .nothing, .signing, .upstreamReply: break
            }
            answer(client)
        }
    }

    // MARK: - Keys

    /// Begins to read the list of keys, again if necessary.
    func readKeys() {
        keyList?.end()
        keyList = KeyList(service: service, watch: watch, number: Watched.keyList)
    }

    /// Makes a client's request wait for the list of keys that is being read; returns `false` if none is.
    func waitForKeys(_ client: Client, with request: Bytes) -> Bool {
        guard keyList != nil else { return false }
        client.work = .keyList(until: whorl_milliseconds() + Self.listLimits.keys, request: request)
        return true
    }

    /// Handles a request that has waited for the list of keys.
    private func resume(_ request: Bytes, of client: Client) {
        client.work = .nothing
        if case .sign = AgentRequest(request), !passphrase.isSet {
            signWithKnownKeys(request, client)
        } else {
            list(client)
        }
    }

    /// Makes sure that a list of keys was read or is being read, and returns whether it was read.
    func hasReadKeys() -> Bool {
        if !hasKeys, keyList == nil { readKeys() }
        return hasKeys
    }

    private func proceedWithKeys() {
        guard let progress = keyList?.proceed() else { return }
        switch progress {
        case .reading: return
        case .keys(let found):
            keys = found
            hasKeys = true
        case .failed: break
        }
        keyList?.end()
        keyList = nil
        for case let client? in clients {
            guard case .keyList(_, let request) = client.work else { continue }
            resume(request, of: client)
            answer(client)
        }
    }

    /// Forgets a key that was deleted.
    func forget(_ name: Bytes) { keys.removeAll { $0.name == name } }

    /// Answers a list request, or asks the other agent for its keys first.
    func list(_ client: Client) {
        guard !passphrase.isSet, let upstream = upstream(of: client) else {
            return client.reply(keyReply([]))
        }
        client.work = .upstreamList(until: whorl_milliseconds() + Self.listLimits.upstream)
        upstream.send([MessageType.list])
        proceedWithUpstream(client)
    }

    /// Returns the reply to a list request: this agent's keys, and then those of the other agent's reply.
    private func keyReply(_ other: Bytes) -> Bytes {
        var entries: Bytes = []
        var count = 0
        func add(_ blob: Bytes, _ comment: Bytes) {
            guard count < KeyList.most, entries.count + blob.count + comment.count + 13 <= SSHFraming.longest
            else { return }
            entries.append(string: blob)
            entries.append(string: comment)
            count += 1
        }
        if !passphrase.isSet { for key in keys { add(key.blob, key.name) } }
        var reader = SSHReader(other)
        if reader.byte() == MessageType.keys, let others = reader.number() {
            for _ in 0..<min(others, KeyList.most) {
                guard let blob = reader.string(), let comment = reader.string() else { break }
                add(blob, comment)
            }
        }
        var reply: Bytes = [MessageType.keys]
        reply.append(number: count)
        reply.append(contentsOf: entries)
        return reply
    }

    // MARK: - Other parties

    private func proceedWithSignature(_ client: Client) {
        guard case .signing(let signing) = client.work else { return }
        switch signing.proceed() {
        case .waiting: return
        case .signature(let signature):
            signing.end()
            var reply: Bytes = [MessageType.signature]
            reply.append(string: signature)
            client.reply(reply)
        case .refused(let error, let message):
            signing.end()
            if error.isText("noSuchItem") { forget(signing.name) }
            tell(client, message)
            client.reply(MessageType.failure)
        }
    }

    /// Locks the agent; requests that wait for a touch end.
    func lock(_ secret: Bytes) -> Bool {
        guard passphrase.set(secret) else { return false }
        for case let client? in clients {
            guard case .signing(let signing) = client.work else { continue }
            signing.end()
            client.reply(MessageType.failure)
            answer(client)
        }
        return true
    }

    /// Tells the user why a request was refused; SSH's protocol has no place for it.
    func tell(_ client: Client, _ message: Bytes) {
        // The terminal of a process that has ended may be another one's by now.
        let pid = agent_has_ended(client.process) == 0 ? client.pid : 0
        unsafe agent_tell(pid, message, message.count)
    }

    /// Returns the client's connection to the other agent; `nil` without one.
    func upstream(of client: Client) -> Upstream? {
        guard let upstreamPath else { return nil }
        if client.upstream == nil {
            client.upstream = Upstream(
                path: upstreamPath,
                binds: client.binds,
                watch: watch,
                number: Watched.number(client.slot, .upstream)
            )
        }
        return client.upstream
    }

    private func proceedWithUpstream(_ client: Client) {
        while let upstream = client.upstream {
            switch upstream.receive() {
            case .nothing: return
            case .reply(let reply): take(reply, for: client)
            case .end:
                upstream.end()
                client.upstream = nil
                take([MessageType.failure], for: client)
            }
        }
    }

    private func take(_ reply: Bytes, for client: Client) {
        switch client.work {
        case .upstreamList: client.reply(keyReply(reply))
        case .upstreamReply(.asItIs): client.reply(reply)
        case .upstreamReply(.toLock):
            if reply.first != MessageType.success {
                tell(client, Bytes("The other agent was not locked or unlocked."))
            }
            client.reply(MessageType.success)
        case .nothing, .keyList, .signing, .pause: break
        }
    }
}

extension Client {
    /// The time until which the client waits; `nil` if it waits for something else.
    fileprivate var deadline: Int64? {
        switch work {
        case .keyList(let until, _), .upstreamList(let until), .pause(let until): until
        case .nothing, .signing, .upstreamReply: nil
        }
    }
}
