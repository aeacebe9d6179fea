// SPDX-License-Identifier: Apache-2.0

import Authentication
import Fingerprint
import Synchronization
import TerminalPrompt

/// A display of longer work at a reader: progress for people, events for programs.
struct Activity: Sendable {
    private let console: Console
    private let updates: AsyncStream<ScanActivityUpdate>.Continuation

    /// Runs `work`, records its reader as used, and shows its updates until it ends.
    ///
    /// The title says what is done, such as `Enroll the right index finger`. The last line says how it ended; for a
    /// `failure`, the reason follows as the command's error.
    static func run<Value: Sendable>(
        _ title: String,
        at info: ReaderInfo,
        console: Console,
        success: (Value) -> ScanActivityUpdate,
        failure: String,
        _ work: (Activity) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        console.used(info.kind)
        let (stream, updates) = AsyncStream.makeStream(of: ScanActivityUpdate.self)
        let progress = ScanActivity(
            title: title,
            readerName: info.name,
            readerKind: info.kind,
            scanType: info.scanType
        )
        // This is a separate task, so that the last line is shown even if the current task is cancelled.
        let display = Task { if !console.isJSON { await progress.show(stream) } }
        do throws(Failure) {
            let value = try await work(Activity(console: console, updates: updates))
            await end(updates, success(value), display)
            return value
        } catch {
            await end(updates, .failed(failure), display)
            throw error
        }
    }

    private static func end(
        _ updates: AsyncStream<ScanActivityUpdate>.Continuation,
        _ last: ScanActivityUpdate,
        _ display: Task<Void, Never>
    ) async {
        updates.yield(last)
        updates.finish()
        await display.value
    }

    /// Shows an event of the reader.
    func scan(_ event: ScanEvent) {
        console.event(.event(event))
        updates.yield(.scan(event))
    }

    /// Shows that another part begins.
    func part(_ text: String) { updates.yield(.part(text)) }
}

/// Runs one operation of a reader, and cancels it when no finger comes.
///
/// The time limit restarts with every event. When it is over the failure is `systemCancel`; otherwise it is the
/// operation's error.
func patiently<Value: Sendable>(
    _ limit: Duration,
    observer: @escaping ScanObserver,
    _ operation: @escaping @Sendable (@escaping ScanObserver) async throws(ReaderError) -> Value
) async throws(Failure) -> Value {
    let deadline = Patience(limit)
    let work = Task { () async -> Result<Value, ReaderError> in
        do throws(ReaderError) {
            return .success(
                try await operation { event in
                    deadline.restart()
                    observer(event)
                }
            )
        } catch {
            return .failure(error)
        }
    }
    let watch = Task {
        if await deadline.end() { work.cancel() }
    }
    let result = await withTaskCancellationHandler {
        await work.value
    } onCancel: {
        work.cancel()
    }
    watch.cancel()
    switch result {
    case .success(let value): return value
    case .failure(let error) where error.code == .cancelled && deadline.deadline <= .now && !Task.isCancelled:
        throw Failure(.init(.systemCancel, cause: error.description))
    case .failure(let error): throw Failure(error)
    }
}
