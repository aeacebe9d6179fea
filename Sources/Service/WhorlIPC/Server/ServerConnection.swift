// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// The connection of one client, whose calls are answered one after another.
///
/// In Varlink, the calls on a connection are answered in order. A client that makes two calls at the same time opens
/// two connections. If the client closes the connection during a call, the call is cancelled.
final class ServerConnection: @unchecked Sendable {
    // Sendable: mutable state is accessed only in the channel's `perform`, except `isProven`, which belongs to the
    // current call.

    private static let endings = DispatchQueue(label: "whorl.endings")
    /// The maximum number of values in a call's JSON; a keychain row has about twenty.
    private static let mostValues = 32_768
    /// The maximum length of a method's name, in bytes.
    private static let longestMethod = 256

    private let channel: Channel
    private let router: Router
    let user: PeerUser
    private let process: PeerProcess?
    private let label: PeerLabel
    private let findings: ConnectionFindings
    private let mostWaiting: Int
    private var isProven = false
    private let share: UserShare
    private let owner: ShareOwner
    private let turns: CallTurns
    private var waiting: [Frame] = []
    private var running: Task<Void, Never>?

    private let adopt: ((Descriptor) -> Bool)?

    init(
        _ channel: Channel,
        _ router: Router,
        _ user: PeerUser,
        mostWaiting: Int,
        owner: ShareOwner,
        share: UserShare,
        turns: CallTurns,
        adopt: ((Descriptor) -> Bool)?
    ) {
        self.owner = owner
        self.turns = turns
        self.adopt = adopt
        self.channel = channel
        self.share = share
        self.router = router
        self.user = user
        self.mostWaiting = mostWaiting
        process = PeerProcess(of: channel.socket, user)
        label = PeerLabel(of: channel.socket)
        // Read as early as possible on this side: the process may execute another program as soon as it has connected.
        findings = ConnectionFindings(
            label: label == .none ? process.map { PeerLabel(ofProcess: $0.pid) } ?? .none : .none
        )
        isProven = process.map { $0.question == nil } ?? false
    }

    /// Starts answering calls.
    ///
    /// - Parameter onEnd: Called once, when the connection has ended.
    func start(onEnd: @escaping @Sendable (Channel.Ending) -> Void) {
        channel.start(
            onMessage: { self.take($0) },
            onEnd: { ending in
                _ = self.share.change(by: self.waiting, -1)
                self.waiting = []
                // Not in this connection's turn: a call that is cancelled may send on other connections, and they may
                // send on this one.
                Self.endings.async { [running = self.running] in
                    running?.cancel()
                    onEnd(ending)
                }
            }
        )
    }

    func close() { channel.close() }

    var socket: Descriptor { channel.socket }

    // MARK: - In the channel's turn

    private func take(_ message: Frame) {
        waiting.append(message)
        guard share.mayReceive else { return channel.close(saying: .keptMemory) }
        guard share.change(by: [message], 1) else { return channel.close(saying: .quota("messages")) }
        // The current call is not among them.
        guard waiting.count <= mostWaiting else { return channel.close(saying: .quota("waiting calls")) }
        answerNext()
    }

    private func answerNext() {
        guard running == nil, !waiting.isEmpty else { return }
        let message = waiting.removeFirst()
        let (size, sender) = (message.bytes.count, message.sender)
        let isLarge = size >= CallTurns.largeMessage
        let contents = CallContents(message.bytes) { [turns, owner] in
            if isLarge { turns.largeMessages.end(owner) }
        }
        let attached = CallDescriptors(message.descriptors, share: share)
        // Messages are checked here, not where they are read, because one thread reads many connections.
        running = Task { [channel, share] in
            if isLarge { await self.turns.largeMessages.begin(self.owner) }
            let answer = Task.isCancelled ? nil : await self.answer(contents, attached, from: sender)
            contents.letGo()
            // A call counts for its user until it has been answered, however long that takes.
            _ = share.change(bytes: -size, descriptors: 0)
            attached.close(behind: 0)
            channel.perform { self.finish(answer) }
        }
    }

    private func finish(_ answer: Router.Answer?) {
        running = nil
        // A peer that does not send calls is not a client; there is nothing to answer.
        guard let answer else { return channel.close() }
        if !answer.bytes.isEmpty { channel.send(answer.bytes, answer.descriptors) }
        answerNext()
    }

    // MARK: - In the task of a call

