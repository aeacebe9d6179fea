// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import WhorlSupport

/// An event that ends what the owner is being asked.
package enum Interruption: Sendable, Hashable, CaseIterable {
    /// The machine goes to sleep.
    case sleep
    /// The service ends, perhaps for an update.
    case ending
    /// The screen of the session is locked.
    case lock

    /// The error of an evaluation that the event ends or refuses.
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
    /// The error of a program in a login session whose screen is locked.
    package static let sessionLocked = ServiceError(
        .notInteractive,
        message: "This session's screen is locked.",
        recovery: "Unlock it, and try again."
    )

    /// The seat of the session that asks shows another one now.
    package static let sessionInBackground = ServiceError(
        .notInteractive,
        message: "Another session is active on this seat.",
        recovery: "Switch to this session, and try again."
    )
}

/// The evaluations that are under way, which end together when the machine goes to sleep or the service ends.
package final class Interruptions: Sendable {
    /// One evaluation that is under way.
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

        /// Returns the error of an evaluation, which says that it was interrupted unless it had its verdict before.
        ///
        /// A part that was cancelled, such as a command of the chip, has an error of its own.
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

    /// Ends what is under way, and refuses what comes, until ``end(_:)``.
    ///
    /// - Returns: When nothing is under way any longer, or after `patience`.
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

    /// Whether no evaluation is under way.
    package var isQuiet: Bool { state.withLock(\.runs.isEmpty) }

    /// Lets evaluations begin again.
    package func end(_ interruption: Interruption) { _ = state.withLock { $0.present.remove(interruption) } }

    /// Runs an evaluation, in a task that an interruption cancels.
    ///
    /// - Throws: what `body` throws; the error of an interruption that is present.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (Run) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let run = try begin()
        defer { end(run) }
        // On the caller's executor: no thread of the shared pool may be free.
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
