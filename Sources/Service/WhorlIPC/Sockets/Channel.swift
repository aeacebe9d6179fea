// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Dispatch
internal import Glibc

/// A connected socket that sends and receives complete messages, one after another.
///
/// It never blocks: reading and writing continue when the kernel reports that they can. A peer that sends an incomplete
/// message or does not read is disconnected after a time limit.
///
/// Work runs on the calling thread, one piece at a time (``perform(_:)``). If the socket accepts a message, it has been
/// written when ``send(_:_:)`` returns.
final class Channel: @unchecked Sendable {
    // Sendable: mutable state is accessed only in `perform`.

    /// The reason why a connection has ended.
    enum Ending: Sendable, Hashable {
        /// This side closed the connection.
        case closed
        /// The other side closed the connection.
        case hungUp
        /// The other side sent data that is not a message, or a message that is too large.
        case malformed
        /// The other side took too long to complete a message or to read data.
        case slow
        /// The other side holds more memory than is allowed.
        case overBudget
        /// A system call failed.
        case failed(SystemCallError)
    }

    /// The limits on the memory that a peer can hold, and on the time for which it can delay this side.
    struct Limits: Sendable {
        /// The maximum number of bytes that can wait to be sent.
        var mostUnsent = 4 << 20
        /// The time within which the peer must read something while bytes are waiting.
        var reading: DispatchTimeInterval = .seconds(5)
        /// The time within which the peer must read something while a sender is waiting for it
        /// (``Channel/untilRead()``).
        var waiting = Duration.seconds(5)
        /// The time within which a message must be complete after its first byte has arrived.
        var message: DispatchTimeInterval = .seconds(10)
    }

    private static let isCurrent = DispatchSpecificKey<ObjectIdentifier>()

    /// The queue for the time limits of all channels.
    ///
    /// It uses one thread, because many limits may expire at the same moment.
    private static let deadlines = DispatchQueue(label: "whorl.deadlines")

    /// The queue that ensures that only one piece of work runs at a time.
    private let queue = DispatchQueue(label: "whorl.channel")
    let socket: Descriptor
    let limits: Limits
    private let share: UserShare?
    private var onMessage: ((Frame) -> Void)?
    private var onEnd: ((Ending) -> Void)?
    private var reader = FrameReader()
    private var registration: SocketWatch.Registration?
    private var isWaitingForRoom = false
    private var unsent: [Outgoing] = []
    private var unsentBytes = 0
    /// The number of writes, which lets a deadline notice whether anything has been written.
    private var progress = 0
    /// The number of messages, which lets a deadline notice whether its message has been completed.
    private var messages = 0
    private var held = (bytes: 0, descriptors: 0)
    /// Whether the peer no longer reads.
    private var hasPeerLeft = false

    private struct Outgoing {
        var bytes: ArraySlice<UInt8>
        var descriptors: [Descriptor]
    }

    /// Takes over a nonblocking socket (``UnixSocket``).
    ///
    /// - Parameters:
    ///   - socket: The connected socket.
    ///   - limits: The limits for the peer.
    ///   - share: Counts the memory and descriptors that the peer holds, together with those of the same user's other
    ///     connections.
    init(_ socket: Descriptor, limits: Limits = Limits(), share: UserShare? = nil) {
        self.socket = socket
        self.limits = limits
        self.share = share
        queue.setSpecific(key: Self.isCurrent, value: ObjectIdentifier(self))
    }

    deinit { registration?.cancel() }

    /// Starts reading.
    ///
    /// - Parameters:
    ///   - onMessage: Called for each message, in order. Both handlers are called in ``perform(_:)`` and must return
    ///     quickly, because other connections wait for them.
    ///   - onEnd: Called once, when the connection has ended; no messages follow.
    func start(onMessage: @escaping @Sendable (Frame) -> Void, onEnd: @escaping @Sendable (Ending) -> Void) {
        perform {
            self.onMessage = onMessage
            self.onEnd = onEnd
            do throws(SystemCallError) {
                registration = try SocketWatch.shared().add(socket) { [weak self] events in
                    guard let self else { return }
                    perform {
                        if events.contains(.writable), self.isWaitingForRoom { self.write() }
                        if events.contains(.readable), self.onEnd != nil { self.read() }
                    }
                }
            } catch {
                end(.failed(error))
            }
        }
    }

