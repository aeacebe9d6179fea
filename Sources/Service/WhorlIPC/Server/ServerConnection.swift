// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// One client's connection: its calls, one after the other.
///
/// Varlink answers the calls of a connection in their order; a client that wants two at once connects twice. A call that
/// is under way when the client hangs up is cancelled.
final class ServerConnection: @unchecked Sendable {
    // Sendable: what changes is touched on the channel's queue alone.

    private let channel: Channel
    private let router: Router
    private let user: PeerUser
    private let process: PeerProcess?
    private let label: PeerLabel
    private let mostWaiting: Int
    private var isProven = false
    private let budget: MemoryBudget
    private var waiting: [Frame] = []
    private var running: Task<Void, Never>?

    private let adopt: ((Descriptor) -> Bool)?

    init(
        _ channel: Channel,
        _ router: Router,
        _ user: PeerUser,
        mostWaiting: Int,
        budget: MemoryBudget,
        adopt: ((Descriptor) -> Bool)?
    ) {
        self.adopt = adopt
        self.channel = channel
        self.budget = budget
        self.router = router
        self.user = user
        self.mostWaiting = mostWaiting
        process = PeerProcess(of: channel.socket, user)
        label = PeerLabel(of: channel.socket)
        isProven = process.map { $0.question == nil } ?? false
    }

    /// Begins to answer.
    ///
    /// - Parameter onEnd: Called once, when the connection has ended.
    func start(onEnd: @escaping @Sendable (Channel.Ending) -> Void) {
        channel.start(
            onMessage: { self.take($0) },
            onEnd: { ending in
                for message in self.waiting { _ = self.budget.change(by: -message.bytes.count) }
                self.waiting = []
                self.running?.cancel()
                onEnd(ending)
            }
        )
    }

    func close() { channel.close() }

    // MARK: - On the queue

    private func take(_ message: Frame) {
        waiting.append(message)
        let isWithinBudget = budget.change(by: message.bytes.count)
        // The one under way is not counted.
        guard isWithinBudget, waiting.count <= mostWaiting else { return channel.close() }
        answerNext()
    }

    private func answerNext() {
        guard running == nil, !waiting.isEmpty else { return }
        let message = waiting.removeFirst()
        _ = budget.change(by: -message.bytes.count)
        guard (try? JSONCheck.object(message.bytes)) != nil,
            let head = try? Wire.decode(CallHead.self, message.bytes)
        else {
            // A peer that sends no call is none of ours; there is nothing to answer to.
            return channel.close()
        }
        if let answer = identification(head, message) { return finish(answer, head) }
        let call = ServiceCall(
            client: ServiceClientIdentity(
                user: user,
                process: isProven ? process : nil,
                label: label
            ),
            wantsMore: head.more == true && head.oneway != true,
            descriptors: message.descriptors,
            body: message.bytes,
            send: { [channel] in channel.send($0, $1) }
        )
        running = Task { [router, channel] in
            let answer = await Self.answer(head, call, router)
            channel.queue.async { self.finish(answer, head) }
        }
    }

    private func finish(_ answer: Router.Answer, _ head: CallHead) {
        running = nil
        if head.oneway != true { channel.send(answer.bytes, answer.descriptors) }
        answerNext()
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

    /// Answers the calls about connections: the two by which a client's process proves itself, which no handler may see
    /// done by another, and the one that hands a further connection in.
    private func identification(_ head: CallHead, _ message: Frame) -> Router.Answer? {
        switch head.method {
        case "io.whorl.Connection.Challenge":
            let question = isProven ? nil : process?.question.map { String($0, radix: 16) }
            return Self.reply(Question(question: question))
        case "io.whorl.Connection.Prove":
            // An answer that cannot be read proves nothing, as a wrong one does.
            let body = try? Wire.decode(ParametersOf<Reply>.self, message.bytes).parameters
            guard let process, let answer = body.flatMap({ UInt64($0.answer, radix: 16) }),
                process.isProven(by: answer, from: message.sender)
            else { return Self.refusal(ServiceRefusal("io.whorl.Connection.NotProven")) }
            isProven = true
            return Self.reply(NoParameters())
        case "io.whorl.Connection.Adopt":
            guard let adopt else { return nil }
            // A place that cannot be read is no place.
            let place = try? Wire.decode(ParametersOf<Place>.self, message.bytes).parameters.value
            guard let place, message.descriptors.indices.contains(place), adopt(message.descriptors[place])
            else { return Self.refusal(.invalidParameter("value")) }
            return Self.reply(NoParameters())
        default: return nil
        }
    }
}
