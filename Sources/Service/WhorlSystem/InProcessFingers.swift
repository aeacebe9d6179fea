// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import FoundationEssentials
import WhorlService

/// The enrolled fingers of a profile, which are stored in this process's state.
struct InProcessFingers: Sendable {
    let engine: AuthenticationEngine
    let application: ApplicationID
    let readers: ReaderChoice

    private var profile: String { engine.profile }

    func add(to table: inout HandlerTable) {
        table.on(list)
        table.on(state)
        table.on(difference)
        table.on(enroll)
        table.on(enrollFor)
        table.on(label)
        table.on(remove)
        table.on(acceptable)
        table.on(accept)
        table.on(reconcile)
        table.on(exercise)
    }

    func list(_: ListFingers) async throws(ServiceError) -> [EnrolledFinger] {
        try await engine.state.existingStore()?.fingers(of: profile) ?? []
    }

    private func state(_ asked: ReadEnrollmentState) async throws(ServiceError) -> EnrollmentState? {
        try await engine.state.existingStore()?.state(of: profile, application: asked.application.rawValue)
    }

    private func difference(_ asked: CompareFingers) async throws(ServiceError) -> EnrollmentDifference {
        guard let store = try await engine.state.existingStore() else {
            // Nothing is stored, so the state from which the digest was computed is gone.
            return EnrollmentDifference(changed: true, added: [], removed: [], isKnown: false)
        }
        return try await store.difference(
            of: profile,
            application: asked.application.rawValue,
            since: asked.digest
        )
    }

    private func enroll(
        _ asked: EnrollFinger,
        _ prompter: Prompter
    ) async throws(ServiceError) -> EnrolledFinger {
        let (finger, request) = (asked.finger, asked.request)
        let reader = try await readers.chosenReader()
        let enroller = try await newEnroller(for: request)
        try await enroller.refuseTaken(finger.finger, profile: profile, on: reader)
        let consent = try await consent(to: .add(finger.finger), request, prompter)
        return try await enroll(finger, enroller, on: reader, consent, request.timeout, prompter.observer)
    }

    /// Refuses, because these are the fingers of one user; the system service enrolls for others.
    private func enrollFor(_: EnrollFingerFor, _: Prompter) async throws(ServiceError) -> EnrolledFinger {
        throw ServiceError(
            .notPermitted,
            message: "Only the system service can enroll a finger for another user.",
            recovery: "Install the service (Docs/Service.md).",
            cause: "no system service"
        )
    }

    /// Enrolls the first finger of a user who has stored nothing, on behalf of an administrator.
    ///
    /// Both the beginning and the transaction that stores the finger check that nothing is stored.
    ///
    /// - Throws: `ownerNeeded` if a finger, a passcode or an item exists, and the errors of ``EnrollFinger``.
    func enrollFirst(
        _ finger: NewFinger,
        _ request: ConsentRequest,
        _ observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(ServiceError) -> EnrolledFinger {
        let reader = try await readers.chosenReader()
        let consent = try await engine.consentOfAdministrator(toFirst: finger.finger)
        let enroller = try await newEnroller(for: request)
        return try await enroll(finger, enroller, on: reader, consent, request.timeout, observer)
    }

    /// Enrolls a finger, after the owner has consented if that is required.
    func enroll(
        _ finger: NewFinger,
        _ enroller: FingerEnroller,
        on reader: any FingerprintReader,
        _ consent: OwnerConsent?,
        _ timeout: Duration,
        _ observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(ServiceError) -> EnrolledFinger {
        observer(.began(await reader.info))
        return try await interruptible { () async throws(ServiceError) in
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

    private func label(_ asked: LabelFingers) async throws(ServiceError) -> [EnrolledFinger] {
        guard let store = try await engine.state.existingStore() else { throw ServiceError(.noSuchFinger) }
        return try await store.label(asked.selection, as: asked.label, of: profile)
    }

    private func remove(
        _ asked: RemoveFingers,
        _ prompter: Prompter
    ) async throws(ServiceError) -> [EnrolledFinger] {
        let (selection, force, request) = (asked.selection, asked.force, asked.request)
        guard let enroller = try await existingEnroller(for: request.application) else {
            guard selection == .all else { throw ServiceError(.noSuchFinger) }
            return []
        }
        let readers = try await self.readers.readers()
        _ = try await enroller.removable(selection, profile: profile, readers: readers, force: force)
        let consent = try await consent(to: .remove(selection), request, prompter)
        return try await enroller.remove(
            selection,
            profile: profile,
            readers: readers,
            force: force,
            consent: consent
        )
    }

    private func acceptable(_: ListAcceptableFingers) async throws(ServiceError) -> [EnrolledFinger]? {
        try await existingEnroller(for: application)?.acceptable(profile: profile)
    }

    private func accept(
        _ asked: AcceptFingers,
        _ prompter: Prompter
    ) async throws(ServiceError) -> Optionally<AcceptedFingers> {
        guard let enroller = try await existingEnroller(for: asked.request.application) else {
            return Optionally(nil)
        }
        let consent = try await consent(to: .accept, asked.request, prompter)
        return Optionally(try await enroller.accept(profile: profile, consent: consent))
    }

    private func reconcile(_: ReconcileReader) async throws(ServiceError) -> ReaderReconciliation? {
        guard let enroller = try await existingEnroller(for: application) else { return nil }
        let reader = try await readers.chosenReader()
        return try await enroller.reconcile(profile: profile, on: reader)
    }

    private func exercise(
        _ asked: ExerciseReader,
        _ prompter: Prompter
    ) async throws(ServiceError) -> [ReaderExercise.StepResult] {
        let reader = try await readers.chosenReader()
        try await engine.requireOwner(
            for: .yes,
            to: "test the fingerprint reader",
            asked.request,
            presenter: prompter.presenter
        )
        prompter.observer(.began(await reader.info))
        let run = ExerciseRun(
            asked.exercise,
            on: reader,
            timeout: asked.request.timeout,
            observer: prompter.observer
        )
        return try await interruptible { () async throws(ServiceError) in try await run.run() }
    }
}

/// Parts that several operations share.
extension InProcessFingers {
    func existingEnroller(
        for application: ApplicationID
    ) async throws(ServiceError) -> FingerEnroller? {
        try await engine.state.existingStore().map { engine.enroller($0, for: application) }
    }

    func newEnroller(
        for request: ConsentRequest
    ) async throws(ServiceError) -> FingerEnroller {
        let store = try await engine.state.createdStore()
        return engine.enroller(store, for: request.application, asker: request.asker)
    }

    private func consent(
        to change: FingerChange,
        _ request: ConsentRequest,
        _ prompter: Prompter
    ) async throws(ServiceError) -> OwnerConsent? {
        try await engine.consent(to: change, request, presenter: prompter.presenter)
    }

    /// Runs an enrollment, and ends it if the machine goes to sleep or the service exits.
    private func interruptible<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let outcome = try await engine.interruptions.run { run async throws(ServiceError) in
            do throws(ServiceError) {
                return Result<Value, ServiceError>.success(try await body())
            } catch {
                guard error.code == .appCancel || error.code == .systemCancel else { return .failure(error) }
                // If the caller itself cancels, the error stays the usual one.
                let cancelled = ServiceError(.appCancel)
                let meaning = run.meaning(of: cancelled)
                guard meaning != cancelled else { return .failure(error) }
                throw meaning
            }
        }
        return try outcome.get()
    }
}
