// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc
internal import WhorlSupport

/// A relay for all bytes between GLib and a bus.
///
/// It runs on a separate thread and keeps long messages away from GLib.
///
/// When either side closes, the relay closes both and ends. It buffers one piece in each direction. If one side stops
/// reading, the other side has to wait, just as it would without a relay.
final class BusRelay {
    /// The maximum number of bytes per read.
    private static let pieceSize = 16 << 10
    private let bus: CInt
    private let glib: CInt
    /// Whether messages may contain descriptors.
    private let takesDescriptors: Bool
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    private var limit = BusMessageLimit()
    private var toBus = Unsent()
    private var toGLib = Unsent()
    /// The descriptors of the current message from the bus, stored until its next bytes are passed on.
    private var descriptors: [CInt] = []

    /// Bytes waiting to be sent to one side.
    private struct Unsent {
        private var bytes: [UInt8] = []
        private var sent = 0

        var isEmpty: Bool { sent == bytes.count }

        mutating func put(_ new: [UInt8]) { (bytes, sent) = (new, 0) }

        /// Sends as many bytes as the other side accepts, and closes the descriptors that were sent with them.
        ///
        /// Returns `false` if the other side no longer accepts anything.
        mutating func send(to socket: CInt, with descriptors: inout [CInt]) -> Bool {
            let count = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                return whorl_send(socket, rest.baseAddress, rest.count, descriptors, CInt(descriptors.count))
            }
            guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
            sent += count
            // They came with the reply to one of our calls; closing those in other messages would wait for their
            // sender.
            for descriptor in descriptors { close(descriptor) }
            descriptors = []
            if isEmpty { put([]) }
            return true
        }
    }

    /// Starts the relay for a connection to a bus.
    ///
    /// - Parameters:
    ///   - bus: The socket of the bus, which `owner` keeps open. Nothing else may use it any longer.
    ///   - takesDescriptors: Whether the bus agreed that messages may contain descriptors. If it did not, the relay
    ///     ends at the first descriptor.
    ///   - owner: A value that is released when the relay ends.
    /// - Returns: A close-on-exec socket that replaces the bus and that the caller must close, or `nil` if the system
    ///   has no threads or descriptors left.
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
            // Its owner may outlive the relay.
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

    /// Waits until bytes can be moved, and moves them.
    ///
    /// Returns `false` when the relay has ended.
    ///
    /// This is a separate function so that its arrays are freed on each pass. Optimized builds do not free them in an
    /// endless loop (Swift 6.3.1).
    @inline(never)
    private func moves() -> Bool {
        // A side is read only if there is room for what it sends.
        var sides = [
            side(bus, reads: toGLib.isEmpty, writes: !toBus.isEmpty),
            side(glib, reads: toBus.isEmpty, writes: !toGLib.isEmpty),
        ]
        let count = poll(&sides, nfds_t(sides.count), -1)
        // A signal: this thread handles none, but debuggers send them.
        guard count >= 0 else { return errno == EINTR }
        if can(sides[0], POLLOUT), !sendToBus() { return false }
        if can(sides[1], POLLOUT), !sendToGLib() { return false }
        if can(sides[0], POLLIN), toGLib.isEmpty, !readBus() { return false }
        if can(sides[1], POLLIN), toBus.isEmpty, !readGLib() { return false }
        return true
    }

    /// Returns the entry that tells poll(2) which events to wait for.
    ///
    /// A side with nothing to read or write is left out, because poll(2) would report its end immediately.
    private func side(_ socket: CInt, reads: Bool, writes: Bool) -> pollfd {
        let events = (reads ? Int16(POLLIN) : 0) | (writes ? Int16(POLLOUT) : 0)
        return pollfd(fd: events == 0 ? -1 : socket, events: events, revents: 0)
    }

    /// Returns whether an event, an error or the end occurred on a side.
    private func can(_ side: pollfd, _ event: CInt) -> Bool {
        let ends = Int16(POLLHUP) | Int16(POLLERR) | Int16(POLLNVAL)
        return side.events & Int16(event) != 0 && side.revents & (Int16(event) | ends) != 0
    }

    private func readBus() -> Bool {
        var control = whorl_control()
        // With descriptors, read no byte of the next message, because its descriptors come with it.
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
        // GLib sends no descriptors.
        var none: [CInt] = []
        return toBus.send(to: bus, with: &none)
    }

    private func readGLib() -> Bool {
        let count = recv(glib, piece.baseAddress, piece.count, CInt(MSG_DONTWAIT))
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        toBus.put(Array(piece[..<count]))
        return sendToBus()
    }

    /// Closes dropped descriptors on a separate thread, because their sender can delay the close.
    private func dropDescriptors() {
        guard !descriptors.isEmpty else { return }
        let dropped = descriptors
        descriptors = []
        // Without a thread they stay open: closing them here would block the connection.
        _ = startThread("bus-descriptors") { for descriptor in dropped { close(descriptor) } }
    }
}
