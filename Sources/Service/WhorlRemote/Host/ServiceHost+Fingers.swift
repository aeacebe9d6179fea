// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import WhorlFingerprint
import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    func addFingers(_ router: inout Router) {
        onFingers(&router, FingerInterface.list) { (_, fingers, _) async throws(EnrollmentError) in
            Valued(try await fingers.fingers())
        }
        onFingers(&router, FingerInterface.state) {
            (application, fingers, confinement) async throws(EnrollmentError) in
            Optionally(try await fingers.state(for: confinement.application(application.value)))
        }
        onFingers(&router, FingerInterface.difference) {
            (asked, fingers, confinement) async throws(EnrollmentError) in
            try await fingers.difference(
                since: asked.digest,
                for: confinement.application(asked.application)
            )
        }
        onFingers(&router, FingerInterface.acceptable) { (_, fingers, _) async throws(EnrollmentError) in
            Optionally(try await fingers.acceptable())
        }
        router.on(FingerInterface.reconcile) { (_, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let confinement = try rules.confinement(of: call.client)
            return try await refusing { () async throws(FingerChangeError) in
                guard confinement == .none else { throw .owner(.confined) }
                return Optionally(try await services.fingers.reconcile()?.shown(to: services.profile))
            }
        }
        prompting(&router, FingerInterface.enroll) {
            (asked, services, call, presenter) async throws(ServiceRefusal) in
            try await mayEnroll(asked, services, call, presenter)
            let finger = try await refusing(presenter) { () async throws(FingerChangeError) in
                try await services.fingers.enroll(asked.finger, request(asked.request), presenter: presenter)
                {
                    presenter.report($0)
                }
            }
            return (finger, Attachments())
        }
        prompting(&router, FingerInterface.remove) {
            (asked, services, _, presenter) async throws(ServiceRefusal) in
            let removed = try await refusing(presenter) { () async throws(FingerChangeError) in
                try await services.fingers.remove(
                    asked.selection,
                    force: asked.force,
                    request(asked.request),
                    presenter: presenter
                )
            }
            return (removed, Attachments())
        }
        prompting(&router, FingerInterface.accept) {
            (asked, services, _, presenter) async throws(ServiceRefusal) in
            let accepted = try await refusing(presenter) { () async throws(FingerChangeError) in
                try await services.fingers.accept(request(asked), presenter: presenter)
            }
            return (Optionally(accepted), Attachments())
        }
    }

    private func onFingers<Parameters, Reply, Failure: RemoteFailure>(
        _ router: inout Router,
        _ method: ServiceMethod<Parameters, Reply>,
        _ body:
            @escaping @Sendable (Parameters, any FingerService, Confinement) async throws(Failure) -> Reply
    ) {
        router.on(method) { (parameters, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let confinement = try rules.confinement(of: call.client)
            return try await refusing { () async throws(Failure) in
                try await body(parameters, services.fingers, confinement)
            }
        }
    }

    /// Refuses to enroll from a place without a reader, and a first finger that the system's rules do not allow.
    ///
    /// A further finger, and a first one where a passcode is set, need the owner's consent instead, for which the engine
    /// asks.
    private func mayEnroll(
        _ asked: FingerInterface.Enrolling,
        _ services: Services,
        _ call: ServiceCall,
        _ presenter: some PromptPresenter
    ) async throws(ServiceRefusal) {
        if let obstacle = asked.request.fingerObstacle { throw FingerChangeError.owner(obstacle).refusal }
        guard try await isWithoutOwner(services) else { return }
        do throws(AuthenticationError) {
            try await rules.authorize(.enroll, call.client, mayAsk: await presenter.isInteractive)
        } catch {
            throw FingerChangeError.owner(error).refusal
        }
    }
}

extension AuthenticationError {
    /// The error of a confined program that asks about the prints of a reader.
    fileprivate static let confined = AuthenticationError(
        .notInteractive,
        message: "A confined program has no part in what a reader stores.",
        recovery: "Use `whorl` outside of the sandbox."
    )
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
    func addTakeOver(_ router: inout Router, _ logins: LoginAccess) {
        router.on(LoginInterface.takeOver) { (asked, call) async throws(ServiceRefusal) in
            try logins.check(call)
            let prints = try prints(asked, call)
            let caller = await rules.caller(call.client)
            let outcome = await Result { () async throws(FingerChangeError) in
                try await logins.takeOver(asked.user, prints, asked.isTrial)
            }.mapError(\.refusal)
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
