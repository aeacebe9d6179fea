// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import WhorlSupport

/// An event that interrupts evaluations.
package enum Interruption: Sendable, Hashable, CaseIterable {
    /// The machine is going to sleep.
    case sleep
    /// The service is stopping, perhaps for an update.
    case ending
    /// The screen of the session was locked.
    case lock

    /// The error of an evaluation that the event interrupts or prevents.
    package var error: ServiceError {
        switch self {
        case .sleep:
            ServiceError(
                .systemCancel,
                message: "The computer went to sleep.",
                recovery: "Try again."
            )
        case .ending:
            ServiceError(
                .systemCancel,
                message: "The service whorld stopped, perhaps for an update.",
                recovery: "Try again; it starts automatically."
            )
        case .lock: .sessionLocked
        }
    }
}

extension ServiceError {
    /// The error for a program in a login session whose screen is locked.
    package static let sessionLocked = ServiceError(
        .notInteractive,
        message: "This session's screen is locked.",
        recovery: "Unlock it, and try again."
    )

    /// The error for a program in a session that is no longer in the foreground of its seat.
    package static let sessionInBackground = ServiceError(
        .notInteractive,
        message: "Another session is active on this seat.",
        recovery: "Switch to this session, and try again."
    )
}

/// The evaluations in progress, which end together when the machine goes to sleep or the service stops.
package final class Interruptions: Sendable {
    /// An evaluation in progress.
    package final class Run: Sendable {
        private struct State {
            var interruption: Interruption?
            var cancel: (@Sendable () -> Void)?
        }
        private let state = Mutex(State())

        fileprivate func begin(_ cancel: @escaping @Sendable () -> Void) {
            let isInterrupted = state.withLock { state in
                state.cancel = cancel
                return state.interruption != nil
            }
            if isInterrupted { cancel() }
        }

        fileprivate func interrupt(_ interruption: Interruption) {
            state.withLock { state in
                state.interruption = state.interruption ?? interruption
                return state.cancel
            }?()
        }

        /// Returns the error to report for an evaluation: that of the interruption, unless the evaluation already had a
        /// result.
        ///
        /// A step that was cancelled, such as a TPM command, fails with its own error.
        package func meaning(of error: ServiceError) -> ServiceError {
            let isVerdict =
                error.category == .notAuthenticated || error.code == .userCancel
                || error.code == .userFallback
            return isVerdict ? error : state.withLock(\.interruption)?.error ?? error
        }
    }

    private struct State {
        var present: Set<Interruption> = []
        var runs: [ObjectIdentifier: Run] = [:]
        var quiet: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Ends the evaluations in progress, and refuses new ones until ``end(_:)`` is called.
    ///
    /// The call returns once no evaluation is in progress, or after `patience`.
    package func begin(_ interruption: Interruption, patience: Duration) async {
        let (quiet, sink) = AsyncStream.makeStream(of: Void.self)
        let runs = state.withLock { state in
            state.present.insert(interruption)
            if state.runs.isEmpty { sink.finish() } else { state.quiet.append(sink) }
            return Array(state.runs.values)
        }
        for run in runs { run.interrupt(interruption) }
        OffPoolTimer.run(after: patience) { sink.finish() }
        for await _ in quiet {}
    }

    /// Whether no evaluation is in progress.
    package var isQuiet: Bool { state.withLock(\.runs.isEmpty) }

    /// Allows evaluations to start again.
    package func end(_ interruption: Interruption) { _ = state.withLock { $0.present.remove(interruption) } }

    /// Runs an evaluation in a task that an interruption cancels.
    ///
    /// - Throws: The error of `body`, or that of an interruption that is in effect.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (Run) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let run = try begin()
        defer { end(run) }
        // Stay on the caller's executor, because the shared pool may not have a free thread.
        let task = Task.immediate(executorPreference: currentExecutor) {
            () async -> Result<Value, ServiceError> in
            do throws(ServiceError) { return .success(try await body(run)) } catch {
                return .failure(run.meaning(of: error))
            }
        }
        run.begin { task.cancel() }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    private func begin() throws(ServiceError) -> Run {
        let run = Run()
        let present = state.withLock { state in
            guard let present = state.present.first else {
                state.runs[ObjectIdentifier(run)] = run
                return nil as Interruption?
            }
            return present
        }
        if let present { throw present.error }
        return run
    }

    private func end(_ run: Run) {
        let quiet = state.withLock { state in
            state.runs[ObjectIdentifier(run)] = nil
            guard state.runs.isEmpty else { return [] as [AsyncStream<Void>.Continuation] }
            defer { state.quiet = [] }
            return state.quiet
        }
        for sink in quiet { sink.finish() }
    }
}
