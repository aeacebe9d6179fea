// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

extension ServiceHost {
    func addFingers(_ router: inout Router) {
        onFingers(&router, FingerInterface.list) { (_, fingers) async throws(EnrollmentError) in
            Valued(try await fingers.fingers())
        }
        onFingers(&router, FingerInterface.state) { (application, fingers) async throws(EnrollmentError) in
            Optionally(try await fingers.state(for: application.value))
        }
        onFingers(&router, FingerInterface.difference) { (asked, fingers) async throws(EnrollmentError) in
            try await fingers.difference(since: asked.digest, for: asked.application)
        }
        onFingers(&router, FingerInterface.acceptable) { (_, fingers) async throws(EnrollmentError) in
            Optionally(try await fingers.acceptable())
        }
        onFingers(&router, FingerInterface.reconcile) { (_, fingers) async throws(FingerChangeError) in
            Optionally(try await fingers.reconcile())
        }
        prompting(&router, FingerInterface.enroll) {
            (asked, services, _, presenter) async throws(ServiceRefusal) in
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
        _ body: @escaping @Sendable (Parameters, any FingerService) async throws(Failure) -> Reply
    ) {
        router.on(method) { (parameters, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            return try await refusing { () async throws(Failure) in
                try await body(parameters, services.fingers)
            }
        }
    }
}
