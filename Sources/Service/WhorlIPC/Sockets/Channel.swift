// SPDX-License-Identifier: Apache-2.0

internal import CSocket
internal import Dispatch
internal import Glibc

/// A connected socket that gives and takes whole messages, on a queue of its own.
///
/// Nothing waits: reading and writing go on when the kernel says that they can. A peer that sends half a message, or does
/// not read, is hung up on after a time.
final class Channel: @unchecked Sendable {
    // Sendable: what changes is touched on `queue` alone.

    /// The reason for which a connection has ended.
    enum Ending: Sendable, Hashable {
        /// This side closed it.
        case closed
        /// The other side closed it.
        case hungUp
        /// The other side sent what is no message, or a message that is too large.
        case malformed
        /// The other side did not finish a message, or did not read, for too long.
        case slow
        /// The other side holds more memory than it may.
        case overBudget
        /// A call of the system failed.
        case failed(SystemCallError)
    }

    /// The limits on the memory that a peer holds, and on the time for which it keeps this side waiting.
    struct Limits: Sendable {
        /// The most bytes that wait to be sent.
        var mostUnsent = 4 << 20
        /// The time within which the peer must read something when bytes wait.
        var reading: DispatchTimeInterval = .seconds(5)
        /// The time within which a message must be whole after its first byte.
        var message: DispatchTimeInterval = .seconds(10)
    }

    /// The queue on which both handlers are called.
    let queue = DispatchQueue(label: "whorl.channel")
    let socket: Descriptor
    private let limits: Limits
    private let budget: MemoryBudget?
    private var onMessage: ((Frame) -> Void)?
    private var onEnd: ((Ending) -> Void)?
    private var reader = FrameReader()
    private var readSource: (any DispatchSourceRead)?
    private var writeSource: (any DispatchSourceWrite)?
    private var unsent: [Outgoing] = []
    private var unsentBytes = 0
    /// Counts what was written, so that a deadline sees whether anything was.
    private var progress = 0
    /// Counts messages, so that a deadline sees whether the one it was set for has ended.
    private var messages = 0
    private var heldBytes = 0

    private struct Outgoing {
        var bytes: ArraySlice<UInt8>
        var descriptors: [Descriptor]
    }

    /// Takes over a socket that does not wait (``UnixSocket``).
    ///
    /// - Parameters:
    ///   - socket: The connected socket.
    ///   - limits: What the peer may do.
    ///   - budget: Where the memory that the peer holds is counted, together with others of its user.
    init(_ socket: Descriptor, limits: Limits = Limits(), budget: MemoryBudget? = nil) {
        self.socket = socket
        self.limits = limits
        self.budget = budget
    }

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - onMessage: Called for each message, in order.
    ///   - onEnd: Called once; no message follows.
    func start(onMessage: @escaping @Sendable (Frame) -> Void, onEnd: @escaping @Sendable (Ending) -> Void) {
        queue.async { [self] in
            self.onMessage = onMessage
            self.onEnd = onEnd
            let source = DispatchSource.makeReadSource(fileDescriptor: socket.number, queue: queue)
            source.setEventHandler { [weak self] in self?.read() }
            // The descriptor outlives the source, as Dispatch asks for.
            source.setCancelHandler { [socket] in _ = socket }
            readSource = source
            source.activate()
        }
    }

    /// Sends a message behind those that wait.
    func send(_ bytes: [UInt8], _ descriptors: [Descriptor] = []) {
        queue.async { [self] in
            guard onEnd != nil else { return }
            unsentBytes += bytes.count + 1
            guard unsentBytes <= limits.mostUnsent else { return end(.slow) }
            let wasIdle = unsent.isEmpty
            unsent.append(Outgoing(bytes: (bytes + [0])[...], descriptors: descriptors))
            guard wasIdle else { return }
            write()
        }
    }

    /// Ends the connection; what was not sent yet is dropped.
    func close() {
        queue.async { [self] in end(.closed) }
    }

    // MARK: - On the queue

    private func read() {
        // One read for each event: other connections and this one's own replies come between.
        var control = whorl_control()
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = chunk.withUnsafeMutableBytes {
            whorl_receive(socket.number, $0.baseAddress, $0.count, &control)
        }
        guard count >= 0 else {
            if errno != EAGAIN && errno != EINTR { end(.failed(SystemCallError("recvmsg"))) }
            return
        }
        let descriptors = withUnsafeBytes(of: control.descriptors) { room in
            room.bindMemory(to: Int32.self).prefix(Int(control.descriptor_count)).map {
                Descriptor(owning: $0)
            }
        }
        guard count > 0 else { return end(.hungUp) }
        guard control.is_truncated == 0 else { return end(.malformed) }
        do throws(FrameReader.Fault) {
            let before = reader.pending
            let whole = try reader.take(chunk[..<count], descriptors, sender: control.sender)
            messages += whole.count
            guard hold(reader.pending) else { return end(.overBudget) }
            if reader.pending > 0, before == 0 || !whole.isEmpty { watchMessage() }
            for message in whole { onMessage?(message) }
        } catch {
            end(.malformed)
        }
    }

    /// Counts the bytes of a message that is not whole yet.
    private func hold(_ bytes: Int) -> Bool {
        defer { heldBytes = bytes }
        return budget?.change(by: bytes - heldBytes) ?? true
    }

    private func watchMessage() {
        let number = messages
        queue.asyncAfter(deadline: .now() + limits.message) { [weak self] in
            guard let self, messages == number, reader.pending > 0 else { return }
            end(.slow)
        }
    }

    private func write() {
        while let next = unsent.first {
            let numbers = next.descriptors.map(\.number)
            let count = next.bytes.withUnsafeBytes {
                whorl_send(socket.number, $0.baseAddress, $0.count, numbers, Int32(numbers.count))
            }
            guard count >= 0 else {
                switch errno {
                case EINTR: continue
                case EAGAIN: return waitForRoom()
                case EPIPE, ECONNRESET: return end(.hungUp)
                default: return end(.failed(SystemCallError("sendmsg")))
                }
            }
            progress += 1
            unsentBytes -= count
            unsent[0].bytes = next.bytes.dropFirst(count)
            unsent[0].descriptors = []
            if unsent[0].bytes.isEmpty { unsent.removeFirst() }
        }
        writeSource?.cancel()
        writeSource = nil
    }

    private func waitForRoom() {
        watchReading()
        guard writeSource == nil else { return }
        let source = DispatchSource.makeWriteSource(fileDescriptor: socket.number, queue: queue)
        source.setEventHandler { [weak self] in self?.write() }
        source.setCancelHandler { [socket] in _ = socket }
        writeSource = source
        source.activate()
    }

    private func watchReading() {
        let seen = progress
        queue.asyncAfter(deadline: .now() + limits.reading) { [weak self] in
            guard let self, progress == seen, !unsent.isEmpty else { return }
            end(.slow)
        }
    }

    private func end(_ ending: Ending) {
        guard let onEnd else { return }
        self.onEnd = nil
        onMessage = nil
        _ = hold(0)
        unsent = []
        readSource?.cancel()
        writeSource?.cancel()
        readSource = nil
        writeSource = nil
        // The peer sees the end now, also while another owner keeps the descriptor.
        shutdown(socket.number, Int32(SHUT_RDWR))
        onEnd(ending)
    }
}
