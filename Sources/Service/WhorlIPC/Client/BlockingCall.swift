// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc

/// A call that blocks its thread until the reply arrives, for callers that cannot wait in a task.
package struct BlockingCall: ~Copyable {
    let socket: Descriptor
    /// The time for which a reply is waited, in milliseconds.
    private let patience: Int32
    private var reader = FrameReader()
    /// The messages that arrived together with an earlier one.
    private var waiting: [Frame] = []

    /// Takes over a connected socket.
    package init(_ socket: Descriptor) { self.init(socket, patience: 30_000) }

    /// Takes over a connected socket, on which a reply is waited for `patience` milliseconds.
    init(_ socket: Descriptor, patience: Int32) {
        self.socket = socket
        self.patience = patience
    }

    /// Calls a method, and waits for its reply.
    ///
    /// - Parameters:
    ///   - method: The qualified name.
    ///   - parameters: What the method takes.
    ///   - descriptors: At most 8, such as secrets; parameters name them by their index.
    ///   - type: What the reply's parameters become.
    ///   - update: Is called for each update before the reply. Without it none is asked for.
    /// - Returns: The reply.
    /// - Throws: The service's refusal, or the reason for which there is no reply, also after 30 seconds without one; what
    ///   `update` throws.
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

    /// Gives up the socket after a call that was answered.
    ///
    /// - Returns: The socket; `nil` if more data than the answer has arrived.
    package consuming func release() -> Descriptor? {
        waiting.isEmpty && reader.pending == 0 ? socket : nil
    }

    /// Returns the reason that the service sent before it hung up.
    ///
    /// The kernel keeps it even if the service closed the connection before reading the call.
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
