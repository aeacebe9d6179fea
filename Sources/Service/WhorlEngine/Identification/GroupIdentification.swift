// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import WhorlStateStore
import Synchronization
package import WhorlService
import WhorlSupport

/// Identifies which of several users is touching the reader.
///
/// Attempts are counted for the requesting engine and not for the users, because otherwise a stranger at the reader
/// could lock out all of them. They are counted separately from attempts with that engine's own fingers.
package struct GroupIdentification: Sendable {
    /// The engine in whose state the attempts are counted.
    ///
    /// Its own fingers are not compared.
    let asker: AuthenticationEngine
    /// Each user's engine, with the user ID.
    let people: [(user: UInt32, engine: AuthenticationEngine)]
    let rules: GroupRules

    package init(
        asker: AuthenticationEngine,
        people: [(user: UInt32, engine: AuthenticationEngine)],
        rules: GroupRules
    ) {
        self.asker = asker
        self.people = people
        self.rules = rules
    }

    /// A user whose fingers are compared.
    private struct Member: Sendable {
        let user: UInt32
        let engine: AuthenticationEngine
        let fingers: EnrollmentSnapshot
        let database: StateDatabase
    }

    /// Waits for a touch, and returns the user whose finger it was.
    ///
    /// - Parameters:
    ///   - request: The request. Its policy and its reuse window are ignored.
    ///   - presenter: Shows the prompt.
    /// - Returns: The user who touched the reader.
    /// - Throws: `invalidContext` if there are more users than the machine allows or a stranger would be mistaken for
    ///   one of them too often; `biometryNotEnrolled` if no user's fingers can be compared; otherwise the errors of an
    ///   evaluation.
    package func identify(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> IdentifiedPerson {
        guard !DisplayText.isBlank(request.reason) else { throw ServiceError(.reasonMissing) }
        let numbers = Set(people.map(\.user))
        guard numbers.count <= rules.mostPeople else { throw .tooManyPeople(numbers.count, rules) }
        guard numbers.count == people.count else {
            throw ServiceError(.invalidContext, cause: "a user is listed twice")
        }
        if let obstacle = request.fingerObstacle { throw obstacle }
        return try await asker.interruptions.run { run async throws(ServiceError) in
            do throws(ServiceError) {
                return try await identify(request, presenter)
            } catch {
                throw run.meaning(of: error)
            }
        }
    }

    private func identify(
        _ request: EvaluationRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> IdentifiedPerson {
        guard let reader = try await asker.reader() else {
            throw ServiceError(.biometryNotAvailable, cause: "no reader is connected")
        }
        let info = await reader.info
        guard info.features.contains(.identify) else {
            throw ServiceError(.readerUnsupported, cause: "the reader compares with one print at a time")
        }
        let (members, leftOut) = await self.members(request.application)
        let gallery = members.flatMap { $0.fingers.gallery(on: info.id) }
        guard !gallery.isEmpty else { throw ServiceError(.biometryNotEnrolled) }
        let chance = FalseMatchRate.among(prints: gallery.count, at: info.strength)
        guard rules.strangerOneIn <= 1 || chance.map({ $0 * Double(rules.strangerOneIn) <= 1 }) == true else {
            throw .strangersMatchTooOften(chance, rules)
        }
        guard request.interactionAllowed, await presenter.isInteractive else {
            throw ServiceError(.notInteractive)
        }
        let bookkeeping = try await bookkeeping(request, info)
        let found = try await match(reader, gallery, members, bookkeeping, request, presenter)
        return IdentifiedPerson(user: found.user, finger: found.finger, chance: chance, leftOut: leftOut)
    }

    /// Separates the users whose fingers can be compared now from the others.
    private func members(
        _ application: ApplicationID
    ) async -> (members: [Member], leftOut: [IdentifiedPerson.LeftOut]) {
        // One touch suggests who it is; the second finger and the passcode are for proving it.
        let ofReader = TouchStrength(
            reader: asker.strength.reader,
            isMatchedOnChip: asker.strength.isMatchedOnChip
        )
        var members: [Member] = []
        var leftOut: [IdentifiedPerson.LeftOut] = []
        for (user, engine) in people {
            let facts = await engine.preflightFacts(for: application, demanding: [ofReader])
            if let obstacle = facts.preconditions.biometryObstacle {
                leftOut.append(.init(user: user, reason: obstacle.code))
            } else if let fingers = facts.fingers, let database = facts.database {
                members.append(Member(user: user, engine: engine, fingers: fingers, database: database))
            }
        }
        return (members, leftOut)
    }

    /// Returns the records of the identification, whose attempts are counted separately from the asker's own.
    private func bookkeeping(
        _ request: EvaluationRequest,
        _ info: ReaderInfo
    ) async throws(ServiceError) -> EvaluationBookkeeping {
        EvaluationBookkeeping(
            database: try await asker.state.created(),
            profile: asker.profile + " (identify)",
            application: request.application,
            reader: info,
            reason: request.reason,
            // No passcode ends this lock.
            lockEndsByTime: true,
            rules: asker.rules,
            time: asker.time,
            asker: request.asker
        )
    }

    private func match(
        _ reader: any FingerprintReader,
        _ gallery: [GalleryEntry],
        _ members: [Member],
        _ bookkeeping: EvaluationBookkeeping,
        _ request: EvaluationRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> IdentifiedFinger {
        let info = await reader.info
        let timeout = min(max(request.timeout, .zero), EvaluationSession.longestTimeout)
        return try await asker.withReader(reader, bookkeeping, within: timeout) {
            isTooEarly async throws(ServiceError) in
            let source = TouchSource(
                reader: reader,
                gallery: gallery,
                identifies: true,
                timeout: timeout,
                obstacle: asker.obstacle,
                isTooEarly: isTooEarly
            )
            return try await show(source, info, members, bookkeeping, request, presenter)
        }
    }

    /// Shows the prompt, and waits for touches at the same time.
    private func show(
        _ source: TouchSource,
        _ info: ReaderInfo,
        _ members: [Member],
        _ bookkeeping: EvaluationBookkeeping,
        _ request: EvaluationRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> IdentifiedFinger {
        let found = Mutex<IdentifiedFinger?>(nil)
        let prompt = asker.texts.prompt(for: request, asker.limits, at: info, hasPasscode: false)
        let outcome = await PromptRace(prompt: prompt, presenter: presenter).result { entry in
            do throws(ServiceError) {
                let finger = try await TouchLoop(bookkeeping: bookkeeping, allowed: ScanLoop.tries)
                    .firstSuccess(
                        entry,
                        touch: { await source.next(entry) },
                        settle: { print, _ async throws(ServiceError) in
                            .success(try await settle(print, members, bookkeeping))
                        }
                    )
                found.withLock { $0 = finger }
                return .success(finger.evaluation(at: info))
            } catch {
                return .failure(error)
            }
        }
        _ = try outcome.get()
        guard let finger = found.withLock(\.self) else {
            throw ServiceError(.systemCancel, cause: "the prompt ended before a user was identified")
        }
        return finger
    }

    /// Records a match for the asker and for the user if the user's finger is still enrolled.
    private func settle(
        _ print: PrintID,
        _ members: [Member],
        _ bookkeeping: EvaluationBookkeeping
    ) async throws(ServiceError) -> IdentifiedFinger {
        guard let member = members.first(where: { $0.fingers.finger(of: print) != nil }),
            let finger = member.fingers.finger(of: print)
        else { throw await bookkeeping.refuse(unknown: print) }
        guard !Task.isCancelled else {
            await bookkeeping.release()
            throw ServiceError(.appCancel)
        }
        guard try await note(finger, print, of: member, bookkeeping) else {
            await bookkeeping.release()
            throw .enrollmentChangedMeanwhile
        }
        try await bookkeeping.settleIdentified()
        return IdentifiedFinger(user: member.user, finger: finger)
    }

    /// Writes a line to the user's log; returns `false` if the finger is no longer enrolled.
    private func note(
        _ finger: Finger,
        _ print: PrintID,
        of member: Member,
        _ bookkeeping: EvaluationBookkeeping
    ) async throws(ServiceError) -> Bool {
        let entry = AuditEntry(
            at: bookkeeping.time.now().date,
            profile: member.engine.profile,
            application: bookkeeping.application.rawValue,
            event: .evaluation,
            outcome: "identified",
            finger: finger,
            reader: bookkeeping.reader?.id,
            detail: bookkeeping.reason,
            asker: bookkeeping.asker
        )
        do throws(ServiceError) {
            return try await member.database.write { [fingers = member.fingers] db in
                guard try fingers.isEnrolled(print, in: db) else { return false }
                try AuditLog.append(entry, in: db)
                return true
            }
        } catch {
            await bookkeeping.release()
            throw error
        }
    }
}

/// A user's finger that matched.
private struct IdentifiedFinger: Sendable {
    let user: UInt32
    let finger: Finger

    /// Returns the success that ends the prompt; it is not used for anything else.
    func evaluation(at reader: ReaderInfo) -> Evaluation {
        Evaluation(
            method: .biometry,
            finger: finger,
            domainState: nil,
            isReused: false,
            readerKind: reader.kind
        )
    }
}
