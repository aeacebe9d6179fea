// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlService

/// The enrolled fingers of a profile, in the state of this process.
struct InProcessFingers: FingerService {
    let engine: AuthenticationEngine
    let application: ApplicationID
    let readers: ReaderChoice

    private var profile: String { engine.profile }

    func fingers() async throws(EnrollmentError) -> [EnrolledFinger] {
        try await engine.state.existingStore()?.fingers(of: profile) ?? []
    }

    func state(for application: ApplicationID) async throws(EnrollmentError) -> EnrollmentState? {
        try await engine.state.existingStore()?.state(of: profile, application: application.rawValue)
    }

    func difference(
        since digest: Data,
        for application: ApplicationID
    ) async throws(EnrollmentError) -> EnrollmentDifference {
        guard let store = try await engine.state.existingStore() else {
            // Nothing is stored: whatever the digest was taken from is gone.
            return EnrollmentDifference(changed: true, added: [], removed: [], isKnown: false)
        }
        return try await store.difference(of: profile, application: application.rawValue, since: digest)
    }

    func enroll(
        _ finger: NewFinger,
        _ request: ConsentRequest,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(FingerChangeError) -> EnrolledFinger {
        let reader = try await ofOwner { () async throws(AuthenticationError) in
            try await readers.chosenReader()
        }
        let enroller = try await ofFingers { () async throws(EnrollmentError) in
            let enroller = try await newEnroller(for: request)
            try await enroller.refuseTaken(finger.finger, profile: profile, on: reader)
            return enroller
        }
        let consent = try await consent(to: .add(finger.finger), request, presenter)
        return try await enroll(finger, enroller, on: reader, consent, request.timeout, observer)
    }

    /// Enrolls a finger to which the owner has agreed, where that is needed.
    func enroll(
        _ finger: NewFinger,
        _ enroller: FingerEnroller,
        on reader: any FingerprintReader,
        _ consent: OwnerConsent?,
        _ timeout: Duration,
        _ observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(FingerChangeError) -> EnrolledFinger {
        observer(.began(await reader.info))
        return try await interruptible { () async throws(EnrollmentError) in
            try await enroller.enroll(
                finger.finger,
                label: finger.label,
                profile: self.profile,
                on: reader,
                consent: consent,
                timeout: timeout,
                isGuided: finger.isGuided,
                observer: observer
            )
        }
    }

    func remove(
        _ selection: FingerSelection,
        force: Bool,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(FingerChangeError) -> [EnrolledFinger] {
        let existing = try await ofFingers { () async throws(EnrollmentError) in
            try await existingEnroller(for: request.application)
        }
        guard let enroller = existing else {
            guard selection == .all else { throw .fingers(EnrollmentError(.noSuchFinger)) }
            return []
        }
        let readers = try await ofOwner { () async throws(AuthenticationError) in
            try await self.readers.readers()
        }
        try await ofFingers { () async throws(EnrollmentError) in
            _ = try await enroller.removable(selection, profile: profile, readers: readers, force: force)
        }
        let consent = try await consent(to: .remove(selection), request, presenter)
        return try await ofFingers { () async throws(EnrollmentError) in
            try await enroller.remove(
                selection,
                profile: profile,
                readers: readers,
                force: force,
                consent: consent
            )
        }
    }

    func acceptable() async throws(EnrollmentError) -> [EnrolledFinger]? {
        try await existingEnroller(for: application)?.acceptable(profile: profile)
    }

    func accept(
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(FingerChangeError) -> AcceptedFingers? {
        let existing = try await ofFingers { () async throws(EnrollmentError) in
            try await existingEnroller(for: request.application)
        }
        guard let enroller = existing else { return nil }
        let consent = try await consent(to: .accept, request, presenter)
        return try await ofFingers { () async throws(EnrollmentError) in
            try await enroller.accept(profile: profile, consent: consent)
        }
    }

    func reconcile() async throws(FingerChangeError) -> ReaderReconciliation? {
        let existing = try await ofFingers { () async throws(EnrollmentError) in
            try await existingEnroller(for: application)
        }
        guard let enroller = existing else { return nil }
        let reader = try await ofOwner { () async throws(AuthenticationError) in
            try await readers.chosenReader()
        }
        return try await ofFingers { () async throws(EnrollmentError) in
            try await enroller.reconcile(profile: profile, on: reader)
        }
    }

    func exercise(
        _ exercise: ReaderExercise,
        _ request: ConsentRequest,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(FingerChangeError) -> [ReaderExercise.StepResult] {
        let reader = try await ofOwner { () async throws(AuthenticationError) in
            let reader = try await readers.chosenReader()
            try await engine.requireOwner(
                for: .yes,
                to: "test the fingerprint reader",
                request,
                presenter: presenter
            )
            return reader
        }
        observer(.began(await reader.info))
        let run = ExerciseRun(exercise, on: reader, timeout: request.timeout, observer: observer)
        return try await interruptible { () async throws(EnrollmentError) in try await run.run() }
    }
}

/// The parts that the operations share.
extension InProcessFingers {
    func existingEnroller(
        for application: ApplicationID
    ) async throws(EnrollmentError) -> FingerEnroller? {
        try await engine.state.existingStore().map { engine.enroller($0, for: application) }
    }

    func newEnroller(
        for request: ConsentRequest
    ) async throws(EnrollmentError) -> FingerEnroller {
        let store = try await engine.state.createdStore()
        return engine.enroller(store, for: request.application, asker: request.asker)
    }

    private func consent(
        to change: FingerChange,
        _ request: ConsentRequest,
        _ presenter: any PromptPresenter
    ) async throws(FingerChangeError) -> OwnerConsent? {
        try await ofOwner { () async throws(AuthenticationError) in
            try await engine.consent(to: change, request, presenter: presenter)
        }
    }

    /// Runs an enrollment, which ends when the machine goes to sleep or the service ends.
    private func interruptible<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(EnrollmentError) -> Value
    ) async throws(FingerChangeError) -> Value {
        let outcome = try await ofOwner { () async throws(AuthenticationError) in
            try await engine.interruptions.run { run async throws(AuthenticationError) in
                do throws(EnrollmentError) {
                    return Result<Value, EnrollmentError>.success(try await body())
                } catch {
                    guard case .reader(let reason) = error.code,
                        reason.code == .cancelled || reason.code == .suspended
                    else { return .failure(error) }
                    // The caller's own cancellation has the error that it always had.
                    let cancelled = AuthenticationError(.appCancel)
                    let meaning = run.meaning(of: cancelled)
                    guard meaning != cancelled else { return .failure(error) }
                    throw meaning
                }
            }
        }
        return try await ofFingers { () async throws(EnrollmentError) in try outcome.get() }
    }

    func ofOwner<Value>(
        _ body: () async throws(AuthenticationError) -> Value
    ) async throws(FingerChangeError) -> Value {
        do { return try await body() } catch { throw .owner(error) }
    }

    func ofFingers<Value>(
        _ body: () async throws(EnrollmentError) -> Value
    ) async throws(FingerChangeError) -> Value {
        do { return try await body() } catch { throw .fingers(error) }
    }
}
