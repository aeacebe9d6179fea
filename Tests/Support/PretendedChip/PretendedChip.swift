// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
internal import Crypto
package import Foundation
package import WhorlSecretMemory
internal import Synchronization
import WhorlVault
package import WhorlService

/// A service whose chip is software, and which asks and refuses like the real one: what the owner shows is scripted.
///
/// It is for tests of what stands above the service. Prompts are counted, not shown.
package final class ChipDouble: AuthenticationService {
    /// What becomes of a prompt.
    package enum Owner: Sendable {
        /// The owner shows what is asked for.
        case shows
        /// It ends with this failure.
        case fails(ServiceError.Code)
    }

    private struct State {
        var owner: Owner
        var keys: [Data: P256.KeyAgreement.PrivateKey] = [:]
        var secrets: [Data: SecretBox] = [:]
        /// The set of fingers that each item was made for.
        var sets: [Data: Int] = [:]
        var set = 1
        var prompts = 0
        var requests: [ReleaseRequest] = []
        /// Those that something was shown to; kept, so that no later one has the identity of one that has ended.
        var sessions: [OwnerSession] = []
        var refusal: ServiceError?
    }

    private let state: Mutex<State>

    package init(_ owner: Owner = .shows) { state = Mutex(State(owner: owner)) }

    /// What becomes of the next prompts.
    package func set(_ owner: Owner) { state.withLock { $0.owner = owner } }

    /// What the vault says to everything from now on.
    package func refuse(with error: ServiceError?) { state.withLock { $0.refusal = error } }

    /// The set of fingers is another one from now on.
    package func addFinger() { state.withLock { $0.set += 1 } }

    /// How often the owner was asked.
    package var prompts: Int { state.withLock(\.prompts) }

    /// Every request that came, in order.
    package var requests: [ReleaseRequest] { state.withLock(\.requests) }

    package func make(
        _ item: NewItem,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        try state.withLock { state throws(ServiceError) in
            if let refusal = state.refusal { throw refusal }
            switch item {
            case .secret(let secret):
                let name = Data("secret \(state.secrets.count)".utf8)
                state.secrets[name] = secret
                state.sets[name] = state.set
                return SealedItem(
                    kind: .secret,
                    profile: "test",
                    access: access,
                    publicKey: nil,
                    encoded: name
                )
            case .key:
                guard !access.needsApplicationPassword || applicationPassword != nil else {
                    throw ServiceError(.applicationPasswordNeeded)
                }
                let key = P256.KeyAgreement.PrivateKey()
                let name = Data("double \(state.keys.count)".utf8)
                state.keys[name] = key
                state.sets[name] = state.set
                return SealedItem(
                    kind: .key,
                    profile: "test",
                    access: access,
                    publicKey: key.publicKey.x963Representation,
                    encoded: name
                )
            }
        }
    }

    package func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem {
        try SealedItem(encoded: encoded)
    }

    package func use(
        _ item: ProtectedItem,
        for use: ItemUse,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct> {
        guard case .sealed(let item) = item else { throw ServiceError(.noSuchItem) }
        let product: ItemProduct
        switch use {
        case .secret: product = .secret(try secret(in: item, request))
        case .signature(let digest): product = .signature(try signature(over: digest, with: item, request))
        case .sharedSecret(let other): product = .secret(try sharedSecret(with: other, of: item, request))
        }
        return Released(product, after: [])
    }

    private func secret(
        in item: SealedItem,
        _ request: ReleaseRequest
    ) throws(ServiceError) -> SecretBox {
        try state.withLock { state throws(ServiceError) in
            try ChipDouble.open(item, request, &state)
            guard let secret = state.secrets[item.encoded] else { throw ServiceError(.itemTampered) }
            return secret
        }
    }

    package func standing(of items: [SealedItem]) async throws(ServiceError) -> [VaultItem.Standing] {
        state.withLock { state in
            items.map { item in
                guard let set = state.sets[item.encoded] else { return .tampered }
                return item.access.isDeadWithItsSet && set != state.set ? .enrollmentChanged : .valid
            }
        }
    }

    private func signature(
        over digest: Data,
        with key: SealedItem,
        _ request: ReleaseRequest
    ) throws(ServiceError) -> Signature {
        let chip = try self.key(key, request)
        guard digest.count == 32 else {
            throw ServiceError(.digestWrongSize, details: [.bytes: "\(digest.count)"])
        }
        let signing = try? P256.Signing.PrivateKey(rawRepresentation: chip.rawRepresentation)
        guard let raw = try? signing?.signature(for: Given(bytes: digest)).rawRepresentation,
            let signature = Signature(raw: raw)
        else { throw ServiceError(.chipFailed) }
        return signature
    }

    private func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        _ request: ReleaseRequest
    ) throws(ServiceError) -> SecretBox {
        let chip = try self.key(key, request)
        guard let other = try? P256.KeyAgreement.PublicKey(x963Representation: publicKey),
            let shared = try? chip.sharedSecretFromKeyAgreement(with: other)
        else { throw ServiceError(.chipFailed) }
        let bytes = shared.withUnsafeBytes { Data($0) }
        return SecretBox(SecretBytes(copying: bytes.bytes))
    }

    /// The key, once the owner has shown what it asks for.
    private func key(
        _ item: SealedItem,
        _ request: ReleaseRequest
    ) throws(ServiceError) -> P256.KeyAgreement.PrivateKey {
        try state.withLock { state throws(ServiceError) in
            try ChipDouble.open(item, request, &state)
            guard let key = state.keys[item.encoded] else { throw ServiceError(.itemTampered) }
            return key
        }
    }

    /// Asks for what an item wants; what was shown to a session counts for all of it.
    private static func open(
        _ item: SealedItem,
        _ request: ReleaseRequest,
        _ state: inout State
    ) throws(ServiceError) {
        state.requests.append(request)
        if let refusal = state.refusal { throw refusal }
        guard !item.access.isDeadWithItsSet || state.sets[item.encoded] == state.set else {
            throw ServiceError(.enrollmentChanged)
        }
        guard !item.access.needsApplicationPassword || request.applicationPassword != nil else {
            throw ServiceError(.applicationPasswordNeeded)
        }
        guard item.access != .none, item.access != .none.withApplicationPassword else { return }
        let session = request.evaluation.session
        if let session, state.sessions.contains(where: { $0 === session }) { return }
        guard request.evaluation.interactionAllowed else {
            throw ServiceError(.notInteractive)
        }
        state.prompts += 1
        switch state.owner {
        case .shows: if let session { state.sessions.append(session) }
        case .fails(let code): throw ServiceError(code)
        }
    }

    package func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight {
        Preflight(obstacle: nil, hasReader: true, readerKind: nil, domainState: nil)
    }

    package func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        throw ServiceError(.authenticationFailed)
    }

    package func isOptedOut(_ application: ApplicationID) async throws(ServiceError) -> Bool { false }

    package func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {}
}

/// A prompt that nobody sees: the double asks nobody.
package struct NoPrompt: PromptPresenter {
    package init() {}

    package var isInteractive: Bool { get async { true } }

    package func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? { nil }
}

private struct Given: Digest {
    static let byteCount = 32
    let bytes: Data

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
    func makeIterator() -> Array<UInt8>.Iterator { Array(bytes).makeIterator() }
    var description: String { "digest" }
}
