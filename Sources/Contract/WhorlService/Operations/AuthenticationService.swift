// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import WhorlSecretMemory

/// The operations that `LAContext` and the keychain need, as methods.
///
/// The engine and the test devices conform to it.
package protocol AuthenticationService: Sendable {
    /// Performs ``PreflightPolicy``.
    func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight

    /// Performs ``EvaluatePolicy``.
    func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation

    /// Performs ``IsOptedOut``.
    func isOptedOut(_ application: ApplicationID) async throws(ServiceError) -> Bool

    /// Performs ``SetOptedOut``.
    func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError)

    /// Performs ``MakeItem``.
    func make(
        _ item: NewItem,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem

    /// Performs ``ReadChipIdentity``.
    func chipIdentity() async throws(ServiceError) -> ChipIdentity

    /// Performs ``MakeAttestedKey``.
    func makeKey(
        access: AccessControl,
        attestedFor credential: ChipCredential
    ) async throws(ServiceError) -> AttestedKey

    /// Performs ``DecodeItem``.
    func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem

    /// Performs ``CheckItems``.
    func standing(of items: [SealedItem]) async throws(ServiceError) -> [VaultItem.Standing]

    /// Performs ``UseItem``.
    func use(
        _ item: ProtectedItem,
        for use: ItemUse,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct>
}

/// Default implementations for a service whose TPM has no certificate, such as a test device.
extension AuthenticationService {
    /// Throws `noEndorsement`.
    package func chipIdentity() async throws(ServiceError) -> ChipIdentity {
        throw ServiceError(.noEndorsement)
    }

    /// Throws `noEndorsement`.
    package func makeKey(
        access _: AccessControl,
        attestedFor _: ChipCredential
    ) async throws(ServiceError) -> AttestedKey {
        throw ServiceError(.noEndorsement)
    }
}

extension AuthenticationService {
    /// The service's handlers.
    package var handlers: HandlerTable {
        var table = HandlerTable(decoding: sealedItem)
        table.on(preflight)
        table.on(evaluate)
        table.on(isOptedOut)
        table.on(setOptedOut)
        table.on(make)
        table.on(chipIdentity)
        table.on(makeKey)
        table.on(decode)
        table.on(standing)
        table.on(use)
        return table
    }

    private func preflight(_ asked: PreflightPolicy) async -> Preflight {
        await preflight(asked.policy, for: asked.application)
    }

    private func evaluate(
        _ asked: EvaluatePolicy,
        _ prompter: Prompter
    ) async throws(ServiceError) -> Evaluation {
        try await evaluate(asked.request, presenter: prompter.presenter)
    }

    private func isOptedOut(_ asked: IsOptedOut) async throws(ServiceError) -> Bool {
        try await isOptedOut(asked.application)
    }

    private func setOptedOut(
        _ asked: SetOptedOut,
        _ prompter: Prompter
    ) async throws(ServiceError) -> Valued<Bool> {
        try await setOptedOut(
            asked.isOptedOut,
            for: asked.application,
            asked.request,
            presenter: prompter.presenter
        )
        return Valued(asked.isOptedOut)
    }

    private func make(_ asked: MakeItem) async throws(ServiceError) -> AttachedItem {
        AttachedItem(
            try await make(asked.item, access: asked.access, applicationPassword: asked.applicationPassword)
        )
    }

    private func chipIdentity(_: ReadChipIdentity) async throws(ServiceError) -> ChipIdentity {
        try await chipIdentity()
    }

    private func makeKey(_ asked: MakeAttestedKey) async throws(ServiceError) -> AttestedKey {
        try await makeKey(access: asked.access, attestedFor: asked.credential)
    }

    private func decode(_ asked: DecodeItem) throws(ServiceError) -> AttachedItem {
        AttachedItem(try sealedItem(encoded: asked.encoded.bytes.withUnsafeBytes { Data($0) }))
    }

    private func standing(_ asked: CheckItems) async throws(ServiceError) -> [VaultItem.Standing] {
        try await standing(of: asked.items.map(\.item))
    }

    private func use(
        _ asked: UseItem,
        _ prompter: Prompter
    ) async throws(ServiceError) -> Released<ItemProduct> {
        try await use(asked.item, for: asked.use, asked.release, presenter: prompter.presenter)
    }
}
