// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlFingerprint
import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    func addFingers(_ router: inout GuardedRouter) {
        asking(&router, FingerInterface.list) {
            (_, services) async throws(ServiceError) in
            Valued(try await services.fingers.fingers())
        }
        asking(&router, FingerInterface.state) {
            (application, services) async throws(ServiceError) in
            Optionally(try await services.fingers.state(for: application.value))
        }
        asking(&router, FingerInterface.difference) {
            (asked, services) async throws(ServiceError) in
            try await services.fingers.difference(since: asked.digest, for: asked.application)
        }
        asking(&router, FingerInterface.acceptable) {
            (_, services) async throws(ServiceError) in
            Optionally(try await services.fingers.acceptable())
        }
        asking(&router, FingerInterface.reconcile) {
            (_, services) async throws(ServiceError) in
            Optionally(try await services.fingers.reconcile()?.shown(to: services.profile))
        }
        addFingerChanges(&router)
    }

    private func addFingerChanges(_ router: inout GuardedRouter) {
        prompting(&router, FingerInterface.enroll) {
            (asked, services, call, presenter) async throws(ServiceRefusal) in
            let request = try enrolling(asked.request, call, presenter)
            let finger = try await refusing(
                presenter,
                await services.fingers.enroll(asked.finger, request, presenter: presenter) {
                    presenter.report($0)
                }
            )
            return (finger, Attachments())
        }
        prompting(&router, FingerInterface.remove) {
            (asked, services, _, presenter) async throws(ServiceRefusal) in
            let removed = try await refusing(
                presenter,
                await services.fingers.remove(
                    asked.selection,
                    force: asked.force,
                    request(asked.request),
                    presenter: presenter
                )
            )
            return (removed, Attachments())
        }
        prompting(&router, FingerInterface.accept) {
            (asked, services, _, presenter) async throws(ServiceRefusal) in
            let accepted = try await refusing(
                presenter,
                await services.fingers.accept(request(asked), presenter: presenter)
            )
            return (Optionally(accepted), Attachments())
        }
        prompting(&router, FingerInterface.exercise) {
            (asked, services, call, presenter) async throws(ServiceRefusal) in
            try checkClearing(asked.exercise, call)
            let request = try enrolling(asked.request, call, presenter)
            let results = try await refusing(
                presenter,
                await services.fingers.exercise(asked.exercise, request, presenter: presenter) {
                    presenter.report($0)
                }
            )
            return (results, Attachments())
        }
    }

    /// The storage of a reader has the prints of all users and systems, so only root may clear it.
    private func checkClearing(_ exercise: ReaderExercise, _ call: ServiceCall) throws(ServiceRefusal) {
        guard exercise.clearsStorage, call.client.user.uid != 0 else { return }
        throw ServiceError(
            .notPermitted,
            message: "Only root may delete all prints in the reader.",
            recovery: "Run `sudo whorl devices exercise --clear-storage`.",
            cause: "the reader keeps the prints of all users"
        ).refusal
    }

    /// Returns a request to use the reader, with the system's rules for a first finger.
    ///
    /// A further finger, and a first one where a passcode is set, need the owner's consent instead. Which of them it is
    /// the engine decides, with the state of the fingers that its consent is for.
    private func enrolling(
        _ asked: ConsentRequest,
        _ call: ServiceCall,
        _ presenter: some PromptPresenter
    ) throws(ServiceRefusal) -> ConsentRequest {
        if let obstacle = asked.obstacle ?? asked.fingerObstacle { throw obstacle.refusal }
        var request = request(asked)
        request.allowsFirst = { [rules] () async throws(ServiceError) in
            try await rules.authorize(.enroll, call.client, mayAsk: await presenter.isInteractive)
        }
        return request
    }
}

extension ReaderReconciliation {
    /// Returns the comparison for a user, who is not told whose a print of another user is.
    fileprivate func shown(to profile: String) -> ReaderReconciliation {
        ReaderReconciliation(
            finished: finished,
            strays: strays.map { $0.shown(to: profile) },
            missing: missing,
            isListed: isListed
        )
    }
}

extension ServiceHost {
    /// The most prints in one call: all fingers on several readers.
    private static let mostPrints = 64

    /// Adds the call with which root brings prints of another program.
    func addTakeOver(_ router: inout GuardedRouter, _ logins: LoginAccess) {
        router.on(LoginInterface.takeOver) {
            (asked, call) async throws(ServiceRefusal) in
            let prints = try prints(asked, call)
            let caller = await rules.caller(call.client)
            let outcome = await Result<_, ServiceError>(
                of: try await logins.takeOver(asked.user, prints, asked.isTrial, asked.readersWereClosed)
            ).mapError(\.refusal)
            let change = asked.isTrial ? "see which prints could be taken over" : "take over prints"
            let purpose = CallPurpose(
                application: "whorl import-fprintd",
                text: "\(change) for user \(asked.user), \(prints.count) of them"
            )
            rules.record(CallRecord(LoginInterface.takeOver.name, purpose, outcome), of: caller)
            return Valued(try outcome.get())
        }
    }

    private func prints(
        _ asked: LoginInterface.TakingOverCall,
        _ call: ServiceCall
    ) throws(ServiceRefusal) -> [ForeignPrint] {
        guard asked.prints.count <= Self.mostPrints else { throw .invalidParameter("prints") }
        let bytes = try call.secret(at: asked.bytes)
        var begin = 0
        var prints: [ForeignPrint] = []
        for print in asked.prints {
            guard print.size > 0, print.size <= bytes.count - begin else { throw .invalidParameter("prints") }
            let template = bytes.withUnsafeBytes { Template(bytes: Array($0[begin..<begin + print.size])) }
            begin += print.size
            prints.append(
                ForeignPrint(
                    finger: print.finger,
                    driver: print.driver,
                    number: print.number,
                    template: template
                )
            )
        }
        guard begin == bytes.count else { throw .invalidParameter("bytes") }
        return prints
    }
}