    /// Sends a message after those that are already waiting.
    func send(_ bytes: [UInt8], _ descriptors: [Descriptor] = []) {
        perform {
            guard onEnd != nil, !hasPeerLeft else { return }
            unsentBytes += bytes.count + 1
            guard unsentBytes <= limits.mostUnsent else { return end(.slow) }
            guard hold() else { return close(saying: .quota("messages")) }
            guard share?.mayReceive != false else { return close(saying: .keptMemory) }
            share?.countSent(bytes.count, descriptors)
            unsent.append(Outgoing(bytes: (bytes + [0])[...], descriptors: descriptors))
            if !isWaitingForRoom { write() }
        }
    }

    /// The number of bytes that the peer has not read, as counted by the kernel; `nil` once the connection has ended.
    var unread: Int? {
        var unread: Int?
        perform { if onEnd != nil { unread = unsentBytes + Int(max(0, whorl_unread(socket.number))) } }
        return unread
    }

    /// Ends the connection and drops unsent data.
    func close() {
        perform { end(.closed) }
    }

    /// Ends the connection after sending a refusal, provided that the peer can receive it immediately.
    func close(saying refusal: ServiceRefusal, _ ending: Ending = .overBudget) {
        perform {
            guard onEnd != nil else { return }
            // In the middle of another message, the peer could not tell it apart. A client has nothing to refuse.
            if unsent.isEmpty { share?.refusals.say(refusal, on: socket) }
            end(ending)
        }
    }

    /// Sends a refusal without waiting.
    ///
    /// If the peer cannot receive it immediately, the refusal is dropped.
    static func say(_ refusal: ServiceRefusal, on socket: Descriptor) {
        let bytes = refusal.message + [0]
        _ = bytes.withUnsafeBytes { whorl_send(socket.number, $0.baseAddress, $0.count, [], 0) }
    }

    /// Ends the connection like ``close()``, but without waiting until it has ended.
    ///
    /// Cancellation handlers of tasks use this function. They run while the task's state is locked, and a message that
    /// arrives at the same moment resumes the task while this connection's work is locked. So both would wait for each
    /// other forever.
    func closeSoon() {
        queue.async { self.end(.closed) }
    }

    /// Gives up the socket without closing it.
    ///
    /// No handler is called after that.
    ///
    /// - Returns: `false` if the connection has ended or a message is incomplete.
    func release() -> Bool {
        var isReleased = false
        perform {
            guard onEnd != nil, unsent.isEmpty, reader.pending == 0 else { return }
            onEnd = nil
            onMessage = nil
            registration?.cancel()
            registration = nil
            isReleased = true
        }
        return isReleased
    }

    /// Performs work on the current thread with exclusive access to the connection.
    ///
    /// A handler of the connection may call this function, because it already has exclusive access.
    func perform(_ work: () -> Void) {
        if DispatchQueue.getSpecific(key: Self.isCurrent) == ObjectIdentifier(self) {
            work()
        } else {
            queue.sync(execute: work)
        }
    }

    // MARK: - In turn

    private func read() {
        // Anything not received is closed with the socket.
        guard share?.hasRoomForDescriptors != false else { return close(saying: .quota("descriptors")) }
        // One read per event, so that other connections and this one's replies get their turn in between.
        var control = whorl_control()
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = chunk.withUnsafeMutableBytes {
            whorl_receive(socket.number, $0.baseAddress, $0.count, &control)
        }
        guard count >= 0 else {
            if errno != EAGAIN && errno != EINTR { end(.failed(SystemCallError("recvmsg"))) }
            return
        }
        let descriptors = Descriptor.received(with: control, of: share)
        guard count > 0 else { return end(.hungUp) }
        guard control.is_truncated == 0 else { return end(.malformed) }
        do throws(FrameReader.Fault) {
            let before = reader.pending
            let whole = try reader.take(chunk[..<count], descriptors, sender: control.sender)
            messages += whole.count
            guard hold() else { return close(saying: .quota("messages")) }
            if reader.pending > 0, before == 0 || !whole.isEmpty { watchMessage() }
            for message in whole { onMessage?(message) }
        } catch .tooLarge {
            close(saying: .largeMessage, .malformed)
        } catch {
            end(.malformed)
        }
    }

