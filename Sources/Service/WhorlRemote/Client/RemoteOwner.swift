// SPDX-License-Identifier: Apache-2.0

import SecretMemory
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

    func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) {
        _ = try await client.callPrompting(
            OwnerInterface.setOptedOut,
            .init(application: application, isOptedOut: optedOut, request: request),
            presenter: presenter,
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

/// The owner's passcode, which a service compares.
struct RemotePasscode: PasscodeService {
    let client: ServiceClient

    func isSet() async throws(VaultError) -> Bool {
        try await client.call(PasscodeInterface.isSet, NoValue(), failing: VaultError.self).parameters.value
    }

    func askForFinger(
        _ request: ConsentRequest,
        in session: OwnerSession,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) {
        let asking = PasscodeInterface.Asking(
            request: request,
            session: await RemoteSession.id(of: session, client)
        )
        _ = try await client.callPrompting(
            PasscodeInterface.askForFinger,
            asking,
            presenter: presenter,
            failing: AuthenticationError.self
        )
    }

    func set(
        _ passcode: SecretBox,
        _ request: ConsentRequest,
        shown session: OwnerSession
    ) async throws(VaultError) {
        let id = await RemoteSession.id(of: session, client)
        let (place, attachments) = try attachedSecret(passcode, failing: VaultError.self)
        _ = try await client.call(
            PasscodeInterface.set,
            .init(passcode: place, request: request, session: id),
            attachments,
            failing: VaultError.self
        )
    }

    func change(
        to new: SecretBox,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) {
        let (place, attachments) = try attachedSecret(new, failing: ReleaseError.self)
        _ = try await client.callPrompting(
            PasscodeInterface.change,
            .init(new: place, request: request),
            attachments,
            presenter: presenter,
            failing: ReleaseError.self
        )
    }

    func itemsLostWithout() async throws(VaultError) -> [ItemID] {
        try await client.call(PasscodeInterface.itemsLostWithout, NoValue(), failing: VaultError.self)
            .parameters.value
    }

    func remove(
        force: Bool,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> [ItemID] {
        try await client.callPrompting(
            PasscodeInterface.remove,
            .init(force: force, request: request),
            presenter: presenter,
            failing: ReleaseError.self
        ).parameters
    }
}

/// Puts one secret beside a message.
func attachedSecret<Failure: RemoteFailure>(
    _ secret: SecretBox,
    failing: Failure.Type
) throws(Failure) -> (Int, Attachments) {
    try attached(failing: Failure.self) { (all) throws(SecretDescriptor.Fault) in
        try all.add(secret) as Int
    }
}
