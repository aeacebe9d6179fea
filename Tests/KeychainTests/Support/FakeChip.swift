// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import Foundation
import WhorlSecretMemory
import Synchronization
import WhorlVault
import WhorlService

/// A service that seals and opens as the real one does, with a person of a test's choice and without a chip.
final class FakeChip: AuthenticationService {
    /// What becomes of a prompt.
    enum Person: Sendable {
        case shows
        case fails(ServiceError.Code)
        /// Nobody comes: only cancelling ends it.
        case isAway
    }

    private struct Kept {
        let secret: [UInt8]
        let generation: Int
        let password: [UInt8]?
    }

    private struct State {
        var person = Person.shows
        var generation = 1
        var hasPasscode = true
        var prompts: [String] = []
        var kept: [Data: Kept] = [:]
        var sessions: [OwnerSession] = []
        var failure: ServiceError.Code?
        var duringPrompt: (@Sendable () async -> Void)?
        var isMute = false
    }

    private let state = Mutex(State())

    var person: Person {
        get { state.withLock(\.person) }
        set { state.withLock { $0.person = newValue } }
    }

    var hasPasscode: Bool {
        get { state.withLock(\.hasPasscode) }
        set { state.withLock { $0.hasPasscode = newValue } }
    }

    /// What the vault answers from now on, whatever it is asked.
    var failure: ServiceError.Code? {
        get { state.withLock(\.failure) }
        set { state.withLock { $0.failure = newValue } }
    }

    /// Whether the chip does not say what its counters are.
    var isMute: Bool {
        get { state.withLock(\.isMute) }
        set { state.withLock { $0.isMute = newValue } }
    }

    /// What happens once while the next prompt is shown.
    var duringPrompt: (@Sendable () async -> Void)? {
        get { state.withLock(\.duringPrompt) }
        set { state.withLock { $0.duringPrompt = newValue } }
    }

    /// The reasons of the prompts that were shown.
    var prompts: [String] { state.withLock(\.prompts) }

    func addFinger() { state.withLock { $0.generation += 1 } }

    // MARK: - The service

    func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight {
        Preflight(obstacle: nil, hasReader: true, readerKind: nil, domainState: nil)
    }

    func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        throw ServiceError(.biometryNotAvailable)
    }

    func isOptedOut(_ application: ApplicationID) async throws(ServiceError) -> Bool { false }

    func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {}

    func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem { try SealedItem(encoded: encoded) }

    func make(
        _ item: NewItem,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        guard case .secret(let secret) = item else { throw ServiceError(.noChip) }
        if let failure { throw ServiceError(failure) }
        guard secret.bytes.count > 0 else { throw ServiceError(.secretEmpty) }
        guard !access.takesPasscode || hasPasscode else { throw ServiceError(.passcodeNotSet) }
        if access.needsApplicationPassword, applicationPassword == nil {
            throw ServiceError(.applicationPasswordNeeded)
        }
        let name = Data(UUID().uuidString.utf8)
        let bytes = secret.plain
        let password = access.needsApplicationPassword ? applicationPassword?.plain : nil
        state.withLock {
            $0.kept[name] = Kept(secret: bytes, generation: $0.generation, password: password)
        }
        return SealedItem(kind: .secret, profile: "ada", access: access, publicKey: nil, encoded: name)
    }

    func standing(of items: [SealedItem]) async throws(ServiceError) -> [VaultItem.Standing] {
        if let failure { throw ServiceError(failure) }
        return state.withLock { state in
            items.map { item in
                guard let kept = state.kept[item.encoded] else { return .tampered }
                guard item.access.isDeadWithItsSet, kept.generation != state.generation else { return .valid }
                return state.isMute ? .unknown : .enrollmentChanged
            }
        }
    }

    func use(
        _ item: ProtectedItem,
        for use: ItemUse,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct> {
        guard use == .secret, case .sealed(let item) = item else { throw ServiceError(.noSuchItem) }
        if let failure { throw ServiceError(failure) }
        let (kept, generation) = state.withLock { ($0.kept[item.encoded], $0.generation) }
        guard let kept else { throw ServiceError(.itemTampered) }
        // What can never be met is said before anybody is asked.
        guard !item.access.isDeadWithItsSet || kept.generation == generation else {
            throw ServiceError(isMute ? .chipBusy : .enrollmentChanged)
        }
        if let password = kept.password {
            guard let given = request.applicationPassword else {
                throw ServiceError(.applicationPasswordNeeded)
            }
            guard given.plain == password else { throw ServiceError(.applicationPasswordWrong) }
        }
        if item.access != .none, item.access != .none.withApplicationPassword {
            try await ask(request.evaluation)
        }
        let bytes = kept.secret
        let secret = SecretBox(SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) })
        return Released(.secret(secret), after: [])
    }

    private func ask(_ request: EvaluationRequest) async throws(ServiceError) {
        let session = request.session
        if let session, state.withLock({ $0.sessions.contains { $0 === session } }) { return }
        guard request.interactionAllowed else { throw ServiceError(.notInteractive) }
        let meanwhile = state.withLock { state in
            state.prompts.append(request.reason)
            defer { state.duringPrompt = nil }
            return state.duringPrompt
        }
        await meanwhile?()
        switch person {
        case .shows: if let session { state.withLock { $0.sessions.append(session) } }
        case .fails(let code): throw ServiceError(code)
        case .isAway:
            let never = AsyncStream<Never> { _ in }
            for await _ in never {}
            throw ServiceError(.appCancel)
        }
    }
}

extension SecretBox {
    fileprivate var plain: [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}

/// A prompt that nobody sees: the fake chip asks its person itself.
struct NoPrompt: PromptPresenter {
    var isInteractive: Bool {
        get async { true }
    }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? { nil }
}
