// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A TPM 2.0, on a thread of its own, one command at a time.
///
/// The connection is opened at the first use, opened anew after it was lost, and closed after some time without work,
/// which flushes everything that was loaded: other programs on a chip without a resource manager get their turn.
public actor TPMDevice {
    /// Where the TPM is.
    public nonisolated let address: TPMAddress
    private nonisolated let thread: TPMThread
    private let idle: Duration
    private let turn: Duration
    private nonisolated let slot = ConnectionSlot()
    private nonisolated let hasHeard = Atomic(false)
    /// Counts sequences, so that the watch sees whether there was work.
    private var sequences = 0
    private var isWatched = false

    /// Describes a TPM; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - address: Where it is.
    ///   - idle: After this long without work, at most twice as long, the connection is closed; after a second at most
    ///     where no resource manager lets other programs in.
    ///   - turn: Where there is none, what is loaded is let go of for a moment after this much work without a pause.
    public init(
        _ address: TPMAddress = .standard,
        idle: Duration = .seconds(5),
        turn: Duration = .seconds(3)
    ) {
        self.init(address, uncut: address.flushesAtClose ? idle : min(idle, .seconds(1)), turn: turn)
    }

    /// The same, with a time without work that holds for every TPM: who counts commands can keep the connection open.
    package init(_ address: TPMAddress, uncut idle: Duration, turn: Duration = .seconds(3)) {
        // setenv(3) fails for want of memory alone.
        precondition(LibraryLog.isSettled, "the environment cannot be changed")
        thread = TPMThread()
        self.address = address
        self.idle = idle
        self.turn = turn
    }

    // Not `isolated`: programs that use a module with such an actor do not compile with optimization (Swift 6.3.1,
    // "circular reference").
    deinit {
        thread.stop { [slot] in slot.connection = nil }
    }

    private var connection: Connection? {
        get { slot.connection }
        set { slot.connection = newValue }
    }

    /// The TPM's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Runs a sequence of commands that nothing else of this process comes between.
    ///
    /// When it ends, in either way, nothing stays loaded but at most two objects and a session, which are kept for the
    /// next time.
    /// Cancelling has an effect before the sequence begins only: a command cannot be taken back.
    ///
    /// - Parameter body: The commands; it runs on the TPM's thread and must not wait for anything else.
    /// - Returns: What `body` returns.
    /// - Throws: What opening the connection or `body` throws.
    public func perform<Value: ~Copyable & Sendable>(
        _ body: @Sendable (borrowing TPMCommands) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        try perform(wrapping: { $0 }, body)
    }

    /// The same, for a body with errors of its own.
    ///
    /// - Parameters:
    ///   - wrap: Turns a failure to open the connection into such an error.
    ///   - body: The commands.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or what `wrap` made.
    public func perform<Value: ~Copyable & Sendable, Failure: Error>(
        wrapping wrap: @Sendable (TPMError) -> Failure,
        _ body: @Sendable (borrowing TPMCommands) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let connection: Connection
        do throws(TPMError) {
            connection = try open()
        } catch {
            throw wrap(error)
        }
        defer { finish(connection) }
        return try body(TPMCommands(connection: connection))
    }

    /// Flushes what is loaded and closes the connection; the next use opens it again.
    public func close() {
        guard let closing = connection else { return }
        closing.cache.flushAll(on: closing)
        if closing.isBroken { abandon(closing) }
        connection = nil
    }

    private func open() throws(TPMError) -> Connection {
        if Task.isCancelled { throw TPMError(.cancelled) }
        if let connection { return connection }
        let fresh = try Connection(to: address, turn: turn)
        connection = fresh
        return fresh
    }

    /// Whether the TPM has answered a command since this was made; a connection alone is no answer.
    public nonisolated var hasAnswered: Bool { hasHeard.load(ordering: .relaxed) }

    private func finish(_ used: Connection) {
        sequences += 1
        if used.hasAnswered { hasHeard.store(true, ordering: .relaxed) }
        if used.isBroken { abandon(used) } else { watch() }
    }

    /// Drops a connection that broke; what it left in a TPM without a resource manager is flushed over a new one, where that can be had.
    private func abandon(_ broken: Connection) {
        broken.cache.flushAll(on: broken)
        connection = nil
        guard !address.flushesAtClose, !broken.leftovers.isEmpty else { return }
        connection = try? Connection(to: address, turn: turn)
        connection?.flush(broken.leftovers)
        if connection?.isBroken == true { connection = nil } else { watch() }
    }

    /// Has the connection closed when a whole period goes by without a sequence.
    private func watch() {
        guard !isWatched else { return }
        isWatched = true
        look(since: nil)
    }

    /// Looks after a period.
    ///
    /// No task sleeps for it: that one needs a thread of the shared pool to wake up, and a program may block them all.
    private func look(since seen: Int?) {
        thread.run(after: idle) { [weak self] in
            self?.assumeIsolated { $0.closeUnlessUsed(since: seen) }
        }
    }

    /// Closes, and ends the watch, when the count of sequences still is `seen`; otherwise looks again.
    private func closeUnlessUsed(since seen: Int?) {
        guard connection != nil, sequences != seen else {
            close()
            isWatched = false
            return
        }
        look(since: sequences)
    }
}

/// The commands of a TPM, inside of ``TPMDevice/perform(_:)`` only.
public struct TPMCommands: ~Copyable {
    let connection: Connection
}

/// Where a device keeps its connection.
///
/// Unchecked: the actor alone uses it, on the TPM's thread; when the actor has ended, the thread's last job does.
private final class ConnectionSlot: @unchecked Sendable {
    var connection: Connection?
}
