// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

/// Questions about the owner, asked of a service.
struct RemoteOwner: OwnerService {
    let client: ServiceClient

    func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight {
        do throws(AuthenticationError) {
            return try await client.call(
                OwnerInterface.preflight,
                .init(policy: policy, application: application),
                failing: AuthenticationError.self
            ).parameters
        } catch {
            return Preflight(obstacle: error, hasReader: false, readerKind: nil, domainState: nil)
        }
    }

    func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) -> Evaluation {
        let asking = await OwnerInterface.Asking(request, client)
        return try await client.callPrompting(
            OwnerInterface.evaluate,
            asking,
            presenter: presenter,
            failing: AuthenticationError.self
        ).parameters
    }

    func isOptedOut(_ application: ApplicationID) async throws(AuthenticationError) -> Bool {
        try await client.call(
            OwnerInterface.isOptedOut,
            .init(application),
            failing: AuthenticationError.self
        ).parameters.value
    }

    func setOptedOut(_ optedOut: Bool, for application: ApplicationID) async throws(AuthenticationError) {
        _ = try await client.call(
            OwnerInterface.setOptedOut,
            .init(application: application, isOptedOut: optedOut),
            failing: AuthenticationError.self
        )
    }
}

extension OwnerInterface.Asking {
    /// Names the request's session at the service, which is begun if there is none.
    init(_ request: EvaluationRequest, _ client: ServiceClient) async {
        self.init(request: request, session: await RemoteSession.id(of: request.session, client))
    }
}
