// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlFingerprint
import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    func addFingers(_ router: inout GuardedRouter) {
        router.on(ReconcileReader.self) { (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let reconciled: ReaderReconciliation? = try await refusing(await services.ask(asked))
            return Optionally(reconciled?.shown(to: services.profile))
        }
        prompting(&router, EnrollFinger.self) { (asked, _, call, presenter) async throws(ServiceRefusal) in
            var enroll = asked
            enroll.request = try enrolling(asked.request, call, presenter)
            return enroll
        }
        router.onPrompting(EnrollFingerFor.self) { (asked, call) async throws(ServiceRefusal) in
            try await answer(asked, call) { (operation, presenter) async throws(ServiceRefusal) in
                try await enroll(operation, call, presenter)
            }
        }
        prompting(&router, ExerciseReader.self) { (asked, _, call, presenter) async throws(ServiceRefusal) in
            try checkClearing(asked.exercise, call)
            var exercise = asked
            exercise.request = try enrolling(asked.request, call, presenter)
            return exercise
        }
    }

    /// Enrolls the first finger of another user.
    ///
    /// Whether that user exists, or has fingers, is said only to those who may enroll others.
    private func enroll(
        _ asked: EnrollFingerFor,
        _ call: ServiceCall,
        _ presenter: WirePresenter<EnrolledFinger>
    ) async throws(ServiceRefusal) -> EnrolledFinger {
        if let obstacle = asked.request.obstacle ?? asked.request.fingerObstacle { throw obstacle.refusal }
        guard let logins else {
            throw ServiceError(.notPermitted, cause: "this service enrolls its own user only").refusal
        }
        try await refusing(
            presenter,
            await rules.authorize(.enrollOthers, call.client, mayAsk: await presenter.isInteractive)
        )
        return try await refusing(presenter, await logins.enroll(asked) { presenter.report($0) })
    }

    /// Checks that only root clears a reader, because it stores the prints of all users and systems.
    private func checkClearing(_ exercise: ReaderExercise, _ call: ServiceCall) throws(ServiceRefusal) {
        guard exercise.clearsStorage, call.client.user.uid != 0 else { return }
        throw ServiceError(
            .notPermitted,
            message: "Only root can delete all prints in the reader.",
            recovery: "Run `sudo whorl devices exercise --clear-storage`.",
            cause: "the reader stores the prints of all users"
        ).refusal
    }

    /// Returns a request to use the reader to which the system's rules for enrolling a first finger are added.
    ///
    /// Another finger, or the first one while a passcode is set, requires the owner's consent instead. The engine
    /// decides which case applies, based on the same state of the fingers that the consent is for.
    private func enrolling(
        _ asked: ConsentRequest,
        _ call: ServiceCall,
        _ presenter: some PromptPresenter
    ) throws(ServiceRefusal) -> ConsentRequest {
        if let obstacle = asked.obstacle ?? asked.fingerObstacle { throw obstacle.refusal }
        var request = asked
        request.allowsFirst = { [rules] () async throws(ServiceError) in
            try await rules.authorize(.enroll, call.client, mayAsk: await presenter.isInteractive)
        }
        return request
    }
}

extension ReaderReconciliation {
    /// Returns the comparison, without the owners of other users' prints.
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
    /// The maximum number of prints in one call, which is enough for all fingers on several readers.
    private static let mostPrints = 64

    /// Adds the method by which root imports another program's prints.
    func addTakeOver(_ router: inout GuardedRouter, _ logins: LoginAccess) {
        router.on(LoginInterface.TakeOver.self) {
            (asked, call) async throws(ServiceRefusal) in
            let prints = try prints(asked)
            let caller = await rules.caller(call.client)
            let outcome = await Result<_, ServiceError>(
                of: try await logins.takeOver(asked.user, prints, asked.isTrial, asked.readersWereClosed)
            ).mapError(\.refusal)
            let change = asked.isTrial ? "see which prints could be taken over" : "take over prints"
            let purpose = CallPurpose(
                application: "whorl import-fprintd",
                text: "\(change) for user \(asked.user), \(prints.count) of them"
            )
            rules.record(CallRecord(LoginInterface.TakeOver.name, purpose, outcome), of: caller.asker)
            return Valued(try outcome.get())
        }
    }

    private func prints(
        _ asked: LoginInterface.TakeOver
    ) throws(ServiceRefusal) -> [ForeignPrint] {
        guard asked.prints.count <= Self.mostPrints else { throw .invalidParameter("prints") }
        let count = asked.bytes.bytes.count
        var begin = 0
        var prints: [ForeignPrint] = []
        for print in asked.prints {
            guard print.size > 0, print.size <= count - begin else { throw .invalidParameter("prints") }
            let template = asked.bytes.bytes.withUnsafeBytes {
                Template(bytes: Array($0[begin..<begin + print.size]))
            }
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
        guard begin == count else { throw .invalidParameter("bytes") }
        return prints
    }
}
