// SPDX-License-Identifier: Apache-2.0

package import Fingerprint
import Synchronization
import WhorlSupport

/// What became of one presentation of a finger.
package enum Touch: Sendable {
    /// The reader answered.
    case answered(IdentifyResult)
    /// No finger came in time.
    case timedOut
    /// The reader failed, or the task was cancelled.
    case failed(ReaderError)
}

/// Asks a reader for one presentation after the other.
package struct TouchSource: Sendable {
    /// An open reader.
    package let reader: any FingerprintReader
    /// What it compares with, the most recently matched print first; at least one.
    package let gallery: [GalleryEntry]
    /// Whether it compares with the whole gallery at once.
    ///
    /// Without, it compares with the first print alone: each further one would take a touch of its own.
    package let identifies: Bool
    /// How long one presentation is waited for.
    package let timeout: Duration

    /// One presentation, or the end of the wait for it.
    ///
    /// The reader has ended its operation when this returns.
    package func next(_ line: PromptLine) async -> Touch {
        let limit = OffPoolTimer(timeout)
        // A task of its own, since a task group would wait for the pause's end too, on the way from a match to its
        // answer. It runs where its caller does.
        let presentation = Task.immediate(executorPreference: currentExecutor) { await present(line) }
        limit.onEnd { presentation.cancel() }
        let touch = await withTaskCancellationHandler {
            await presentation.value
        } onCancel: {
            presentation.cancel()
        }
        let isTimeUp = !limit.cancel()
        // An answer that came in the last moment is one.
        if isTimeUp, !Task.isCancelled, case .failed(let error) = touch, error.code == .cancelled {
            return .timedOut
        }
        return touch
    }

    /// One operation of the reader; it ends when the task is cancelled.
    private func present(_ line: PromptLine) async -> Touch {
        let relay = ScanRelay(line)
        do throws(ReaderError) {
            let result = try await ask { relay.receive($0) }
            if case .retry(let reason) = result { relay.ensureRetry(reason) }
            return .answered(result)
        } catch {
            return .failed(error)
        }
    }

    private func ask(_ observer: @escaping ScanObserver) async throws(ReaderError) -> IdentifyResult {
        guard !identifies else {
            return try await reader.identify(among: gallery, whenBusy: .fail, observer: observer)
        }
        guard let entry = gallery.first else { return .noMatch }
        switch try await reader.verify(entry.template, whenBusy: .fail, observer: observer) {
        case .match(let updated): return .match(entry.id, updated: updated)
        case .noMatch: return .noMatch
        case .retry(let reason): return .retry(reason)
        }
    }
}

/// Passes a reader's events to the prompt, each retry hint once, whether the reader tells it as an event too
/// or as its answer only.
private final class ScanRelay: Sendable {
    private let line: PromptLine
    private let toldRetry = Mutex(false)

    init(_ line: PromptLine) { self.line = line }

    func receive(_ event: ScanEvent) {
        if case .retry = event { toldRetry.withLock { $0 = true } }
        line.send(.scan(event))
    }

    func ensureRetry(_ reason: ScanRetry) {
        guard !toldRetry.withLock({ $0 }) else { return }
        line.send(.scan(.retry(reason)))
    }
}
