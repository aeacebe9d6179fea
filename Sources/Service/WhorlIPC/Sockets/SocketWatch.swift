// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// Reports when sockets can be read or written, using one thread for all sockets.
///
/// It replaces Dispatch's sources. On Linux, these can crash the process if several threads create and cancel many of
/// them (swift-corelibs-libdispatch, issue 949), and they use two threads for each event. A socket is identified by a
/// number that is never reused. So an event that is delivered after its socket was removed is dropped, and does not
/// reach another socket with the same descriptor.
final class SocketWatch: Sendable {
    /// The events for which a socket can be watched.
    struct Events: OptionSet, Sendable {
        let rawValue: Int32
        /// There are bytes to read, or the other side has closed the connection.
        static let readable = Events(rawValue: Int32(WHORL_READABLE))
        /// There is space to write.
        static let writable = Events(rawValue: Int32(WHORL_WRITABLE))
    }

    /// A socket that is being watched until ``cancel()`` is called.
    struct Registration: Sendable {
        fileprivate let watch: SocketWatch
        fileprivate let number: UInt64
        fileprivate let socket: Descriptor

        /// Changes the events for which the socket is watched.
        func wait(for events: Events) {
            _ = whorl_watch_set(watch.descriptor.number, socket.number, 1, events.rawValue, number)
        }

        /// Stops watching the socket.
        ///
        /// An event that is currently being delivered may still reach the handler.
        func cancel() { watch.remove(self) }
    }

    private struct Watched {
        /// The socket, which is referenced so that the descriptor's number is not reused for another one.
        let socket: Descriptor
        let handler: @Sendable (Events) -> Void
    }

    private struct State {
        var next: UInt64 = 0
        var watched: [UInt64: Watched] = [:]
    }

    private static let made = Mutex<SocketWatch?>(nil)

    private let descriptor: Descriptor
    private let state = Mutex(State())

    /// Returns the watch that this process shares, which runs until the process exits.
    ///
    /// - Throws: The system's error if a descriptor or a thread cannot be created.
    static func shared() throws(SystemCallError) -> SocketWatch {
        try made.withLock { made throws(SystemCallError) in
            if let made { return made }
            let new = try SocketWatch()
            made = new
            return new
        }
    }

    private init() throws(SystemCallError) {
        let number = whorl_watch_make()
        guard number >= 0 else { throw SystemCallError("epoll_create1") }
        descriptor = Descriptor(owning: number)
        let isRunning = startThread("whorl.sockets") { [self] in run() }
        guard isRunning else {
            errno = EAGAIN
            throw SystemCallError("pthread_create")
        }
    }

    /// Starts watching a socket for bytes to read.
    ///
    /// - Parameters:
    ///   - socket: The socket, which must stay open until the registration is cancelled.
    ///   - handler: Called on the watch's thread, repeatedly while there is something to read or write. It must handle
    ///     some of it and return quickly, because all other sockets wait for it.
    /// - Returns: The registration, which the caller must cancel.
    /// - Throws: The system's error if `epoll_ctl` fails.
    func add(
        _ socket: Descriptor,
        _ handler: @escaping @Sendable (Events) -> Void
    ) throws(SystemCallError) -> Registration {
        let number = state.withLock { state in
            state.next += 1
            state.watched[state.next] = Watched(socket: socket, handler: handler)
            return state.next
        }
        let registration = Registration(watch: self, number: number, socket: socket)
        let readable = Events.readable.rawValue
        guard whorl_watch_set(descriptor.number, socket.number, 0, readable, number) == 0 else {
            let error = SystemCallError("epoll_ctl")
            state.withLock { $0.watched[number] = nil }
            throw error
        }
        return registration
    }

    private func remove(_ registration: Registration) {
        let removed = state.withLock { state in
            guard let removed = state.watched.removeValue(forKey: registration.number) else {
                return nil as Watched?
            }
            // While it is in the table: afterwards, another thread may close the descriptor, and the number may be
            // reused.
            _ = whorl_watch_remove(descriptor.number, registration.socket.number)
            return removed
        }
        // The handler may hold the last reference to the object that removes it, so it is freed here, outside of the
        // lock.
        withExtendedLifetime(removed) {}
    }

    private func run() {
        // Not an array: an optimized build copies it at each turn, and frees no copy in an endless loop (Swift 6.3.1).
        let events = UnsafeMutableBufferPointer<whorl_watch_event>.allocate(capacity: Int(WHORL_WATCH_EVENTS))
        events.initialize(repeating: whorl_watch_event())
        while true {
            let count = whorl_watch_wait(descriptor.number, events.baseAddress)
            // A signal; this thread receives none, except from a debugger.
            guard count >= 0 else { continue }
            for place in 0..<Int(count) {
                let event = events[place]
                let handler = state.withLock { $0.watched[event.number]?.handler }
                handler?(Events(rawValue: event.can))
            }
        }
    }
}
