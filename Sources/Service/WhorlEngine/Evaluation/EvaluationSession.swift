// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import Logging
import WhorlStateStore
import WhorlService
import WhorlSupport

/// One evaluation, from its request to its answer.
struct EvaluationSession: Sendable {
    /// The data for a prompt and its scan, which is collected while the profile's lock is held.
    struct Scan: Sendable {
        let loop: ScanLoop
        let info: ReaderInfo
        let enrollment: EnrollmentState
        let store: EnrollmentStore
        let kept: PendingMatchRecord

        /// The time limits of an evaluation.
        struct Limits: Sendable {
            /// The maximum time to wait for other evaluations of the profile.
            let wait: Duration
            /// The maximum time to wait for each touch.
            let touch: Duration
            /// The decision on which method of the evaluation succeeded first.
            var decision = Decision()
        }
    }

    /// The maximum timeout for a touch, which limits what a request specifies: one day.
    static let longestTimeout = Duration.seconds(86_400)

    let engine: AuthenticationEngine
    let request: EvaluationRequest
    let presenter: any PromptPresenter

    var timeout: Duration { min(max(request.timeout, .zero), EvaluationSession.longestTimeout) }

    /// The maximum time to wait while others use the reader.
    private var wait: Duration { request.patience.map { min($0, timeout) } ?? timeout }

    func evaluate() async throws(ServiceError) -> Evaluation {
        guard !DisplayText.isBlank(request.reason) else { throw ServiceError(.reasonMissing) }
        guard !Task.isCancelled else { throw ServiceError(.appCancel) }
        if let obstacle = request.obstacle { throw obstacle }
        return try await engine.interruptions.run { run async throws(ServiceError) in
            try await self.evaluate(run)
        }
    }

    private func evaluate(_ run: Interruptions.Run) async throws(ServiceError) -> Evaluation {
        var facts = await engine.preflightFacts(for: request.application, demanding: strengths)
        if let obstacle = request.fingerObstacle { facts.preconditions.reader = .unclear(obstacle) }
        let plan =
            request.takesPasscodeAlone
            ? facts.preconditions.planForPasscode : facts.preconditions.plan(for: request.policy)
        let bookkeeping = bookkeeping(try await database(facts, plan), facts)
        do throws(ServiceError) {
            let failed = await bookkeeping.failedTries()
            switch plan {
            case .finger: return try checked(await answer(facts, bookkeeping)).after(failedTries: failed)
            case .passcode(let obstacle):
                return try await answer(insteadOf: obstacle, facts, bookkeeping).after(failedTries: failed)
            case .refuse(let error): throw error
            }
        } catch {
            let error = run.meaning(of: error)
            await bookkeeping.logEnd(error)
            throw error
        }
    }

    /// Returns the database to read and write.
    ///
    /// If it does not exist, it is created only if the plan accepts the passcode, which does not require stored data.
    private func database(
        _ facts: PreflightFacts,
        _ plan: Plan
    ) async throws(ServiceError) -> StateDatabase {
        if let database = facts.database { return database }
        switch plan {
        case .finger: throw .incompleteFacts
        case .refuse(let error): throw error
        case .passcode:
            return try await engine.state.created()
        }
    }

    private func bookkeeping(_ database: StateDatabase, _ facts: PreflightFacts) -> EvaluationBookkeeping {
        var bookkeeping = EvaluationBookkeeping(
            database: database,
            profile: engine.profile,
            application: request.application,
            reader: facts.readerInfo,
            reason: request.reason,
            lockEndsByTime: facts.preconditions.lockEndsByTime,
            rules: engine.rules,
            time: engine.time,
            asker: request.asker
        )
        bookkeeping.place = request.place
        bookkeeping.stay = request.stay
        return bookkeeping
    }

    /// Reuses an earlier match, or prompts for a finger, and also for the passcode if that is sufficient for the
    /// policy.
    private func answer(
        _ facts: PreflightFacts,
        _ bookkeeping: EvaluationBookkeeping
    ) async throws(ServiceError) -> Evaluation {
        guard let reader = facts.reader, let info = facts.readerInfo,
            let fingers = facts.fingers, let enrollment = facts.enrollment
        else { throw .incompleteFacts }
        if facts.preconditions.demandsPasscode { try await checkThatBothCanBeAsked() }
        if let reused = try await bookkeeping.reusableMatch(of: fingers, within: window) {
            let match = ScanLoop.Success(match: reused, updated: nil, hasTwoFingers: false)
            return try await adding(evaluation(match, info, enrollment, isReused: true), facts, bookkeeping)
        }
        guard request.interactionAllowed else { throw ServiceError(.notInteractive) }
        if !facts.preconditions.demandsPasscode, await asksPasscode(facts) {
            guard await !presenter.handsPasscodeIn else {
                return try await ask(.passcode, facts, bookkeeping)
            }
            return try await either(reader, facts, bookkeeping)
        }
        if info.kind == .hardware, await !presenter.isInteractive {
            throw ServiceError(.notInteractive)
        }
        let evaluation = try await scan(reader, bookkeeping, Scan.Limits(wait: wait, touch: timeout)) {
            scan in
            let prompt = engine.texts.prompt(
                for: request,
                engine.limits,
                at: scan.info,
                hasPasscode: facts.preconditions.hasPasscode
            )
            return await PromptRace(prompt: prompt, presenter: presenter).result { entry in
                await self.outcome(of: scan, entry)
            }
        }
        return try await adding(evaluation, facts, bookkeeping)
    }

