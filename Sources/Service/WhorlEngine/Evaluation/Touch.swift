// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
import Synchronization
package import WhorlService
import WhorlSupport

/// The result of one touch.
package enum Touch: Sendable {
    /// The reader returned a result.
    case answered(IdentifyResult)
    /// The user did not touch the reader before the time limit.
    case timedOut
    /// The reader failed, or the task was cancelled.
    case failed(ReaderError)
    /// The reader can no longer be touched.
    case obstructed(ServiceError)
}

/// A function that waits until a reader can no longer be touched, and returns the reason.
///
/// It returns `nil` if nothing can obstruct the reader, or if its task is cancelled.
package typealias ReaderObstacle = @Sendable (any FingerprintReader) async -> ServiceError?

/// A source of touches, which waits for one touch of a reader after another.
package struct TouchSource: Sendable {
    /// An open reader.
    package let reader: any FingerprintReader
    /// The prints to compare with, beginning with the most recently matched one.
    ///
    /// It is never empty.
    package var gallery: [GalleryEntry]
    /// Whether the reader compares one touch with the entire gallery.
    ///
    /// If `false`, the reader compares only with the first print, because every other print would require another
    /// touch.
    package let identifies: Bool
    /// The time limit for one touch.
    package let timeout: Duration
    /// Waits until the reader can no longer be touched.
    package var obstacle: ReaderObstacle = { _ in nil }
    /// Returns whether it is too early for a touch to be meant for this prompt.
    package var isTooEarly: @Sendable () -> Bool = { false }

    /// The minimum time, in milliseconds, that a user needs to see a prompt and touch the reader.
    static let reaction: Int64 = 500

    /// Waits for one touch or for the end of its time limit.
    ///
    /// When this function returns, the reader's operation has ended.
    package func next(_ entry: PromptEntry) async -> Touch {
        let limit = OffPoolTimer(timeout)
        // A separate task, because a task group would also wait for the end of the timer between a match and the
        // answer. It runs on the caller's executor.
        let presentation = Task.immediate(executorPreference: currentExecutor) { await present(entry) }
        limit.onEnd { presentation.cancel() }
        let obstruction = Mutex<ServiceError?>(nil)
        let watch = Task.immediate(executorPreference: currentExecutor) { [reader, obstacle] in
            guard let error = await obstacle(reader) else { return }
            obstruction.withLock { $0 = error }
            presentation.cancel()
        }
        defer { watch.cancel() }
        let touch = await withTaskCancellationHandler {
            await presentation.value
        } onCancel: {
            presentation.cancel()
        }
        let isTimeUp = !limit.cancel()
        // The finger was on the reader before this prompt, so it neither counts nor is charged.
        if case .answered = touch, isTooEarly() {
            entry.send(.scan(.retry(.removeFinger)))
            return .answered(.retry(.removeFinger))
        }
        // A result that came at the last moment still counts.
        guard !Task.isCancelled, case .failed(let error) = touch, error.code == .cancelled else {
            return touch
        }
        if let error = obstruction.withLock(\.self) { return .obstructed(error) }
        return isTimeUp ? .timedOut : touch
    }

    /// Runs one operation on the reader, which ends when the task is cancelled.
    private func present(_ entry: PromptEntry) async -> Touch {
        let relay = ScanRelay(entry)
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

/// Relays a reader's events to the prompt.
///
/// Each retry hint is passed on only once, even if it arrives both as an event and as the result.
private final class ScanRelay: Sendable {
    private let entry: PromptEntry
    private let toldRetry = Mutex(false)

    init(_ entry: PromptEntry) { self.entry = entry }

    func receive(_ event: ScanEvent) {
        if case .retry = event { toldRetry.withLock { $0 = true } }
        entry.send(.scan(event))
    }

    func ensureRetry(_ reason: ScanRetry) {
        guard !toldRetry.withLock({ $0 }) else { return }
        entry.send(.scan(.retry(reason)))
    }
}
