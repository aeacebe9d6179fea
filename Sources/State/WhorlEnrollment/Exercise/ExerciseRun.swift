// SPDX-License-Identifier: Apache-2.0

package import WhorlFingerprint
package import WhorlService

/// One run of a reader test (``ReaderExercise``), which does not affect enrolled fingers or the store.
///
/// It performs only the steps, and each of them once, because a recorded reader does not support anything else. Once
/// the print has been enrolled, it is deleted and the reader is closed even if an error occurs.
package struct ExerciseRun: Sendable {
    let reader: any FingerprintReader
    let exercise: ReaderExercise
    let timeout: Duration
    let observer: @Sendable (EnrollmentProgress) -> Void

    /// The number of times that an unreadable touch can be repeated within a step.
    private static let retries = 5

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - exercise: The steps.
    ///   - reader: The reader.
    ///   - timeout: The time limit for each touch.
    ///   - observer: Called for each event, on a thread of the reader.
    package init(
        _ exercise: ReaderExercise,
        on reader: any FingerprintReader,
        timeout: Duration,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) {
        self.reader = reader
        self.exercise = exercise
        self.timeout = timeout
        self.observer = observer
    }

    private struct Report {
        var steps: [ReaderExercise.StepResult] = []
        /// The error that reports the cancellation, if the task was cancelled.
        var cancellation: ServiceError?
    }

    /// Runs the steps.
    ///
    /// - Returns: The result of each step that was started.
    /// - Throws: A reader's error with `cancelled` or `suspended` if the task was cancelled or the machine went to
    ///   sleep.
    package func run() async throws(ServiceError) -> [ReaderExercise.StepResult] {
        // The reader may still be closing after the evaluation in which its owner agreed.
        let turn = try await ofReader(try await ReaderTurns.take("exercise", on: reader))
        defer { withExtendedLifetime(turn) {} }
        var report = Report()
        let opened: Void? = await step(.open, &report) { () async throws(ServiceError) in
            try await once { reader throws(ReaderError) in try await reader.open() }
        }
        if opened != nil {
            await tryOut(&report)
            await step(.close, &report) { () async throws(ServiceError) in
                try await uncancelled { reader throws(ReaderError) in try await reader.close() }
            }
        }
        if let cancellation = report.cancellation { throw cancellation }
        return report.steps
    }

    private func tryOut(_ report: inout Report) async {
        // Some drivers report their features only after opening.
        let features = await reader.info.features
        if exercise.clearsStorage {
            let cleared: Void? = await step(.clearStorage, &report) { () async throws(ServiceError) in
                try await once { reader throws(ReaderError) in
                    try await reader.clearStorage(whenBusy: .fail)
                }
            }
            guard cleared != nil else { return }
        }
        let enrolled = await step(.enroll, &report) { () async throws(ServiceError) in
            // The metadata are empty because a match-on-chip driver writes all other metadata into the reader.
            try await touching { reader, observer throws(ReaderError) in
                try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail, observer: observer)
            }
        }
        guard let template = enrolled else { return }
        await compare(template, features, &report)
        guard features.contains(.storageDelete) else { return }
        await step(.delete, &report) { () async throws(ServiceError) in
            try await uncancelled { reader throws(ReaderError) in
                try await reader.delete(template, whenBusy: .fail)
            }
        }
    }

    /// Runs the steps between enrolling and deleting, and stops at the first one that fails.
    private func compare(_ template: Template, _ features: ReaderFeatures, _ report: inout Report) async {
        func includes(_ step: ReaderExercise.Step, _ feature: ReaderFeatures) -> Bool {
            features.contains(feature) && !exercise.skipped.contains(step)
        }
        if includes(.list, .storageList) {
            let listed: Void? = await step(.list, &report) { () async throws(ServiceError) in
                try await once { reader throws(ReaderError) in
                    _ = try await reader.storedPrints(whenBusy: .fail)
                }
            }
            guard listed != nil else { return }
        }
        let entry = GalleryEntry(id: PrintID(), template: template)
        if includes(.verify, .verify) {
            let verified: Void? = await step(.verify, &report) { () async throws(ServiceError) in
                try await match(entry) { reader, observer throws(ReaderError) in
                    let result = try await reader.verify(template, whenBusy: .fail, observer: observer)
                    return IdentifyResult(result, of: entry.id)
                }
            }
            guard verified != nil else { return }
        }
        if includes(.identify, .identify) {
            await step(.identify, &report) { () async throws(ServiceError) in
                try await match(entry) { reader, observer throws(ReaderError) in
                    try await reader.identify(among: [entry], whenBusy: .fail, observer: observer)
                }
            }
        }
    }

    /// Prompts for touches until one can be read, which must match the test's own print.
    private func match(
        _ entry: GalleryEntry,
        _ look:
            @escaping @Sendable (any FingerprintReader, @escaping ScanObserver) async throws(ReaderError) ->
            IdentifyResult
    ) async throws(ServiceError) {
        for _ in 0...Self.retries {
            switch try await touching(look) {
            case .match(entry.id, updated: _): return
            case .match: throw ServiceError(ReaderError(.untrustworthy, operation: "identify"))
            case .noMatch: throw ServiceError(.inconsistent)
            case .retry(let reason): observer(.scan(.retry(reason)))
            }
        }
        throw ServiceError(.tooManyRetries)
    }

    /// Runs an operation that waits for a finger, within the time limit.
    private func touching<Value: Sendable>(
        _ operation:
            @escaping @Sendable (any FingerprintReader, @escaping ScanObserver) async throws(ReaderError) ->
            Value
    ) async throws(ServiceError) -> Value {
        let limits = ScanLimits(timeout: timeout, retryLimit: .max)
        return try await limits.run(observer: { [observer] in observer(.scan($0)) }) {
            [reader] observer throws(ReaderError) in
            try await operation(reader, observer)
        }.get()
    }

    /// Runs an operation that does not wait for a finger.
    private func once(
        _ operation: (any FingerprintReader) async throws(ReaderError) -> Void
    ) async throws(ServiceError) {
        try await ofReader(await operation(reader))
    }

    /// Runs an operation even if the task was cancelled, so that the print does not stay in the reader and the reader
    /// is closed.
    private func uncancelled(
        _ operation: @escaping @Sendable (any FingerprintReader) async throws(ReaderError) -> Void
    ) async throws(ServiceError) {
        let result = await Task { [reader] () async -> Result<Void, ReaderError> in
            do throws(ReaderError) { return .success(try await operation(reader)) } catch {
                return .failure(error)
            }
        }.value
        try result.mapError { ServiceError($0) }.get()
    }

    private static func sentence(_ failure: ServiceError) -> String {
        failure.code == .inconsistent ? "The finger did not match." : failure.message
    }

    /// Runs one step and records its result, or returns `nil` if the step failed.
    @discardableResult
    private func step<Value>(
        _ step: ReaderExercise.Step,
        _ report: inout Report,
        _ body: () async throws(ServiceError) -> Value
    ) async -> Value? {
        observer(.exercising(step))
        let start = ContinuousClock.now
        var value: Value?
        var failure: ServiceError?
        do throws(ServiceError) { value = try await body() } catch { failure = error }
        let time = (ContinuousClock.now - start).components
        let seconds = Double(time.seconds) + Double(time.attoseconds) / 1e18
        report.steps.append(
            .init(
                step: step,
                seconds: seconds,
                failure: failure.map(Self.sentence),
                code: failure?.code.rawValue
            )
        )
        if let failure, failure.isCancellation, report.cancellation == nil { report.cancellation = failure }
        return value
    }
}

extension ServiceError {
    /// Whether the operation ended because the task was cancelled or the machine went to sleep.
    fileprivate var isCancellation: Bool {
        code == .appCancel || code == .systemCancel
    }
}
