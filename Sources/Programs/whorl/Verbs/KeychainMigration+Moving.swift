// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlService

extension KeychainMigration {
    /// The settings for prompting the owner.
    struct Asking: Sendable {
        /// The maximum time to wait for a touch.
        let timeout: Duration
        /// Whether the user's own directory has a finger or a passcode by which to recognize the owner.
        let hasOwner: Bool
        /// Creates the presenter for one prompt.
        let presenter: @Sendable () -> any PromptPresenter
        /// Called with each successful evaluation.
        let onAnswer: @Sendable (Evaluation) -> Void
    }

    /// An item that was not moved, and the reason.
    struct Refused: Sendable {
        let item: KeychainItemName
        let failure: Failure
    }

    /// The result of one migration run.
    struct Outcome: Sendable {
        var moved: [KeychainItemName] = []
        var refused: [Refused] = []
    }

    /// The owner during one run.
    ///
    /// One touch or passcode counts for every item that it can unlock until it expires.
    private struct Owner {
        let session = OwnerSession()
        /// The time until which an answer counts for items that do not prompt themselves; `nil` before the first
        /// answer.
        var shownUntil: ContinuousClock.Instant?
        /// The error that explains why the owner was not recognized; once it is set, the owner is not prompted again.
        var refusal: ServiceError?
    }

    /// Moves the items of a plan, each after the owner has unlocked it.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - asking: The settings for prompting the owner.
    ///   - onMove: Called for each item that the service has stored.
    /// - Returns: The items that were moved, and those that were not.
    /// - Throws: An error if the run was cancelled, which ends it.
    func move(
        _ plan: KeychainMigrationPlan,
        _ asking: Asking,
        onMove: (KeychainItemName) -> Void
    ) async throws -> Outcome {
        var owner = Owner()
        var outcome = Outcome()
        for row in plan.moves {
            let name = KeychainItemName(row.record)
            do {
                try await move(row, asking, &owner)
                outcome.moved.append(name)
                onMove(name)
            } catch {
                let failure = Failure(error)
                guard !failure.isCancellation, failure.status != .userCancel else { throw error }
                outcome.refused.append(Refused(item: name, failure: failure))
            }
        }
        return outcome
    }

    private func move(_ row: KeychainRow, _ asking: Asking, _ owner: inout Owner) async throws {
        if let refusal = owner.refusal { throw refusal }
        guard let present = try await value(of: row) else { throw Failure.changedMeanwhile }
        let contents: NewKeychainContents
        switch (present, row.contents) {
        case (.value(let value), .encrypted):
            try await ask(asking, &owner)
            contents = .plain(value)
        case (.sealed, .sealed(let item)): contents = .sealed(try await resealed(item, asking, &owner))
        default: throw Failure.changedMeanwhile
        }
        let new = NewKeychainRow(row.record, contents)
        let rows = try keychain(row.record.accessGroup)
        let stored = try await blocking { try rows.add([new], replacing: []) }
        switch stored {
        case .stored: return
        case .taken: throw Failure.takenMeanwhile
        case .noPasscode: throw ServiceError(.passcodeNotSet, service.profile)
        case .stale, .groupRefused: throw Failure.changedMeanwhile
        }
    }

    /// Prompts the owner once for the items that do not prompt themselves, and again when that answer has expired.
    ///
    /// It authenticates the owner with the user's own directory, or with the service if the directory has neither a
    /// finger nor a passcode.
    private func ask(_ asking: Asking, _ owner: inout Owner) async throws {
        if let end = owner.shownUntil, ContinuousClock.now < end { return }
        var request = request(asking)
        if asking.hasOwner { request.session = owner.session }
        do throws(ServiceError) {
            let asked = asking.hasOwner ? own : service
            asking.onAnswer(try await asked.evaluate(request, presenter: asking.presenter()))
        } catch {
            owner.refusal = error
            throw error
        }
        owner.shownUntil = .now + ProofLimits.standard.unused
    }

    /// Opens an item from the user's own directory and seals it in the service with the same access control.
    ///
    /// The value is stored only in locked memory.
    private func resealed(
        _ item: SealedItem,
        _ asking: Asking,
        _ owner: inout Owner
    ) async throws -> SealedItem {
        var request = request(asking)
        request.session = owner.session
        let released: Released<SecretBox>
        do throws(ServiceError) {
            released = try await own.secret(
                in: .sealed(item),
                ReleaseRequest(request),
                presenter: asking.presenter()
            )
        } catch {
            // A refusal by the vault concerns only this item; a refusal by the owner concerns all that follow.
            if error.code.appleCode != nil { owner.refusal = error }
            throw error
        }
        for evaluation in released.evaluations { asking.onAnswer(evaluation) }
        return try await service.seal(released.product, access: item.access, applicationPassword: nil)
    }

    private func request(_ asking: Asking) -> EvaluationRequest {
        EvaluationRequest(
            policy: .deviceOwner,
            purpose: .storedByProgram,
            reason: "move the keychain items to the service",
            application: own.application,
            timeout: asking.timeout
        )
    }
}

extension Failure {
    /// The failure for an item that another program changed after the plan was created.
    fileprivate static let changedMeanwhile = Failure(
        code: "changedMeanwhile",
        message: "Another program changed the item during the migration.",
        recovery: "Run `whorl migrate` again to continue."
    )

    /// The failure for an item that another program stored in the service after the plan was created.
    fileprivate static let takenMeanwhile = Failure(
        code: "itemExists",
        status: .existsAlready,
        message: "The service already has this item; it was not changed.",
        recovery: "If it is not the right one, save it again from the program it belongs to."
    )
}
