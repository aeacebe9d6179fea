// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlIPC
import WhorlService

/// Questions about the owner, asked of a service.
struct RemoteOwner: OwnerService {
    let client: ServiceClient

    func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight {
        do throws(ServiceError) {
            return try await client.call(
                OwnerInterface.preflight,
                .init(policy: policy, application: application)
            ).parameters
        } catch {
            return Preflight(obstacle: error, hasReader: false, readerKind: nil, domainState: nil)
        }
    }

    func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        let asking = await OwnerInterface.Asking(request, client)
        return try await client.callPrompting(
            OwnerInterface.evaluate,
            asking,
            presenter: presenter
        ).parameters
    }

    func isOptedOut(_ application: ApplicationID) async throws(ServiceError) -> Bool {
        try await client.call(OwnerInterface.isOptedOut, .init(application)).parameters.value
    }

    func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        _ = try await client.callPrompting(
            OwnerInterface.setOptedOut,
            .init(application: application, isOptedOut: optedOut, request: request),
            presenter: presenter
        )
    }
}

extension OwnerInterface.Asking {
    /// Names the request's session at the service, which is begun if there is none.
    init(_ request: EvaluationRequest, _ client: ServiceClient) async {
        self.init(request: request, session: await RemoteSession.id(of: request.session, client))
    }
}

/// The owner's passcode, which a service compares.
struct RemotePasscode: PasscodeService {
    let client: ServiceClient

    func isSet() async throws(ServiceError) -> Bool {
        try await client.call(PasscodeInterface.isSet, NoValue()).parameters.value
    }

    func askForFinger(
        _ request: ConsentRequest,
        in session: OwnerSession,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        let asking = PasscodeInterface.Asking(
            request: request,
            session: await RemoteSession.id(of: session, client)
        )
        _ = try await client.callPrompting(PasscodeInterface.askForFinger, asking, presenter: presenter)
    }

    func set(
        _ passcode: SecretBox,
        _ request: ConsentRequest,
        shown session: OwnerSession
    ) async throws(ServiceError) {
        let id = await RemoteSession.id(of: session, client)
        var attachments = Attachments()
        let place: Int = try attachments.add(passcode)
        _ = try await client.call(
            PasscodeInterface.set,
            .init(passcode: place, request: request, session: id),
            attachments
        )
    }

    func change(
        to new: SecretBox,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        var attachments = Attachments()
        let place: Int = try attachments.add(new)
        _ = try await client.callPrompting(
            PasscodeInterface.change,
            .init(new: place, request: request),
            attachments,
            presenter: presenter
        )
    }

    func itemsLostWithout() async throws(ServiceError) -> [ItemID] {
        try await client.call(PasscodeInterface.itemsLostWithout, NoValue()).parameters.value
    }

    func remove(
        force: Bool,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> [ItemID] {
        try await client.callPrompting(
            PasscodeInterface.remove,
            .init(force: force, request: request),
            presenter: presenter
        ).parameters
    }
}
