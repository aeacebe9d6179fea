// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Synchronization
import WhorlTerminalPrompt
import WhorlService
import WhorlSupport

/// Shows the progress of a longer operation on a reader, to the user or as events to programs.
final class Activity: Sendable {
    private let title: String
    private let console: Console
    private let stream: AsyncStream<ScanActivityUpdate>
    private let updates: AsyncStream<ScanActivityUpdate>.Continuation
    /// The task that shows the updates; `nil` until the work has begun.
    private let display = Mutex<Task<Void, Never>?>(nil)

    /// Creates a display that shows nothing until ``begin(at:)`` is called.
    ///
    /// The title describes the work, such as `Enroll the right index finger`.
    init(_ title: String, console: Console) {
        self.title = title
        self.console = console
        (stream, updates) = AsyncStream.makeStream(of: ScanActivityUpdate.self)
    }

    /// Runs `work` on a reader, and shows its updates until it ends.
    static func run<Value: Sendable>(
        _ title: String,
        at info: ReaderInfo,
        console: Console,
        success: (Value) -> ScanActivityUpdate,
        failure: String,
        _ work: (Activity) async throws -> Value
    ) async throws -> Value {
        let activity = Activity(title, console: console)
        activity.begin(at: info)
        return try await activity.run(success: success, failure: failure) { try await work(activity) }
    }

    /// Runs `work`, and shows its outcome in the last line.
    ///
    /// For a `failure`, the command's error then shows the reason.
    func run<Value: Sendable>(
        success: (Value) -> ScanActivityUpdate,
        failure: String,
        _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await work()
            await end(success(value))
            return value
        } catch {
            await end(.failed(failure))
            throw error
        }
    }

    private func end(_ last: ScanActivityUpdate) async {
        updates.yield(last)
        updates.finish()
        await display.withLock(\.self)?.value
    }

    /// Shows the title and the reader that the user must touch.
    func begin(at info: ReaderInfo) {
        console.used(info.kind)
        let progress = ScanActivity(
            ScanActivityState(
                title: title,
                readerName: info.name,
                readerKind: info.kind,
                scanType: info.scanType
            )
        )
        // This is a separate task, so that the last line is shown even if the current task is cancelled.
        let task = Task { [console, stream] in if !console.isJSON { await progress.show(stream) } }
        display.withLock { $0 = task }
    }

    /// Shows an event from the reader.
    func scan(_ event: ScanEvent) {
        console.event(.event(event))
        updates.yield(.scan(event))
    }

    /// Shows which part of the finger the next touches should cover.
    func area(_ area: FingerArea) {
        console.event(["event": "area", "area": .string(area.rawValue)])
        updates.yield(.area(area))
    }

    /// Shows the results of the test touches so far, and requests another touch if necessary.
    func tested(_ recognized: Int, _ tested: Int, _ total: Int) {
        if tested > 0 {
            console.event(["event": "tested", "recognized": .integer(recognized), "tested": .integer(tested)])
        }
        if tested < total {
            part(
                tested == 0
                    ? translated("Finger enrolled. A few test touches show how well it is recognized.")
                    : TestTouches.count(recognized, of: tested)
            )
        }
    }

    /// Shows that the next part of the work begins.
    func part(_ text: String) { updates.yield(.part(text)) }
}

/// Runs one operation on a reader, and cancels it if no finger touches the reader in time.
///
/// The time limit restarts with every event. When it expires, the function throws `timedOut`; otherwise it throws the
/// operation's own error.
func patiently<Value: Sendable>(
    _ limit: Duration,
    observer: @escaping ScanObserver,
    _ operation: @escaping @Sendable (@escaping ScanObserver) async throws -> Value
) async throws -> Value {
    let deadline = IdleTimeout(limit)
    let work = Task {
        try await operation { event in
            deadline.restart()
            observer(event)
        }
    }
    let watch = Task {
        if await deadline.end() { work.cancel() }
    }
    defer { watch.cancel() }
    do {
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
    } catch let error as ReaderError
        where error.code == .cancelled && deadline.deadline <= .now && !Task.isCancelled
    {
        throw ServiceError(.timedOut, cause: error.description)
    }
}
