// SPDX-License-Identifier: Apache-2.0

internal import WhorlEngine
internal import Crypto
internal import WhorlStateStore
import WhorlEnrollment
package import Foundation
package import WhorlSecretMemory
package import WhorlService

// Protected items, with the same failures and the same prompts as a TPM's.
extension SimulatedMachine {
    package func make(
        _ item: NewItem,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        switch item {
        case .secret(let secret):
            let size = secret.bytes.count
            guard size > 0 else { throw ServiceError(.secretEmpty) }
            guard SecretSize.allowed.contains(size) else {
                throw ServiceError(.secretTooLarge, details: [.bytes: "\(size)"])
            }
            return try await keep(.secret(secret), access, applicationPassword)
        case .key: return try await keep(.key(P256.KeyAgreement.PrivateKey()), access, applicationPassword)
        }
    }

    package func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem {
        guard let item = SimulatedItem(encoded: encoded) else {
            throw ServiceError(.itemTampered, "sealed item", cause: "it does not belong to a test device")
        }
        return item.sealed
    }

    package func standing(of items: [SealedItem]) async throws(ServiceError) -> [VaultItem.Standing] {
        let now = await binding()
        return items.map { item in
            guard let entry = vault.entry(item) else { return .tampered }
            let isDead =
                entry.access.isDeadWithItsSet && entry.binding.fingers != now.fingers
            return isDead ? .enrollmentChanged : .valid
        }
    }

    private func keep(
        _ contents: TestVault.Contents,
        _ access: AccessControl,
        _ password: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        let now = await binding()
        if access.takesPasscode, now.passcode == nil { throw ServiceError(.passcodeNotSet, Self.profile) }
        if access.isBoundToCurrentSet, now.fingers == nil {
            throw .accessRefused(because: "no finger is enrolled")
        }
        if access.needsApplicationPassword, password == nil {
            throw ServiceError(.applicationPasswordNeeded, "sealed item")
        }
        return vault.keep(
            TestVault.Entry(
                access: access,
                contents: contents,
                applicationPassword: access.needsApplicationPassword ? password : nil,
                binding: now
            )
        )
    }

    package func use(
        _ item: ProtectedItem,
        for use: ItemUse,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct> {
        var request = request
        request.evaluation.purpose = item.purpose(named: request.evaluation.purpose, of: use)
        return switch use {
        case .secret: try await secret(in: item, request, presenter)
        case .signature(let digest): try await signature(over: digest, with: item, request, presenter)
        case .sharedSecret(let publicKey):
            try await sharedSecret(with: publicKey, of: item, request, presenter)
        }
    }

    private func secret(
        in item: ProtectedItem,
        _ request: ReleaseRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct> {
        let (contents, shown) = try await open(item, request, presenter)
        switch contents {
        case .secret(let secret): return Released(.secret(secret), after: shown)
        case .key: throw ServiceError(.noSuchItem, "sealed secret")
        }
    }

    private func signature(
        over digest: Data,
        with key: ProtectedItem,
        _ request: ReleaseRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct> {
        guard let hash = DigestBytes(digest) else {
            throw ServiceError(.digestWrongSize, details: [.bytes: "\(digest.count)"])
        }
        let (key, shown) = try await openKey(key, request, presenter)
        guard let signing = try? P256.Signing.PrivateKey(rawRepresentation: key.rawRepresentation),
            let raw = try? signing.signature(for: hash).rawRepresentation,
            let signature = Signature(raw: raw)
        else { throw ServiceError(.chipFailed) }
        return Released(.signature(signature), after: shown)
    }

    private func sharedSecret(
        with publicKey: Data,
        of key: ProtectedItem,
        _ request: ReleaseRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct> {
        let (key, shown) = try await openKey(key, request, presenter)
        guard let other = try? P256.KeyAgreement.PublicKey(x963Representation: publicKey),
            let product = try? key.sharedSecretFromKeyAgreement(with: other)
        else { throw ServiceError(.chipFailed, cause: "not a point on the curve") }
        let box = product.withUnsafeBytes { bytes in
            SecretBox(SecretBytes(count: bytes.count) { $0.copyMemory(from: bytes) })
        }
        return Released(.secret(box), after: shown)
    }

    private func openKey(
        _ item: ProtectedItem,
        _ request: ReleaseRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> (P256.KeyAgreement.PrivateKey, [Evaluation]) {
        let (contents, shown) = try await open(item, request, presenter)
        switch contents {
        case .key(let key): return (key, shown)
        case .secret: throw ServiceError(.noSuchItem, "sealed key")
        }
    }

    /// Prompts for the requirements that are not met yet, and opens the item if they have been met afterward.
    private func open(
        _ item: ProtectedItem,
        _ request: ReleaseRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> (TestVault.Contents, [Evaluation]) {
        let entry = try entry(item)
        if entry.access.needsApplicationPassword, request.applicationPassword == nil {
            throw ServiceError(.applicationPasswordNeeded, "sealed item")
        }
        var evaluations: [Evaluation] = []
        for part in try await missing(for: entry, request) {
            evaluations.append(try await ask(part, entry.access, request.evaluation, presenter))
        }
        if let password = entry.applicationPassword, let given = request.applicationPassword,
            !SecretBytes.areEqual(password.bytes, given.bytes)
        {
            throw ServiceError(.applicationPasswordWrong, "sealed item")
        }
        return (entry.contents, evaluations)
    }

    private func entry(_ item: ProtectedItem) throws(ServiceError) -> TestVault.Entry {
        let sealed: SealedItem
        switch item {
        case .named(let id): sealed = try named(id).item
        case .sealed(let item): sealed = item
        }
        guard let entry = vault.entry(sealed) else { throw ServiceError(.itemTampered, "sealed item") }
        return entry
    }

    private func missing(
        for entry: TestVault.Entry,
        _ request: ReleaseRequest
    ) async throws(ServiceError) -> [AccessControl] {
        let shown = vault.shown(for: request.evaluation, at: clock.time.now())
        var hasFinger = false
        if let print = shown.print {
            hasFinger = (try? await state.createdStore().isEnrolled(print, of: Self.profile)) == true
        }
        return try entry.asking(hasFinger: hasFinger, passcode: shown.passcode, await binding())
    }

    private func ask(
        _ part: AccessControl,
        _ access: AccessControl,
        _ request: EvaluationRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        var request = request
        request.policy = part.takesPasscode ? .deviceOwner : .biometrics
        request.takesPasscodeAlone = part == .devicePasscode
        if !access.allowsReuse { request.reuse = .zero }
        return try await evaluate(request, presenter: presenter)
    }
}
