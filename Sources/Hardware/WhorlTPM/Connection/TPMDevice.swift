// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// A TPM 2.0, which runs one command at a time on a separate thread.
///
/// The connection is opened at the first use, reopened after it was lost, and closed after some idle time. Closing it
/// flushes everything that was loaded so that other programs can use a TPM that has no resource manager.
package actor TPMDevice {
    /// The address of the TPM.
    package nonisolated let address: TPMAddress
    private nonisolated let thread: TPMThread
    private let idle: Duration
    private let turn: Duration
    private nonisolated let slot = ConnectionSlot()
    private nonisolated let hasHeard = Atomic(false)
    /// The number of finished sequences, from which the watch can tell whether there was any work.
    private var sequences = 0
    private var isWatched = false

    /// Creates a device for a TPM without opening it.
    ///
    /// - Parameters:
    ///   - address: The address of the TPM.
    ///   - idle: The idle time after which the connection is closed, at most one second without a resource manager.
    ///     Closing may take up to twice as long.
    ///   - turn: The time of uninterrupted work after which other programs get the slots, if there is no resource
    ///     manager.
    package init(
        _ address: TPMAddress = .standard,
        idle: Duration = .seconds(5),
        turn: Duration = .seconds(3)
    ) {
        self.init(address, uncut: address.flushesAtClose ? idle : min(idle, .seconds(1)), turn: turn)
    }

    /// Creates a device that keeps its connection open for the whole idle time even without a resource manager.
    ///
    /// It is intended for callers that count commands.
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

    /// The executor that runs on the TPM's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Runs a sequence of commands without any other commands from this process in between.
    ///
    /// When the sequence ends, with or without an error, at most two objects and one session stay loaded for the next
    /// one. A sequence can be cancelled only before it starts, because commands cannot be undone.
    ///
    /// - Parameter body: The commands. This closure runs on the TPM's thread and must not wait for anything else.
    /// - Returns: The result of `body`.
    /// - Throws: An error from opening the connection or from `body`.
    package func perform<Value: ~Copyable & Sendable>(
        _ body: @Sendable (borrowing TPMCommands) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        try perform(wrapping: { $0 }, body)
    }

    /// Runs a sequence of commands in a body that throws a different error type.
    ///
    /// - Parameters:
    ///   - wrap: A function that converts a failure to open the connection to that error type.
    ///   - body: The commands.
    /// - Returns: The result of `body`.
    /// - Throws: An error from `body`, or an error that `wrap` converted.
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

    /// Flushes loaded resources and closes the connection.
    ///
    /// The next use opens it again.
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

    /// Whether the TPM has responded to a command since this device was created.
    ///
    /// An open connection alone does not count.
    package nonisolated var hasAnswered: Bool { hasHeard.load(ordering: .relaxed) }

    private func finish(_ used: Connection) {
        sequences += 1
        if used.hasAnswered { hasHeard.store(true, ordering: .relaxed) }
        if used.isBroken { abandon(used) } else { watch() }
    }

    /// Drops a broken connection and, if the TPM has no resource manager, tries to flush the leftovers over a new one.
    private func abandon(_ broken: Connection) {
        broken.cache.flushAll(on: broken)
        connection = nil
        guard !address.flushesAtClose, !broken.leftovers.isEmpty else { return }
        connection = try? Connection(to: address, turn: turn)
        connection?.flush(broken.leftovers)
        if connection?.isBroken == true { connection = nil } else { watch() }
    }

    /// Starts watching for an idle period, after which the connection is closed.
    private func watch() {
        guard !isWatched else { return }
        isWatched = true
        look(since: nil)
    }

    /// Checks after the idle time whether there has been any work.
    ///
    /// It does not sleep in a task, because a task needs a thread from the shared pool to wake up, and a program may
    /// block all of them.
    private func look(since seen: Int?) {
        thread.run(after: idle) { [weak self] in
            self?.assumeIsolated { $0.closeUnlessUsed(since: seen) }
        }
    }

    /// Closes the connection and ends the watch if the number of sequences is still `seen`, or otherwise checks again
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

/// The commands of a TPM, which are valid only inside ``TPMDevice/perform(_:)``.
package struct TPMCommands: ~Copyable {
    let connection: Connection
}

/// The storage of a device's connection.
///
/// Unchecked: only the actor uses it, on the TPM's thread. After the actor has ended, only the thread's last job uses
/// it.
private final class ConnectionSlot: @unchecked Sendable {
    var connection: Connection?
}

/// An executor that runs the jobs of one actor in order on a separate thread.
///
/// ESAPI calls block for seconds with a hardware TPM, and would delay unrelated tasks if they ran on Swift's
/// cooperative pool. The thread blocks all signals, because the simulators' TCTIs write to sockets without
/// MSG_NOSIGNAL. If a simulator exited at the wrong moment, SIGPIPE would otherwise end the whole program.
final class TPMThread: SerialExecutor {
    private let thread = JobThread("whorl-tpm")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.add { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    func isIsolatingCurrentContext() -> Bool? { thread.isCurrent }

    func checkIsolated() { precondition(thread.isCurrent, "not on the TPM's thread") }

    /// Runs a job on the thread after a delay of at most one day, unless the thread has ended by then.
    func run(after duration: Duration, _ job: @escaping @Sendable () -> Void) {
        OffPoolTimer.run(after: min(duration, .seconds(86_400))) { [thread] in thread.add(job) }
    }

    /// Ends the thread after it has run the queued jobs and one last job.
    func stop(_ last: @escaping @Sendable () -> Void) {
        thread.add(last)
        thread.close()
    }
}

/// The log that tpm2-tss itself writes to standard error or to a file, depending on environment variables.
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
    /// ``TPMDevice`` is created, on the caller's thread, before the device has a thread of its own.
    static let isSettled: Bool = {
        // secure_getenv(3) returns nothing in such a program.
        let isQuiet = secure_getenv("TSS2_LOG") != nil || setenv("TSS2_LOG", "all+none", 1) == 0
        let writesNoFile = secure_getenv("TSS2_LOGFILE") != nil || unsetenv("TSS2_LOGFILE") == 0
        return isQuiet && writesNoFile
    }()
}
