// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// Accepts connections, and limits each user to a share of them.
package final class ServiceServer: Sendable {
    /// The share of the service that one user may use.
    package struct Limits: Sendable {
        /// The maximum number of connections of one user.
        package var connectionsOfUser = 64
        /// The maximum number of connections of all users.
        package var connections = 4096
        /// The maximum number of calls of one connection that wait for the current one.
        package var waitingCalls = 16
        /// The maximum number of bytes held by one user's connections.
        ///
        /// It counts messages that are incomplete, waiting or being answered, and answers that have not been read.
        package var bytesOfUser = 12 << 20
        /// The maximum number of descriptors, received with messages, that one user's connections hold.
        package var descriptorsOfUser = 256
        var channel = Channel.Limits()
        /// The maximum number of clients that receive the reason for a refusal immediately.
        package var refusals = 512

        package init() {}
    }

    private struct Connections {
        var next: UInt64 = 0
        /// The users at their limit, and when their clients were last checked.
        var crowded: [ShareOwner: ContinuousClock.Instant] = [:]
        var open: [UInt64: (owner: ShareOwner, connection: ServerConnection)] = [:]
        var ofUser: [ShareOwner: Int] = [:]
        var shares: [ShareOwner: UserShare] = [:]
        var isStopped = false

        /// Returns the reason why a user may not have another connection; `nil` if it may.
        ///
        /// A connection counts until its end was processed, which happens late on a busy machine. At the limit,
        /// connections whose client is gone are therefore not counted, up to the same number again.
        mutating func refusal(for owner: ShareOwner, _ limits: Limits) -> ServiceRefusal? {
            guard shares[owner]?.mayReceive != false else { return .keptMemory }
            let count = ofUser[owner] ?? 0
            guard count < 2 * limits.connectionsOfUser else { return .quota("connections") }
            guard !isStopped, open.count < limits.connections else { return .crowded }
            guard shares[owner]?.hasRoomForDescriptors != false else { return .quota("descriptors") }
            guard count >= limits.connectionsOfUser else {
                crowded[owner] = nil
                return nil
            }
            // Not for each connection of a flood.
            if let last = crowded[owner], ContinuousClock.now - last < .milliseconds(20) {
                return .quota("connections")
            }
            let sockets = open.values.filter { $0.owner == owner }.map(\.connection.socket)
            let isFull = sockets.count - UnixSocket.countHungUp(sockets) >= limits.connectionsOfUser
            crowded[owner] = isFull ? .now : nil
            return isFull ? .quota("connections") : nil
        }
    }

    private let router: Router
    private let limits: Limits
    private let connections = Mutex(Connections())
    /// Held while connections are accepted.
    private let listening = Mutex<SocketWatch.Registration?>(nil)

    private let servesPairs: Bool
    private let admission: UserAdmission?
    private let memory: ClientMemory?
    private let refusals: Refusals
    private let turns = CallTurns()
    private let onCount: @Sendable (Int) -> Void

    /// Creates a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - router: The methods.
    ///   - limits: The share of each user.
    ///   - servesPairs: Whether a client may hand in further connections (`io.whorl.Connection.Adopt`), like the
    ///     program that started this process.
    ///   - admission: Decides which users are served; by default every user is.
    ///   - memory: Monitors the memory held by clients; by default it is not monitored.
    ///   - onCount: Called with the number of open connections after each change, on any thread.
    package init(
        _ router: Router,
        limits: Limits = Limits(),
        servesPairs: Bool = false,
        admission: UserAdmission? = nil,
        memory: ClientMemory? = nil,
        onCount: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.router = router
        self.limits = limits
        self.servesPairs = servesPairs
        self.admission = admission
        self.memory = memory
        refusals = Refusals(most: limits.refusals)
        self.onCount = onCount
    }

    /// Listens on a socket that is already bound and listening, such as one passed by systemd.
    ///
    /// - Throws: The system's error from making it non-blocking.
    package func listen(on listener: Descriptor) throws(SystemCallError) {
        try UnixSocket.adopt(listener)
        try UnixSocket.tellSenders(on: listener)
        let begun = try SocketWatch.shared().add(listener) { [weak self] _ in self?.accept(from: listener) }
        listening.withLock { $0 = begun }
    }

    /// Serves one existing connection, such as the other end of a pair.
    ///
    /// - Throws: The system's error if the user at the other end is unknown.
    package func serve(_ socket: Descriptor) throws(SystemCallError) {
        try UnixSocket.adopt(socket)
        try begin(socket)
    }

    /// Stops listening; open connections keep working, and new ones wait in the socket.
    package func stopListening() {
        // A connection that is being accepted at this moment is open afterwards.
        listening.withLock { listening in
            listening?.cancel()
            listening = nil
        }
    }

    /// Stops listening and hangs up on all clients.
    package func stop() {
        stopListening()
        let open = connections.withLock { connections in
            connections.isStopped = true
            return connections.open.values.map(\.connection)
        }
        for connection in open { connection.close() }
    }

    /// The number of open connections.
    package var connectionCount: Int { connections.withLock(\.open.count) }

    /// Returns the number of bytes of messages held by a user's connections.
    func bytesHeld(of uid: UInt32) -> Int { sum(of: uid, \.bytesHeld) }

    /// Returns the number of a user's open connections.
    package func connectionCount(of uid: UInt32) -> Int {
        connections.withLock { $0.ofUser.reduce(0) { $0 + ($1.key.uid == uid ? $1.value : 0) } }
    }

    /// Returns the number of descriptors held by a user's connections.
    func descriptorsHeld(of uid: UInt32) -> Int { sum(of: uid, \.descriptorsHeld) }

    /// The users who sent a descriptor that is still being closed: the process cannot exit before, even if it is
    /// killed.
    package var usersWhoseFilesClose: Set<UInt32> {
        connections.withLock { connections in
            Set(connections.shares.compactMap { $1.isClosing ? $0.uid : nil })
        }
    }

    private func sum(of uid: UInt32, _ held: (UserShare) -> Int) -> Int {
        connections.withLock { $0.shares.reduce(0) { $0 + ($1.key.uid == uid ? held($1.value) : 0) } }
    }

    private func accept(from listener: Descriptor) {
        listening.withLock { listening in
            guard let registration = listening else { return }
            // A few at a time, because other sockets are waiting.
            for _ in 0..<32 {
                do throws(SystemCallError) {
                    guard let socket = try UnixSocket.accept(from: listener) else { return }
                    // A client that is already gone does not count, and costs almost nothing.
                    if !UnixSocket.hasGone(socket) { try? begin(socket) }
                } catch {
                    // Out of descriptors: waiting connections are accepted when some are free again.
                    registration.wait(for: [])
                    return OffPoolTimer.run(after: .milliseconds(100)) { registration.wait(for: .readable) }
                }
            }
        }
    }

    private func begin(_ socket: Descriptor) throws(SystemCallError) {
        var on: Int32 = 1
        // Out-of-band bytes are read in order: otherwise the kernel would drop them, and close the descriptors that
        // came with them.
        guard
            setsockopt(socket.number, SOL_SOCKET, SO_OOBINLINE, &on, socklen_t(MemoryLayout<Int32>.size)) == 0
        else { throw SystemCallError("setsockopt") }
        try UnixSocket.tellSenders(on: socket)
        let user = try PeerUser(of: socket)
        guard let admission else { return begin(socket, of: user) }
        admission.decide(user.uid) { [weak self] refusal in
            if let refusal { self?.refusals.say(refusal, on: socket) } else { self?.begin(socket, of: user) }
        }
    }

    private func begin(_ socket: Descriptor, of user: PeerUser) {
        let owner = ShareOwner(of: user)
        let place: (number: UInt64, connection: ServerConnection)
        do throws(ServiceRefusal) {
            place = try admit(user, owner, socket)
        } catch {
            return refusals.say(error, on: socket)
        }
        onCount(connectionCount)
        place.connection.start { [weak self] _ in self?.remove(place.number, of: owner) }
    }

    /// Makes room for a connection.
    ///
    /// - Throws: The reason, if the user's share is used up.
    private func admit(
        _ user: PeerUser,
        _ owner: ShareOwner,
        _ socket: Descriptor
    ) throws(ServiceRefusal) -> (number: UInt64, connection: ServerConnection) {
        try connections.withLock { connections throws(ServiceRefusal) in
            if let refusal = connections.refusal(for: owner, limits) { throw refusal }
            let share =
                connections.shares[owner]
                ?? UserShare(
                    mostBytes: limits.bytesOfUser,
                    mostDescriptors: limits.descriptorsOfUser,
                    memory: memory,
                    refusals: refusals
                )
            connections.shares[owner] = share
            let connection = ServerConnection(
                Channel(socket, limits: limits.channel, share: share),
                router,
                user,
                mostWaiting: limits.waitingCalls,
                owner: owner,
                share: share,
                turns: turns,
                adopt: servesPairs ? { [weak self] in self?.adopt($0) ?? false } : nil
            )
            let number = connections.next
            connections.next += 1
            connections.open[number] = (owner, connection)
            connections.ofUser[owner, default: 0] += 1
            return (number, connection)
        }
    }

    /// Serves a connection that a client handed in; `false` if this fails.
    private func adopt(_ socket: Descriptor) -> Bool {
        do {
            try serve(socket)
            return true
        } catch {
            return false
        }
    }

    private func remove(_ number: UInt64, of owner: ShareOwner) {
        connections.withLock { connections in
            guard connections.open.removeValue(forKey: number) != nil else { return }
            let count = (connections.ofUser[owner] ?? 1) - 1
            connections.ofUser[owner] = count > 0 ? count : nil
            // Anything still held, such as descriptors that take long to close, counts for the user's next connection.
            if count <= 0, connections.shares[owner]?.isEmpty == true { connections.shares[owner] = nil }
        }
        onCount(connectionCount)
    }
}

/// The number of a server's open connections, with a way to wait until there are none.
package final class ConnectionCount: Sendable {
    private struct State {
        var count = 0
        /// The number of changes, so that a waiter notices any change in between.
        var changes = 0
    }

    private let state = Mutex(State())
    private let ends: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    package init() { (ends, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Sets the number after a change.
    package func set(_ count: Int) {
        state.withLock { state in
            state.count = count
            state.changes += 1
        }
        if count == 0 { sink.yield() }
    }

    /// Waits until no connection has been open for as long as `wait` lasts; supports one waiter.
    ///
    /// - Parameter wait: Returns after the time for which the server must be idle.
    package func waitUntilIdle(for wait: () async -> Void) async {
        for await _ in ends {
            let before = state.withLock { ($0.count, $0.changes) }
            guard before.0 == 0 else { continue }
            await wait()
            if state.withLock({ ($0.count, $0.changes) }) == before { return }
        }
    }
}