    /// Returns the answer to a message; empty if the caller does not want an answer, and `nil` if the message is not a
    /// call.
    private func answer(
        _ contents: CallContents,
        _ attached: CallDescriptors,
        from sender: Int32
    ) async -> Router.Answer? {
        // If it is not a call, the service hangs up.
        guard (try? JSONCheck.object(contents.bytes, mostValues: Self.mostValues)) != nil,
            let head = try? Wire.decode(CallHead.self, contents.bytes),
            head.method.utf8.count <= Self.longestMethod
        else { return nil }
        let answer =
            if isForeign(sender) {
                Self.refusal(.foreignConnection)
            } else if let answer = identification(head, contents, attached, from: sender) {
                answer
            } else {
                await handled(head, contents, attached)
            }
        return head.oneway == true ? Router.Answer(bytes: []) : answer
    }

    /// Returns whether a process other than the connected one sent a message or a part of it.
    ///
    /// If the connected process has ended, its messages come from another process that holds the connection.
    private func isForeign(_ sender: Int32) -> Bool { process?.hasSent(sender) != true }

    private func handled(
        _ head: CallHead,
        _ contents: CallContents,
        _ attached: CallDescriptors
    ) async -> Router.Answer {
        let call = ServiceCall(
            client: ServiceClientIdentity(
                user: user,
                process: isProven ? process : nil,
                label: label,
                findings: findings
            ),
            wantsMore: head.more == true && head.oneway != true,
            attached: attached,
            contents: contents,
            send: { [channel] in channel.send($0, $1) },
            reading: { [channel] in await channel.untilRead() },
            turns: UserTurns(turns: turns, owner: owner)
        )
        guard router.asksOwner(head.method) else { return await Self.answer(head, call, router) }
        return await turns.asking.take(owner) {
            // The call may have waited longer than its client.
            Task.isCancelled ? Router.Answer(bytes: []) : await Self.answer(head, call, router)
        }
    }

    private static func answer(_ head: CallHead, _ call: ServiceCall, _ router: Router) async -> Router.Answer
    {
        do throws(ServiceRefusal) {
            return try await router.handler(of: head.method)(call).get()
        } catch {
            return refusal(error)
        }
    }

    private static func refusal(_ refusal: ServiceRefusal) -> Router.Answer {
        Router.Answer(bytes: refusal.message)
    }

    private static func reply(_ parameters: some Encodable) -> Router.Answer {
        guard let bytes = try? Wire.encode(ReplyMessage(parameters: parameters)) else {
            return refusal(ServiceRefusal("io.whorl.InternalError"))
        }
        return Router.Answer(bytes: bytes)
    }

    // MARK: - The process that asks

    private struct Question: Encodable { let question: String? }
    private struct Reply: Decodable { let answer: String }
    private struct Place: Decodable { let value: Int }

    /// Answers the calls that concern the connection itself.
    ///
    /// Two of them prove the identity of the client's process, which no other process may do. The third one passes
    /// another connection to the server.
    private func identification(
        _ head: CallHead,
        _ contents: CallContents,
        _ attached: CallDescriptors,
        from sender: Int32
    ) -> Router.Answer? {
        switch head.method {
        case "io.whorl.Connection.Challenge":
            let question = isProven ? nil : process?.question.map { String($0, radix: 16) }
            return Self.reply(Question(question: question))
        case "io.whorl.Connection.Prove":
            // An unreadable answer proves nothing, like a wrong one.
            let body = try? Wire.decode(CallParameters<Reply>.self, contents.bytes).parameters
            guard let process, let answer = body.flatMap({ UInt64($0.answer, radix: 16) }),
                process.isProven(by: answer, from: sender)
            else { return Self.refusal(ServiceRefusal("io.whorl.Connection.NotProven")) }
            isProven = true
            return Self.reply(NoParameters())
        case "io.whorl.Connection.Adopt":
            guard let adopt else { return nil }
            // An unreadable position is not a position.
            let place = try? Wire.decode(CallParameters<Place>.self, contents.bytes).parameters.value
            guard let place, let socket = attached.take(place), adopt(socket)
            else { return Self.refusal(.invalidParameter("value")) }
            return Self.reply(NoParameters())
        default: return nil
        }
    }
}

extension ServiceRefusal {
    /// The refusal for a message that arrived over another process's connection.
    static let foreignConnection = ServiceRefusal(
        "io.whorl.Connection.NotProven",
        message: "This connection belongs to another process.",
        recovery: "Connect again: a connection serves only the process that made it."
    )
}
