// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlService

/// A step of the trial of a reader; the order of the cases is the order of the trial.
enum ExerciseStep: String, CaseIterable, Sendable {
    case open
    case clearStorage = "clear-storage"
    case enroll, list, verify, identify, delete, close

    /// The steps that the others do not need.
    ///
    /// The deletion is not among them: without it the print would stay in the reader.
    static let skippable: [ExerciseStep] = [.list, .verify, .identify]
}

/// The result of one step.
struct StepReport: Sendable {
    let step: ExerciseStep
    let seconds: Double
    /// The failure of the step; `nil` if it succeeded.
    let failure: Failure?
}

/// A trial of all operations that a reader supports, with a bare print of its own.
///
/// It sends the reader only the steps, each once: a recorded reader answers nothing else. After the print is enrolled,
/// every error still leads to the deletion of the print and the closing of the reader.
struct ReaderExercise: Sendable {
    struct Report: Sendable {
        var steps: [StepReport] = []
        /// The failure of the cancellation, if the caller cancelled.
        var cancellation: Failure?

        /// Whether every step succeeded.
        var isGood: Bool { steps.allSatisfy { $0.failure == nil } }
    }

    let reader: any FingerprintReader
    let clears: Bool
    let skipped: Set<ExerciseStep>
    let patience: Duration

    /// The number of times that an unreadable finger is asked for again within a step.
    private static let retries = 5

    func run(_ activity: Activity) async -> Report {
        var report = Report()
        let reader = reader
        let opened: Void? = await step(.open, &report) { () async throws(Failure) in
            try await failing { () async throws(ReaderError) in try await reader.open() }
        }
        guard opened != nil else { return report }
        await tryOut(&report, activity)
        // This is not cancelled with the rest: a reader must not stay open.
        await step(.close, &report) { () async throws(Failure) in
            try await uncancelled { () async throws(ReaderError) in try await reader.close() }
        }
        return report
    }

    private func tryOut(_ report: inout Report, _ activity: Activity) async {
        let reader = reader
        // Some drivers know their features only now.
        let features = await reader.info.features
        if clears {
            let cleared: Void? = await step(.clearStorage, &report) { () async throws(Failure) in
                try await failing { () async throws(ReaderError) in
                    try await reader.clearStorage(whenBusy: .fail)
                }
            }
            guard cleared != nil else { return }
        }
        let enrolled = await step(.enroll, &report) { () async throws(Failure) in try await enroll(activity) }
        guard let template = enrolled else { return }
        await compare(template, features, &report, activity)
        guard features.contains(.storageDelete) else { return }
        await step(.delete, &report) { () async throws(Failure) in
            try await uncancelled { () async throws(ReaderError) in
                try await reader.delete(template, whenBusy: .fail)
            }
        }
    }

    /// Runs the steps between enrolling and deleting; the first that fails ends them.
    private func compare(
        _ template: Template,
        _ features: ReaderFeatures,
        _ report: inout Report,
        _ activity: Activity
    ) async {
        func wants(_ step: ExerciseStep, _ feature: ReaderFeatures) -> Bool {
            features.contains(feature) && !skipped.contains(step)
        }
        if wants(.list, .storageList) {
            let listed: Void? = await step(.list, &report) { () async throws(Failure) in
                _ = try await failing { () async throws(ReaderError) in
                    try await reader.storedPrints(whenBusy: .fail)
                }
            }
            guard listed != nil else { return }
        }
        if wants(.verify, .verify) {
            activity.part("Compare: the same finger again.")
            let verified: Void? = await step(.verify, &report) { () async throws(Failure) in
                try await verify(template, activity)
            }
            guard verified != nil else { return }
        }
        if wants(.identify, .identify) {
            activity.part("Find: the same finger again.")
            await step(.identify, &report) { () async throws(Failure) in
                try await identify(template, activity)
            }
        }
    }

    private func enroll(_ activity: Activity) async throws(Failure) -> Template {
        let reader = reader
        activity.part("Enroll: the same finger each time.")
        return try await patiently(patience, observer: activity.scan) {
            (observer) async throws(ReaderError) in
            // The metadata are empty: a match-on-chip driver writes all other metadata into the reader.
            try await reader.enroll(EnrollmentMetadata(), whenBusy: .fail, observer: observer)
        }
    }

    private func verify(_ template: Template, _ activity: Activity) async throws(Failure) {
        let reader = reader
        for _ in 0...Self.retries {
            let result = try await patiently(patience, observer: activity.scan) {
                (observer) async throws(ReaderError) in
                try await reader.verify(template, whenBusy: .fail, observer: observer)
            }
            switch result {
            case .match: return
            case .noMatch: throw Failure(.init(.authenticationFailed))
            case .retry(let reason): activity.scan(.retry(reason))
            }
        }
        throw Failure(EnrollmentError(.tooManyRetries))
    }

    private func identify(_ template: Template, _ activity: Activity) async throws(Failure) {
        let reader = reader
        let entry = GalleryEntry(id: PrintID(), template: template)
        for _ in 0...Self.retries {
            let result = try await patiently(patience, observer: activity.scan) {
                (observer) async throws(ReaderError) in
                try await reader.identify(among: [entry], whenBusy: .fail, observer: observer)
            }
            switch result {
            case .match(entry.id, _): return
            case .match: throw Failure(ReaderError(.untrustworthy, operation: "identify"))
            case .noMatch: throw Failure(.init(.authenticationFailed))
            case .retry(let reason): activity.scan(.retry(reason))
            }
        }
        throw Failure(EnrollmentError(.tooManyRetries))
    }

    /// Runs one step and records its result; returns `nil` if it failed.
    @discardableResult
    private func step<Value>(
        _ step: ExerciseStep,
        _ report: inout Report,
        _ body: () async throws(Failure) -> Value
    ) async -> Value? {
        let start = ContinuousClock.now
        let outcome: Result<Value, Failure>
        do throws(Failure) { outcome = .success(try await body()) } catch { outcome = .failure(error) }
        let time = (ContinuousClock.now - start).components
        let seconds = Double(time.seconds) + Double(time.attoseconds) / 1e18
        switch outcome {
        case .success(let value):
            report.steps.append(StepReport(step: step, seconds: seconds, failure: nil))
            return value
        case .failure(let failure):
            report.steps.append(StepReport(step: step, seconds: seconds, failure: failure))
            if failure.isCancellation, report.cancellation == nil { report.cancellation = failure }
            return nil
        }
    }
}

/// Runs work that must be done even if the task was cancelled.
private func uncancelled(
    _ body: @escaping @Sendable () async throws(ReaderError) -> Void
) async throws(Failure) {
    let result = await Task { () async -> Result<Void, ReaderError> in
        do throws(ReaderError) { return .success(try await body()) } catch { return .failure(error) }
    }.value
    try await failing { () async throws(ReaderError) in try result.get() }
}
