// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import WhorlSecretMemory

/// The program's side of an operation during which the owner may be asked.
public struct Prompter: Sendable {
    /// Shows the prompts.
    public let presenter: any PromptPresenter
    /// Called for each event of an enrollment, on a thread of the service.
    public let observer: @Sendable (EnrollmentProgress) -> Void

    /// Puts the program's side together.
    public init(
        _ presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) {
        self.presenter = presenter
        self.observer = observer
    }
}

/// Answers operations: with handlers in this process (``HandlerTable``), or through a socket.
public protocol ServiceAsker: Sendable {
    /// Answers an operation.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - prompter: The program's side of the prompts; `nil` for an operation that asks no one.
    /// - Returns: The reply.
    /// - Throws: the errors that the operation names, `serviceUnavailable` where there is no answer.
    func answer<Asked: ServiceOperation>(
        _ operation: Asked,
        _ prompter: Prompter?
    ) async throws(ServiceError) -> Asked.Reply

    /// Decodes an item that the caller stored (``DecodeItem``), and blocks the calling thread.
    ///
    /// - Throws: `itemTampered` for bytes that do not have the form of a sealed item.
    func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem
}

extension ServiceAsker {
    /// Asks for something.
    ///
    /// - Throws: the errors that the operation names.
    public func ask<Asked: ServiceOperation>(
        _ operation: Asked
    ) async throws(ServiceError) -> Asked.Reply { try await answer(operation, nil) }

    /// Asks for a value.
    ///
    /// - Throws: the errors that the operation names.
    public func ask<Asked: ServiceOperation, Value>(
        _ operation: Asked
    ) async throws(ServiceError) -> Value where Asked.Reply == Valued<Value> {
        try await answer(operation, nil).value
    }

    /// Asks for a value that may not exist.
    ///
    /// - Throws: the errors that the operation names.
    public func ask<Asked: ServiceOperation, Value>(
        _ operation: Asked
    ) async throws(ServiceError) -> Value? where Asked.Reply == Optionally<Value> {
        try await answer(operation, nil).value
    }

    /// Asks for something that has no answer but its end.
    ///
    /// - Throws: the errors that the operation names.
    public func ask<Asked: ServiceOperation>(
        _ operation: Asked
    ) async throws(ServiceError) where Asked.Reply == NoValue { _ = try await answer(operation, nil) }

    /// Asks for something during which the owner may be asked.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - presenter: Shows the prompts.
    ///   - observer: Called for each event of an enrollment, on a thread of the service.
    /// - Returns: The reply.
    /// - Throws: the errors that the operation names.
    @discardableResult
    public func ask<Asked: OwnerOperation>(
        _ operation: Asked,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) async throws(ServiceError) -> Asked.Reply {
        try await answer(operation, Prompter(presenter, observer: observer))
    }
}

extension ServiceAsker {
    /// An operation during which the owner may be asked needs a presenter.
    @available(*, unavailable, message: "name the presenter that shows the prompt")
    public func ask<Asked: OwnerOperation>(
        _ operation: Asked
    ) async throws(ServiceError) -> Asked.Reply { try await answer(operation, nil) }
}

/// Shorter forms of the operations that most programs use.
extension ServiceAsker {
    /// Returns whether an evaluation could succeed now; a service that cannot be asked is the obstacle.
    public func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight {
        do throws(ServiceError) {
            return try await ask(PreflightPolicy(policy, for: application))
        } catch {
            return Preflight(obstacle: error, hasReader: false, readerKind: nil, domainState: nil)
        }
    }

    /// Asks the person, and returns only when the policy is met.
    ///
    /// - Throws: as ``EvaluatePolicy``.
    public func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        try await ask(EvaluatePolicy(request), presenter: presenter)
    }

    /// Returns whether a chip is available to this user's items; a chip that cannot be asked about is as good as none.
    public func hasChip() async -> Bool { (try? await ask(HasChip())) ?? false }

    /// Returns the numbers that differ after each change of the state; a mark that cannot be read counts as a change.
    public func changeMark() async -> [Int]? { (try? await ask(ReadChangeMark())) ?? nil }

    /// Returns the facts about the directory and the TPM; a service that does not answer has protected nothing.
    public func facts() async -> MaintenanceFacts {
        // The next call that can fail says why there is no answer.
        (try? await ask(ReadFacts())) ?? MaintenanceFacts()
    }

    /// Seals a secret of 1 byte to 1 MiB into an item that the caller stores.
    ///
    /// - Throws: as ``MakeItem``.
    public func seal(
        _ secret: SecretBox,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        try await ask(MakeItem(.secret(secret), access: access, applicationPassword: applicationPassword))
            .item
    }

    /// Makes a P-256 key in the chip, as a sealed item that the caller stores.
    ///
    /// - Throws: as ``MakeItem``.
    public func makeKey(
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        try await ask(MakeItem(.key, access: access, applicationPassword: applicationPassword)).item
    }

    /// Returns the standing of any number of sealed items, in their order.
    ///
    /// - Throws: as ``CheckItems``.
    public func standing(of items: [SealedItem]) async throws(ServiceError) -> [VaultItem.Standing] {
        var standings: [VaultItem.Standing] = []
        // A few at a time, so that each call stays small.
        for start in stride(from: 0, to: items.count, by: CheckItems.mostItems) {
            let part = items[start..<min(start + CheckItems.mostItems, items.count)]
            let judged: [VaultItem.Standing] = try await ask(CheckItems(part))
            guard judged.count == part.count else { throw ServiceError.otherProduct }
            standings += judged
        }
        return standings
    }

    /// Returns a secret, after the person has shown what its access control requires.
    ///
    /// - Throws: as ``UseItem``.
    public func secret(
        in item: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<SecretBox> {
        try await ask(UseItem(item, for: .secret, request), presenter: presenter).secret()
    }

    /// Returns a signature over a SHA-256 digest of 32 bytes, after the person has shown what the key requires.
    ///
    /// - Throws: as ``UseItem``.
    public func signature(
        over digest: Data,
        with key: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<Signature> {
        let released = try await ask(
            UseItem(key, for: .signature(over: digest), request),
            presenter: presenter
        )
        guard case .signature(let signature) = released.product else { throw ServiceError.otherProduct }
        return Released(signature, after: released.evaluations)
    }

    /// Returns the X coordinate, 32 bytes, of the product of another party's public key and a sealed key, after the
    /// person has shown what the key requires.
    ///
    /// - Throws: as ``UseItem``.
    public func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<SecretBox> {
        try await ask(
            UseItem(.sealed(key), for: .sharedSecret(with: publicKey), request),
            presenter: presenter
        )
        .secret()
    }
}

extension Released<ItemProduct> {
    fileprivate func secret() throws(ServiceError) -> Released<SecretBox> {
        guard case .secret(let secret) = product else { throw ServiceError.otherProduct }
        return Released<SecretBox>(secret, after: evaluations)
    }
}

extension ServiceError {
    /// The error of a service that answers with another product than the one that was asked for.
    fileprivate static var otherProduct: ServiceError {
        ServiceError(.chipFailed, cause: "the service returned another product")
    }
}