    /// Counts the data that this side stores for the peer: an incomplete message, and data that the peer has not read.
    private func hold() -> Bool {
        let now = (bytes: reader.pending + unsentBytes, descriptors: reader.pendingDescriptors)
        defer { held = now }
        return share?.change(bytes: now.bytes - held.bytes, descriptors: now.descriptors - held.descriptors)
            ?? true
    }

    /// Stops counting data for the peer.
    private func forgetHeld() {
        _ = share?.change(bytes: -held.bytes, descriptors: -held.descriptors)
        held = (0, 0)
    }

    private func watchMessage() {
        let number = messages
        after(limits.message) { channel in
            guard channel.messages == number, channel.reader.pending > 0 else { return }
            channel.close(saying: .unfinishedMessage, .slow)
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
                case EPIPE, ECONNRESET: return endAfterReading()
                default: return end(.failed(SystemCallError("sendmsg")))
                }
            }
            progress += 1
            unsentBytes -= count
            // Less is always within the share.
            _ = hold()
            unsent[0].bytes = next.bytes.dropFirst(count)
            unsent[0].descriptors = []
            if unsent[0].bytes.isEmpty { unsent.removeFirst() }
        }
        guard isWaitingForRoom else { return }
        isWaitingForRoom = false
        registration?.wait(for: .readable)
    }

    /// Ends the connection to a peer that no longer reads, after reading everything that the peer had written.
    ///
    /// The kernel preserves the data that a peer wrote before it closed a Unix socket, even if the peer did not read
    /// everything. A service relies on this to send the reason when it refuses a call before reading all of it.
    private func endAfterReading() {
        hasPeerLeft = true
        unsent = []
        unsentBytes = 0
        // As much as the kernel keeps of a closed peer; a peer that keeps writing is not read forever.
        for _ in 0..<64 where onEnd != nil {
            guard hasArrived() else { break }
            read()
        }
        end(.hungUp)
    }

    /// Returns whether there is data to read or the peer has closed the connection.
    private func hasArrived() -> Bool {
        var place = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        return poll(&place, 1, 0) == 1 && place.revents & Int16(POLLIN) != 0
    }

    private func waitForRoom() {
        watchReading()
        guard !isWaitingForRoom else { return }
        isWaitingForRoom = true
        registration?.wait(for: [.readable, .writable])
    }

    private func watchReading() {
        let seen = progress
        after(limits.reading) { channel in
            guard channel.progress == seen, !channel.unsent.isEmpty else { return }
            channel.end(.slow)
        }
    }

    /// Runs work with exclusive access after a given time, if the channel still exists.
    private func after(_ time: DispatchTimeInterval, _ work: @escaping @Sendable (Channel) -> Void) {
        Self.deadlines.asyncAfter(deadline: .now() + time) { [weak self] in
            guard let self else { return }
            perform { work(self) }
        }
    }

    private func end(_ ending: Ending) {
        guard let onEnd else { return }
        self.onEnd = nil
        onMessage = nil
        unsent = []
        unsentBytes = 0
        forgetHeld()
        registration?.cancel()
        registration = nil
        // The peer sees the end now, even if another owner keeps the descriptor.
        shutdown(socket.number, Int32(SHUT_RDWR))
        onEnd(ending)
    }
}

extension Channel {
    /// Waits until the peer has read all sent data or the connection has ended.
    ///
    /// A peer that does not read anything for too long is disconnected.
    ///
    /// The kernel does not send a notification when a peer reads, so it is polled at increasing intervals.
    func untilRead() async {
        var pause = Duration.microseconds(50)
        var last = Int.max
        var since = ContinuousClock.now
        while let unread, unread > 0 {
            if unread < last {
                (last, since) = (unread, .now)
            } else if ContinuousClock.now - since > limits.waiting {
                return close()
            }
            // A cancelled call has no caller to wait for.
            do { try await Task.sleep(for: pause) } catch { return }
            pause = min(pause * 2, .milliseconds(5))
        }
    }
}
