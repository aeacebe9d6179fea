// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc
internal import WhorlSupport

/// The way of all bytes between GLib and a bus, on a thread of its own, which lets no long message through to GLib.
///
/// It ends when either side does, and closes both then. It keeps one piece of bytes for each direction: a side that does not
/// read makes the other one wait, as without it.
final class BusRelay {
    /// The most bytes that are read at once.
    private static let pieceSize = 16 << 10
    private let bus: CInt
    private let glib: CInt
    /// Whether messages may come with descriptors.
    private let takesDescriptors: Bool
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    private var limit = BusMessageLimit()
    private var toBus = Unsent()
    private var toGLib = Unsent()
    /// The descriptors of the present message from the bus, until they go on with its next bytes.
    private var descriptors: [CInt] = []

    /// Bytes that wait until a side takes them.
    private struct Unsent {
        private var bytes: [UInt8] = []
        private var sent = 0

        var isEmpty: Bool { sent == bytes.count }

        mutating func put(_ new: [UInt8]) { (bytes, sent) = (new, 0) }

        /// Sends what a side takes now, and closes the descriptors that have gone with it; `false` if it takes nothing any longer.
        mutating func send(to socket: CInt, with descriptors: inout [CInt]) -> Bool {
            let count = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                return whorl_send(socket, rest.baseAddress, rest.count, descriptors, CInt(descriptors.count))
            }
            guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
            sent += count
            // They came with the answer to a call of ours; closing another's would wait for its sender.
            for descriptor in descriptors { close(descriptor) }
            descriptors = []
            if isEmpty { put([]) }
            return true
        }
    }

    /// Starts the relay of a connection to a bus.
    ///
    /// - Parameters:
    ///   - bus: The socket of the bus, which `owner` keeps open and nothing else uses any longer.
    ///   - takesDescriptors: Whether it was agreed with the bus that messages may bring descriptors. The relay ends with the
    ///     first one otherwise.
    ///   - owner: A value that is let go with the relay's end.
    /// - Returns: The socket that takes the bus's place, close-on-exec, which its user closes; `nil` if the system has no thread or
    ///   no descriptor left.
    static func start(
        at bus: CInt,
        takesDescriptors: Bool,
        ownedBy owner: some AnyObject & Sendable
    ) -> CInt? {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        let (inner, outer) = (ends[0], ends[1])
        let isStarted = startThread("bus-relay") {
            let relay = BusRelay(bus: bus, glib: inner, takesDescriptors: takesDescriptors)
            while relay.moves() {}
            // Its owner may be kept for longer.
            shutdown(bus, CInt(SHUT_RDWR))
            close(inner)
            withExtendedLifetime(owner) {}
        }
        guard isStarted else {
            close(inner)
            close(outer)
            return nil
        }
        return outer
    }

    private init(bus: CInt, glib: CInt, takesDescriptors: Bool) {
        self.bus = bus
        self.glib = glib
        self.takesDescriptors = takesDescriptors
    }

    deinit {
        dropDescriptors()
        piece.deallocate()
    }

    /// Waits until something can be moved, and moves it; `false` at the end.
    ///
    /// It is a function of its own, so that its arrays are freed at each turn: an optimized build frees none in a loop without an
    /// end (Swift 6.3.1).
    @inline(never)
    private func moves() -> Bool {
        // A side is read when there is room for what it sends.
        var sides = [
            side(bus, reads: toGLib.isEmpty, writes: !toBus.isEmpty),
            side(glib, reads: toBus.isEmpty, writes: !toGLib.isEmpty),
        ]
        let count = poll(&sides, nfds_t(sides.count), -1)
        // A signal; this thread takes none, but a debugger sends them.
        guard count >= 0 else { return errno == EINTR }
        if can(sides[0], POLLOUT), !sendToBus() { return false }
        if can(sides[1], POLLOUT), !sendToGLib() { return false }
        if can(sides[0], POLLIN), toGLib.isEmpty, !readBus() { return false }
        if can(sides[1], POLLIN), toBus.isEmpty, !readGLib() { return false }
        return true
    }

    /// Returns what poll(2) waits for: a side of which nothing is wanted is left out, since its end would be told at once.
    private func side(_ socket: CInt, reads: Bool, writes: Bool) -> pollfd {
        let events = (reads ? Int16(POLLIN) : 0) | (writes ? Int16(POLLOUT) : 0)
        return pollfd(fd: events == 0 ? -1 : socket, events: events, revents: 0)
    }

    /// Returns whether a call has something to do for an event that is waited for; its end and errors are such, too.
    private func can(_ side: pollfd, _ event: CInt) -> Bool {
        let ends = Int16(POLLHUP) | Int16(POLLERR) | Int16(POLLNVAL)
        return side.events & Int16(event) != 0 && side.revents & (Int16(event) | ends) != 0
    }

    private func readBus() -> Bool {
        var control = whorl_control()
        // Where descriptors may come, no byte of the next message: its descriptors come with it.
        let most = takesDescriptors ? min(piece.count, limit.wanted) : piece.count
        let count = whorl_receive(bus, piece.baseAddress, most, &control)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        withUnsafeBytes(of: control.descriptors) { all in
            descriptors += all.bindMemory(to: CInt.self).prefix(Int(control.descriptor_count))
        }
        guard takesDescriptors || descriptors.isEmpty else { return false }
        do throws(BusMessageLimit.NoMessage) {
            let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
            toGLib.put(try limit.take(bytes, bringingDescriptors: !descriptors.isEmpty))
        } catch {
            return false
        }
        let isTooMany = descriptors.count > Int(WHORL_DESCRIPTORS_SENT)
        if !limit.isInHeader, toGLib.isEmpty || !limit.mayBringDescriptors || isTooMany { dropDescriptors() }
        return (toGLib.isEmpty || sendToGLib()) && !limit.isBroken
    }

    private func sendToGLib() -> Bool { toGLib.send(to: glib, with: &descriptors) }

    private func sendToBus() -> Bool {
        // GLib sends none.
        var none: [CInt] = []
        return toBus.send(to: bus, with: &none)
    }

    private func readGLib() -> Bool {
        let count = recv(glib, piece.baseAddress, piece.count, CInt(MSG_DONTWAIT))
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        toBus.put(Array(piece[..<count]))
        return sendToBus()
    }

    /// Closes descriptors that go nowhere, on a thread of their own: a close may take as long as their sender likes.
    private func dropDescriptors() {
        guard !descriptors.isEmpty else { return }
        let dropped = descriptors
        descriptors = []
        // Without a thread they stay open: closing one here would keep the connection waiting.
        _ = startThread("bus-descriptors") { for descriptor in dropped { close(descriptor) } }
    }
}