    /// Opens the reader, reads the enrolled fingers, and scans.
    func scan(
        _ reader: any FingerprintReader,
        _ bookkeeping: EvaluationBookkeeping,
        _ limits: Scan.Limits,
        _ run: (Scan) async -> PromptRace.Outcome
    ) async throws(ServiceError) -> Evaluation {
        let kept = PendingMatchRecord()
        return try await engine.withReader(reader, bookkeeping, within: limits.wait) { [engine] in
            await kept.write(at: engine.time)
        } _: { isTooEarly async throws(ServiceError) in
            try await run(try await prepare(reader, bookkeeping, limits, kept, isTooEarly)).get()
        }
    }

    /// Reads the enrolled fingers again, because another evaluation may have changed them during the wait.
    ///
    /// They are read only once. A later change is detected when a match is recorded.
    private func prepare(
        _ reader: any FingerprintReader,
        _ bookkeeping: EvaluationBookkeeping,
        _ limits: Scan.Limits,
        _ kept: PendingMatchRecord,
        _ isTooEarly: @escaping @Sendable () -> Bool
    ) async throws(ServiceError) -> Scan {
        let info = await reader.info
        let store = engine.state.store(on: bookkeeping.database)
        let fingers = try await store.snapshot(of: bookkeeping.profile)
        let all = fingers.gallery(on: info.id)
        let gallery = all.filter { entry in
            request.finger.map { $0 == fingers.finger(of: entry.id) } ?? true
        }
        guard let enrollment = fingers.state(for: request.application.rawValue), !gallery.isEmpty else {
            throw ServiceError(.biometryNotEnrolled)
        }
        let source = TouchSource(
            reader: reader,
            gallery: gallery,
            identifies: info.features.contains(.identify),
            timeout: limits.touch,
            obstacle: engine.obstacle,
            isTooEarly: isTooEarly
        )
        let loop = ScanLoop(
            source: source,
            fingers: fingers,
            reader: info,
            bookkeeping: bookkeeping,
            decision: limits.decision,
            allowed: min(max(request.mostTries ?? ScanLoop.tries, 1), ScanLoop.tries),
            galleryOfSecond: demandsTwoFingers ? all : nil
        )
        return Scan(loop: loop, info: info, enrollment: enrollment, store: store, kept: kept)
    }

    func outcome(of scan: Scan, _ entry: PromptEntry) async -> PromptRace.Outcome {
        do throws(ServiceError) {
            let success = try await scan.loop.scan(entry)
            scan.kept.take(success, for: scan.store)
            return .success(evaluation(success, scan.info, scan.enrollment, isReused: false))
        } catch {
            return .failure(error)
        }
    }

    private func evaluation(
        _ success: ScanLoop.Success,
        _ info: ReaderInfo,
        _ enrollment: EnrollmentState,
        isReused: Bool
    ) -> Evaluation {
        Evaluation(
            method: .biometry,
            finger: success.match.finger,
            domainState: enrollment.digest,
            isReused: isReused,
            readerKind: info.kind,
            strength: TouchStrength(
                reader: info.id,
                isMatchedOnChip: info.storage == .reader,
                hasTwoFingers: success.hasTwoFingers
            ),
            print: success.match.print
        )
    }

    /// The reuse window, which is zero if two fingers are required, because only one match is remembered.
    private var window: Duration { demandsTwoFingers ? .zero : min(request.reuse, ReuseWindow.longest) }

    /// The strengths that the machine and the item require for a touch.
    private var strengths: [TouchStrength] {
        var ofMachine = engine.strength
        if request.waived.hasPasscode { ofMachine.hasPasscode = false }
        if request.waived.hasTwoFingers { ofMachine.hasTwoFingers = false }
        return [ofMachine, request.strength]
    }

    /// Returns an evaluation; throws if its touch is weaker than required.
    ///
    /// It never throws in practice, because each requirement has already been checked.
    private func checked(_ evaluation: Evaluation) throws(ServiceError) -> Evaluation {
        guard evaluation.method == .passcode || strengths.allSatisfy(evaluation.strength.meets) else {
            throw ServiceError(.authenticationFailed, cause: "the touch was weaker than required")
        }
        return evaluation
    }

    private var demandsTwoFingers: Bool { strengths.contains(where: \.hasTwoFingers) }
}

extension ServiceError {
    /// The error for incomplete facts.
    ///
    /// It never occurs in practice, because the plan made from the same facts already refuses the evaluation. It
    /// ensures that an evaluation is refused even if that plan is wrong.
    fileprivate static let incompleteFacts = ServiceError(
        .biometryNotAvailable,
        cause: "the facts are incomplete"
    )
}
