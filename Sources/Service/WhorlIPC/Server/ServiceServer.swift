// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// Accepts connections, and limits each user to a share of the service.
package final class ServiceServer: Sendable {
    /// The share of the service that one user may use.
    package struct Limits: Sendable {
        /// The maximum number of one user's connections.
        package var connectionsOfUser = 64
        /// The maximum number of all users' connections.
        package var connections = 4096
        /// The maximum number of calls on one connection that can wait for the current call.
        package var waitingCalls = 16
        /// The maximum number of bytes that one user's connections can hold.
        ///
        /// This includes messages that are incomplete, waiting or being answered, and answers that have not been read.
        package var bytesOfUser = 12 << 20
        /// The maximum number of descriptors received with messages that one user's connections can hold.
        package var descriptorsOfUser = 256
        var channel = Channel.Limits()
        /// The maximum number of refused clients in a row that are sent the reason.
        package var refusals = 512

        package init() {}
    }

    private struct Connections {
        var next: UInt64 = 0
        /// The users who have reached their limit, with the time when their clients were last checked.
        var crowded: [ShareOwner: ContinuousClock.Instant] = [:]
        var open: [UInt64: (owner: ShareOwner, connection: ServerConnection)] = [:]
        var ofUser: [ShareOwner: Int] = [:]
        var shares: [ShareOwner: UserShare] = [:]
        var isStopped = false

        /// Returns the reason why a user may not open another connection; `nil` if the user may.
        ///
        /// A connection counts until its end has been processed, which may take a while on a busy machine. So when the
        /// limit has been reached, connections whose clients have closed them do not count, up to the same number
        /// again.
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
    /// The registration of the listening socket while connections are accepted.
    private let listening = Mutex<SocketWatch.Registration?>(nil)

    private let servesPairs: Bool
    private let admission: UserAdmission?
    private let memory: ClientMemory?
    private let refusals: Refusals
    private let turns = CallTurns()
    private let onCount: @Sendable (Int) -> Void

    /// Creates a server that is not listening yet.
    ///
    /// - Parameters:
    ///   - router: The methods.
    ///   - limits: The share of each user.
    ///   - servesPairs: Whether a client may pass further connections to the server (`io.whorl.Connection.Adopt`), as
    ///     the program that started this process does.
    ///   - admission: Decides which users are served; by default, all users are.
    ///   - memory: Monitors the memory that clients hold; by default, it is not monitored.
    ///   - onCount: Called on any thread with the number of open connections after each change.
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
    /// - Throws: The system's error if the socket cannot be made nonblocking.
    package func listen(on listener: Descriptor) throws(SystemCallError) {
        try UnixSocket.adopt(listener)
        try UnixSocket.tellSenders(on: listener)
        let begun = try SocketWatch.shared().add(listener) { [weak self] _ in self?.accept(from: listener) }
        listening.withLock { $0 = begun }
    }

    /// Serves one existing connection, such as one end of a socket pair.
    ///
    /// - Throws: The system's error if the user at the other end cannot be determined.
    package func serve(_ socket: Descriptor) throws(SystemCallError) {
        try UnixSocket.adopt(socket)
        try begin(socket)
    }

    /// Stops listening.
    ///
    /// Open connections keep working, and new ones wait on the socket.
    package func stopListening() {
        // A connection that is being accepted at this moment is open afterwards.
        listening.withLock { listening in
            listening?.cancel()
            listening = nil
        }
    }

    /// Stops listening and closes all connections.
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

    /// Returns the number of bytes that a user's connections hold in messages.
    func bytesHeld(of uid: UInt32) -> Int { sum(of: uid, \.bytesHeld) }

    /// Returns the number of a user's open connections.
    package func connectionCount(of uid: UInt32) -> Int {
        connections.withLock { $0.ofUser.reduce(0) { $0 + ($1.key.uid == uid ? $1.value : 0) } }
    }

    /// Returns the number of descriptors that a user's connections hold.
    func descriptorsHeld(of uid: UInt32) -> Int { sum(of: uid, \.descriptorsHeld) }

    /// The users who sent a descriptor that is still being closed.
    ///
    /// Until it is closed, the process cannot exit, even if it is killed.
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

    /// Reserves a place for a connection.
    ///
    /// - Throws: A refusal if the user's share is used up.
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

    /// Serves a connection that a client passed to the server; returns `false` if this fails.
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

/// The number of a server's open connections, which allows waiting until there are none.
package final class ConnectionCount: Sendable {
    private struct State {
        var count = 0
        /// The number of changes, which lets a waiter notice any change in the meantime.
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

    /// Waits until no connection has been open for as long as `wait` runs.
    ///
    /// Only one task can wait at a time.
    ///
    /// - Parameter wait: Waits for the time for which the server must be idle.
    package func waitUntilIdle(for wait: () async -> Void) async {
        for await _ in ends {
            let before = state.withLock { ($0.count, $0.changes) }
            guard before.0 == 0 else { continue }
            await wait()
            if state.withLock({ ($0.count, $0.changes) }) == before { return }
        }
    }
}
