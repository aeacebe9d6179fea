// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The error of a call that did not get a reply.
package enum ServiceCallError: Error, Sendable, Hashable {
    /// The service could not be reached, or closed the connection before it answered. In the latter case, it is unknown
    /// whether it executed the call.
    case connection(SystemCallError?)
    /// The answer is not a valid reply.
    case malformed
    /// The service refused the call.
    case refused(ServiceRefusal)
    /// The task was cancelled. The connection is closed, and the service ends the call.
    case cancelled
}

/// The values of a reply, and the descriptors sent with it.
package struct CallReply<Parameters: Sendable>: Sendable {
    package let parameters: Parameters
    package let descriptors: [Descriptor]
}

/// Parses the answers of a service.
enum ReplyReader<Parameters: Decodable & Sendable> {
    case update(Parameters)
    case reply(Parameters)

    /// Parses a message.
    ///
    /// - Throws: `refused` if the message is an error from the service; `malformed` if it is not a reply.
    static func read(_ message: Frame, as: Parameters.Type) throws(ServiceCallError) -> ReplyReader {
        let bytes = message.bytes
        // An unreadable message is not a reply, for whatever reason.
        guard (try? JSONCheck.object(bytes)) != nil, let head = try? Wire.decode(ReplyHead.self, bytes) else {
            throw .malformed
        }
        if let name = head.error { throw .refused(ServiceRefusal(name, message: bytes)) }
        let files = CallDescriptors(message.descriptors)
        guard
            let parameters = try? Wire.decode(CallParameters<Parameters>.self, bytes, beside: files)
                .parameters
        else { throw .malformed }
        return head.continues == true ? .update(parameters) : .reply(parameters)
    }
}

extension CallMessage {
    /// Encodes the call, and appends its secrets to the descriptors to send with it.
    func encoded(beside files: inout [Descriptor]) throws(ServiceCallError) -> [UInt8] {
        do { return try Wire.encode(self, beside: &files) } catch { throw ServiceCallError(encoding: error) }
    }
}

extension ServiceCallError {
    /// Creates the error for a call that cannot be sent because memory files cannot be created or the parameters cannot
    /// be encoded.
    package init(encoding error: any Error) {
        // The encoder's message names only our own types: the caller's parameters are not valid JSON.
        self =
            if case SecretDescriptor.Fault.system(let error) = error { .connection(error) } else {
                .malformed
            }
    }
}

/// A connection to a service, for one call at a time.
///
/// After any error other than a refusal, the connection is closed and can no longer be used.
package final class ServiceConnection: Sendable {
    package typealias Reply = CallReply

    private let channel: Channel
    private let messages: AsyncStream<Frame>
    private let sink: AsyncStream<Frame>.Continuation
    private let watch: AnswerWatch?
    /// Whether the connection was closed because the service does not answer.
    private let hasGivenUp = Atomic(false)
    var socket: Descriptor { channel.socket }

    /// Takes over a connected socket.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - watch: Ends calls that the service will not answer; if `nil`, calls wait as long as the connection is open.
    /// - Throws: The system's error if the socket cannot be made nonblocking.
    package init(_ socket: Descriptor, watch: AnswerWatch? = nil) throws(SystemCallError) {
        self.watch = watch
        try UnixSocket.adopt(socket)
        channel = Channel(socket)
        (messages, sink) = AsyncStream.makeStream(of: Frame.self)
        let sink = sink
        channel.start(onMessage: { sink.yield($0) }, onEnd: { _ in sink.finish() })
    }

    /// Connects to the service at a path.
    package convenience init(path: String) throws(SystemCallError) {
        try self.init(try UnixSocket.connect(to: path))
    }

    deinit { channel.close() }

    /// Gives up the socket.
    ///
    /// A waiting call receives the messages that have already arrived, and fails with `connection(nil)`. The next owner
    /// of the socket receives the messages that follow (``resume(update:)``).
    ///
    /// - Returns: The socket; `nil` if the connection has ended or a message is incomplete.
    package func release() -> Descriptor? {
        guard channel.release() else { return nil }
        sink.finish()
        return socket
    }

    /// Closes the connection; a waiting call fails with `connection`.
    package func close() { channel.close() }

    /// Closes the connection to a service that does not answer; a waiting call fails with `connection` (`ETIMEDOUT`).
    func giveUp() {
        hasGivenUp.store(true, ordering: .relaxed)
        channel.close()
    }

    /// Calls a method and waits for its reply.
    ///
    /// - Parameters:
    ///   - method: The method's qualified name.
    ///   - parameters: The method's parameters.
    ///   - descriptors: At most 8 descriptors, which the parameters refer to by index; secrets among the parameters are
    ///     appended.
    ///   - type: The type of the reply's parameters.
    ///   - update: Called for each update before the reply; `nil` to request no updates.
    /// - Returns: The reply.
    /// - Throws: The service's refusal, or the reason why there is no reply.
    package func call<Parameters: Encodable & Sendable, Result: Decodable & Sendable>(
        _ method: String,
        _ parameters: Parameters,
        descriptors: [Descriptor] = [],
        returning type: Result.Type = Result.self,
        update: ((Result) -> Void)? = nil
    ) async throws(ServiceCallError) -> Reply<Result> {
        let message = CallMessage(method: method, parameters: parameters, more: update == nil ? nil : true)
        var files = descriptors
        let bytes = try message.encoded(beside: &files)
        channel.send(bytes, files)
        watch?.begin(self)
        defer { watch?.end(self) }
        return try await cancellableAnswer(update)
    }

    /// Waits for the reply to a call that a previous owner of the socket made.
    ///
    /// - Parameter update: Called for each update before the reply.
    /// - Returns: The reply.
    /// - Throws: The service's refusal, or the reason why there is no reply.
    package func resume<Result: Decodable & Sendable>(
        update: @escaping (Result) -> Void
    ) async throws(ServiceCallError) -> Reply<Result> {
        try await cancellableAnswer(update)
    }

    private func cancellableAnswer<Result: Decodable & Sendable>(
        _ update: ((Result) -> Void)?
    ) async throws(ServiceCallError) -> Reply<Result> {
        let answer: Swift.Result<Reply<Result>, ServiceCallError> = await withTaskCancellationHandler {
            do throws(ServiceCallError) {
                return .success(try await self.answer(update))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            channel.closeSoon()
        }
        return try answer.get()
    }

    private func answer<Result: Decodable & Sendable>(
        _ update: ((Result) -> Void)?
    ) async throws(ServiceCallError) -> Reply<Result> {
        var isFirst = true
        for await message in messages {
            if isFirst { watch?.end(self) }
            isFirst = false
            do throws(ServiceCallError) {
                switch try ReplyReader.read(message, as: Result.self) {
                case .update(let parameters): update?(parameters)
                case .reply(let parameters):
                    return Reply(parameters: parameters, descriptors: message.descriptors)
                }
            } catch {
                if error == .malformed { channel.close() }
                throw error
            }
        }
        guard !Task.isCancelled else { throw .cancelled }
        throw .connection(hasGivenUp.load(ordering: .relaxed) ? SystemCallError(unanswered: "call") : nil)
    }
}
