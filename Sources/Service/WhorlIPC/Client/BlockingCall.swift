// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc

/// A call that blocks its thread until the reply arrives, for callers that cannot use an asynchronous function.
package struct BlockingCall: ~Copyable {
    let socket: Descriptor
    /// The maximum time to wait for a reply, in milliseconds.
    private let patience: Int32
    private var reader = FrameReader()
    /// Messages that arrived together with an earlier one.
    private var waiting: [Frame] = []

    /// Takes over a connected socket.
    package init(_ socket: Descriptor) { self.init(socket, patience: 30_000) }

    /// Takes over a connected socket; a call on it waits for a reply for at most `patience` milliseconds.
    init(_ socket: Descriptor, patience: Int32) {
        self.socket = socket
        self.patience = patience
    }

    /// Calls a method and waits for its reply.
    ///
    /// - Parameters:
    ///   - method: The method's qualified name.
    ///   - parameters: The method's parameters.
    ///   - descriptors: At most 8 descriptors, such as secrets, which the parameters refer to by index.
    ///   - type: The type of the reply's parameters.
    ///   - update: Called for each update before the reply; `nil` to request no updates.
    /// - Returns: The reply.
    /// - Throws: The service's refusal, the reason why there is no reply (which includes a timeout of 30 seconds), or
    ///   an error from `update`.
    package mutating func call<Parameters: Encodable & Sendable, Result: Decodable & Sendable>(
        _ method: String,
        _ parameters: Parameters,
        descriptors: [Descriptor] = [],
        returning type: Result.Type = Result.self,
        update: ((CallReply<Result>) throws(ServiceCallError) -> Void)? = nil
    ) throws(ServiceCallError) -> CallReply<Result> {
        let message = CallMessage(method: method, parameters: parameters, more: update == nil ? nil : true)
        var files = descriptors
        let bytes = try message.encoded(beside: &files)
        do throws(SystemCallError) { try send(bytes + [0], files) } catch {
            throw refusal(after: error)
        }
        while true {
            let answer = try receive()
            switch try ReplyReader.read(answer, as: Result.self) {
            case .reply(let parameters):
                return CallReply(parameters: parameters, descriptors: answer.descriptors)
            case .update(let parameters):
                guard let update else { throw .malformed }
                try update(CallReply(parameters: parameters, descriptors: answer.descriptors))
            }
        }
    }

    /// Gives up the socket after a call has been answered.
    ///
    /// - Returns: The socket; `nil` if data has arrived after the answer.
    package consuming func release() -> Descriptor? {
        waiting.isEmpty && reader.pending == 0 ? socket : nil
    }

    /// Returns the reason that the service sent before it closed the connection.
    ///
    /// The kernel preserves the reason even if the service closed the connection before reading the call.
    private mutating func refusal(after error: SystemCallError) -> ServiceCallError {
        guard error.number == EPIPE || error.number == ECONNRESET else { return .connection(error) }
        do throws(ServiceCallError) {
            _ = try ReplyReader.read(try receive(), as: NoParameters.self)
        } catch {
            if case .refused = error { return error }
        }
        // If the service has not read the call, it sends no other answer to it.
        return .connection(error)
    }

    private func send(_ bytes: [UInt8], _ descriptors: [Descriptor]) throws(SystemCallError) {
        let numbers = descriptors.map(\.number)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                // The descriptors are sent with the first part.
                whorl_send(
                    socket.number,
                    bytes.baseAddress?.advanced(by: sent),
                    bytes.count - sent,
                    numbers,
                    sent == 0 ? Int32(numbers.count) : 0
                )
            }
            if count < 0 {
                guard errno == EAGAIN || errno == EINTR else { throw SystemCallError("sendmsg") }
                try wait(for: POLLOUT)
            } else {
                sent += count
            }
        }
    }

    private mutating func receive() throws(ServiceCallError) -> Frame {
        if !waiting.isEmpty { return waiting.removeFirst() }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            do throws(SystemCallError) { try wait(for: POLLIN) } catch { throw .connection(error) }
            var control = whorl_control()
            let count = chunk.withUnsafeMutableBytes {
                whorl_receive(socket.number, $0.baseAddress, $0.count, &control)
            }
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            let descriptors = Descriptor.received(with: control, of: nil)
            guard count > 0 else { throw .connection(count < 0 ? SystemCallError("recvmsg") : nil) }
            guard control.is_truncated == 0,
                // Bytes that are not a message are ignored.
                let messages = try? reader.take(chunk[..<count], descriptors)
            else { throw .malformed }
            waiting += messages
            if !waiting.isEmpty { return waiting.removeFirst() }
        }
    }

    private func wait(for event: Int32) throws(SystemCallError) {
        var place = pollfd(fd: socket.number, events: Int16(event), revents: 0)
        while true {
            let count = poll(&place, 1, patience)
            if count > 0 { return }
            if count < 0, errno == EINTR { continue }
            if count == 0 { errno = ETIMEDOUT }
            throw SystemCallError("poll")
        }
    }
}
