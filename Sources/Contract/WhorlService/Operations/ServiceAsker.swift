// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import WhorlSecretMemory

/// The caller's part in an operation that may prompt the owner.
public struct Prompter: Sendable {
    /// The presenter that shows the prompts.
    public let presenter: any PromptPresenter
    /// Called for each enrollment event, on a thread of the service.
    public let observer: @Sendable (EnrollmentProgress) -> Void

    /// Creates the caller's part.
    public init(
        _ presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) {
        self.presenter = presenter
        self.observer = observer
    }
}

/// Performs operations, either with handlers in this process (``HandlerTable``) or through a socket.
public protocol ServiceAsker: Sendable {
    /// Performs an operation.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - prompter: The caller's part in the prompts; `nil` for an operation that never prompts.
    /// - Returns: The reply.
    /// - Throws: The errors that the operation documents; `serviceUnavailable` if no reply arrives.
    func answer<Asked: ServiceOperation>(
        _ operation: Asked,
        _ prompter: Prompter?
    ) async throws(ServiceError) -> Asked.Reply

    /// Decodes an item that the caller stored (``DecodeItem``), blocking the calling thread.
    ///
    /// - Throws: `itemTampered` for bytes that do not have the form of a sealed item.
    func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem
}

extension ServiceAsker {
    /// Performs an operation and returns its reply.
    ///
    /// - Throws: The errors that the operation documents.
    public func ask<Asked: ServiceOperation>(
        _ operation: Asked
    ) async throws(ServiceError) -> Asked.Reply { try await answer(operation, nil) }

    /// Performs an operation that returns a value.
    ///
    /// - Throws: The errors that the operation documents.
    public func ask<Asked: ServiceOperation, Value>(
        _ operation: Asked
    ) async throws(ServiceError) -> Value where Asked.Reply == Valued<Value> {
        try await answer(operation, nil).value
    }

    /// Performs an operation that returns an optional value.
    ///
    /// - Throws: The errors that the operation documents.
    public func ask<Asked: ServiceOperation, Value>(
        _ operation: Asked
    ) async throws(ServiceError) -> Value? where Asked.Reply == Optionally<Value> {
        try await answer(operation, nil).value
    }

    /// Performs an operation that does not return a value.
    ///
    /// - Throws: The errors that the operation documents.
    public func ask<Asked: ServiceOperation>(
        _ operation: Asked
    ) async throws(ServiceError) where Asked.Reply == NoValue { _ = try await answer(operation, nil) }

    /// Performs an operation that may prompt the owner.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - presenter: The presenter that shows the prompts.
    ///   - observer: Called for each enrollment event, on a thread of the service.
    /// - Returns: The reply.
    /// - Throws: The errors that the operation documents.
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
    /// Unavailable: an operation that may prompt the owner needs a presenter.
    @available(*, unavailable, message: "name the presenter that shows the prompt")
    public func ask<Asked: OwnerOperation>(
        _ operation: Asked
    ) async throws(ServiceError) -> Asked.Reply { try await answer(operation, nil) }
}

/// Convenience methods for the most common operations.
extension ServiceAsker {
    /// Returns whether an evaluation could succeed now; if the service cannot be reached, that is the obstacle.
    public func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight {
        do throws(ServiceError) {
            return try await ask(PreflightPolicy(policy, for: application))
        } catch {
            return Preflight(obstacle: error, hasReader: false, readerKind: nil, domainState: nil)
        }
    }

    /// Prompts the user, and returns only if the policy is satisfied.
    ///
    /// - Throws: The errors of ``EvaluatePolicy``.
    public func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        try await ask(EvaluatePolicy(request), presenter: presenter)
    }

    /// Returns whether a TPM is available for this user's items; `false` if that cannot be determined.
    public func hasChip() async -> Bool { (try? await ask(HasChip())) ?? false }

    /// Returns numbers that change whenever the state does; a failure to read them counts as a change.
    public func changeMark() async -> [Int]? { (try? await ask(ReadChangeMark())) ?? nil }

    /// Returns information about the directory and the TPM; if the service does not respond, nothing counts as
    /// protected.
    public func facts() async -> MaintenanceFacts {
        // The next call that can fail reports why the service does not respond.
        (try? await ask(ReadFacts())) ?? MaintenanceFacts()
    }

    /// Seals a secret of 1 byte to 1 MiB into an item that the caller stores.
    ///
    /// - Throws: The errors of ``MakeItem``.
    public func seal(
        _ secret: SecretBox,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        try await ask(MakeItem(.secret(secret), access: access, applicationPassword: applicationPassword))
            .item
    }

    /// Creates a P-256 key in the TPM, as a sealed item that the caller stores.
    ///
    /// - Throws: The errors of ``MakeItem``.
    public func makeKey(
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        try await ask(MakeItem(.key, access: access, applicationPassword: applicationPassword)).item
    }

    /// Returns the states of any number of sealed items, in the same order.
    ///
    /// - Throws: The errors of ``CheckItems``.
    public func standing(of items: [SealedItem]) async throws(ServiceError) -> [VaultItem.Standing] {
        var standings: [VaultItem.Standing] = []
        // Split the list so that each call stays small.
        for start in stride(from: 0, to: items.count, by: CheckItems.mostItems) {
            let part = items[start..<min(start + CheckItems.mostItems, items.count)]
            let judged: [VaultItem.Standing] = try await ask(CheckItems(part))
            guard judged.count == part.count else { throw ServiceError.otherProduct }
            standings += judged
        }
        return standings
    }

    /// Returns a secret after the user has provided the proof that its access control requires.
    ///
    /// - Throws: The errors of ``UseItem``.
    public func secret(
        in item: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<SecretBox> {
        try await ask(UseItem(item, for: .secret, request), presenter: presenter).secret()
    }

    /// Returns a signature over a SHA-256 digest of 32 bytes, after the user has provided the required proof.
    ///
    /// - Throws: The errors of ``UseItem``.
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

    /// Returns the secret shared between a sealed key and another party's public key.
    ///
    /// The secret is the X coordinate of the product of both, 32 bytes. The user must first provide the proof that the
    /// key requires.
    ///
    /// - Throws: The errors of ``UseItem``.
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
    /// The error for a service that replies with the wrong kind of product.
    fileprivate static var otherProduct: ServiceError {
        ServiceError(.chipFailed, cause: "the service returned a different kind of product")
    }
}
