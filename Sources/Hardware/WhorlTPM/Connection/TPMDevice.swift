// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// A TPM 2.0, which runs one command at a time on a separate thread.
///
/// The connection is opened at the first use, reopened after it was lost, and closed after some idle time. Closing
/// flushes everything that was loaded, so that other programs can use a TPM without a resource manager.
package actor TPMDevice {
    /// The address of the TPM.
    package nonisolated let address: TPMAddress
    private nonisolated let thread: TPMThread
    private let idle: Duration
    private let turn: Duration
    private nonisolated let slot = ConnectionSlot()
    private nonisolated let hasHeard = Atomic(false)
    /// The number of finished sequences, which shows the watch whether there was work.
    private var sequences = 0
    private var isWatched = false

    /// Creates a device for a TPM without opening it.
    ///
    /// - Parameters:
    ///   - address: The address of the TPM.
    ///   - idle: The idle time after which the connection is closed, possibly up to twice as late; at most one second
    ///     without a resource manager.
    ///   - turn: The time of uninterrupted work after which other programs get the slots, without a resource manager.
    package init(
        _ address: TPMAddress = .standard,
        idle: Duration = .seconds(5),
        turn: Duration = .seconds(3)
    ) {
        self.init(address, uncut: address.flushesAtClose ? idle : min(idle, .seconds(1)), turn: turn)
    }

    /// Creates a device that keeps its connection open for the whole idle time, even without a resource manager, for
    /// callers that count commands.
    package init(_ address: TPMAddress, uncut idle: Duration, turn: Duration = .seconds(3)) {
        // setenv(3) fails only when memory runs out.
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
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Runs a sequence of commands; no other command of this process runs in between.
    ///
    /// When it ends, with or without an error, at most two objects and a session stay loaded for the next time.
    /// Cancelling works only before the sequence starts, because commands cannot be undone.
    ///
    /// - Parameter body: The commands. It runs on the TPM's thread and must not wait for anything else.
    /// - Returns: The result of `body`.
    /// - Throws: An error from opening the connection, or from `body`.
    package func perform<Value: ~Copyable & Sendable>(
        _ body: @Sendable (borrowing TPMCommands) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        try perform(wrapping: { $0 }, body)
    }

    /// Runs a sequence of commands whose body has a different error type.
    ///
    /// - Parameters:
    ///   - wrap: Converts a failure to open the connection to that type.
    ///   - body: The commands.
    /// - Returns: The result of `body`.
    /// - Throws: An error from `body`, or converted by `wrap`.
    package func perform<Value: ~Copyable & Sendable, Failure: Error>(
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

    /// Flushes loaded resources and closes the connection; the next use opens it again.
    package func close() {
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

    /// Whether the TPM has responded to a command since this device was created; an open connection alone does not
    /// count.
    package nonisolated var hasAnswered: Bool { hasHeard.load(ordering: .relaxed) }

    private func finish(_ used: Connection) {
        sequences += 1
        if used.hasAnswered { hasHeard.store(true, ordering: .relaxed) }
        if used.isBroken { abandon(used) } else { watch() }
    }

    /// Drops a broken connection, and tries to flush its leftovers over a new one if the TPM has no resource manager.
    private func abandon(_ broken: Connection) {
        broken.cache.flushAll(on: broken)
        connection = nil
        guard !address.flushesAtClose, !broken.leftovers.isEmpty else { return }
        connection = try? Connection(to: address, turn: turn)
        connection?.flush(broken.leftovers)
        if connection?.isBroken == true { connection = nil } else { watch() }
    }

    /// Starts watching for an idle period without a sequence, after which the connection is closed.
    private func watch() {
        guard !isWatched else { return }
        isWatched = true
        look(since: nil)
    }

    /// Checks for work after an idle period.
    ///
    /// It does not sleep in a task, which would need a thread of the shared pool to wake up; a program may block them
    /// all.
    private func look(since seen: Int?) {
        thread.run(after: idle) { [weak self] in
            self?.assumeIsolated { $0.closeUnlessUsed(since: seen) }
        }
    }

    /// Closes the connection and ends the watch if the number of sequences still is `seen`; otherwise checks again
    /// later.
    private func closeUnlessUsed(since seen: Int?) {
        guard connection != nil, sequences != seen else {
            close()
            isWatched = false
            return
        }
        look(since: sequences)
    }
}

/// The commands of a TPM; valid only inside ``TPMDevice/perform(_:)``.
package struct TPMCommands: ~Copyable {
    let connection: Connection
}

/// The storage of a device's connection.
///
/// Unchecked: only the actor uses it, on the TPM's thread; after the actor has ended, only the thread's last job does.
private final class ConnectionSlot: @unchecked Sendable {
    var connection: Connection?
}

/// An executor that runs the jobs of one actor on a separate thread, in order.
///
/// ESAPI calls block, for seconds with a hardware TPM; on Swift's cooperative pool they would delay unrelated tasks.
/// The thread blocks all signals. The simulators' TCTIs write to sockets without MSG_NOSIGNAL, and if a simulator exits
/// at the wrong moment, SIGPIPE would end the whole program.
final class TPMThread: SerialExecutor {
    private let thread = JobThread("whorl-tpm")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.add { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    func isIsolatingCurrentContext() -> Bool? { thread.isCurrent }

    func checkIsolated() { precondition(thread.isCurrent, "not on the TPM's thread") }

    /// Runs a job on the thread after a delay of at most a day, unless the thread has ended by then.
    func run(after duration: Duration, _ job: @escaping @Sendable () -> Void) {
        OffPoolTimer.run(after: min(duration, .seconds(86_400))) { [thread] in thread.add(job) }
    }

    /// Ends the thread after the queued jobs and one last job.
    func stop(_ last: @escaping @Sendable () -> Void) {
        thread.add(last)
        thread.close()
    }
}

/// The log that tpm2-tss itself writes to standard error or a file, depending on environment variables.
///
/// `TSS2_LOG` and `TSS2_LOGFILE` keep their values if the user has set them. They are ignored in a program with more
/// privileges than its caller (set-user-ID, file capabilities), because the library would use those privileges to write
/// traces to any file that the caller names.
///
/// The library reads the variables with plain getenv(3) when it first writes to the log.
enum LibraryLog {
    /// Sets the variables once per process.
    ///
    /// Calling setenv(3) while another thread reads the environment is not safe. It is therefore called when a
    /// ``TPMDevice`` is created, on the caller's thread and before the device has its own.
    static let isSettled: Bool = {
        // secure_getenv(3) returns nothing in such a program.
        let isQuiet = secure_getenv("TSS2_LOG") != nil || setenv("TSS2_LOG", "all+none", 1) == 0
        let writesNoFile = secure_getenv("TSS2_LOGFILE") != nil || unsetenv("TSS2_LOGFILE") == 0
        return isQuiet && writesNoFile
    }()
}
