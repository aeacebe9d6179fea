// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import WhorlSecretMemory

/// Items that the chip opens: making them, and using them when their access control is met.
///
/// Security does not depend on a verdict of the service: unless the access control is met, the chip releases nothing.
/// The proof of what was shown stays in the service.
public protocol ItemService: Sendable {
    /// Makes an item that the caller stores; the service stores nothing.
    ///
    /// - Parameters:
    ///   - item: A secret of 1 byte to 1 MiB, or a new key.
    ///   - access: The access control that must be met to use the item.
    ///   - applicationPassword: The program's own password, where the access control asks for one.
    /// - Returns: The sealed item, which opens only when the access control is met.
    /// - Throws: `noChip` without a chip; `passcodeNeeded`, `enrollmentChanged` and others where the access control
    ///   cannot be met.
    func make(
        _ item: NewItem,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem

    /// Returns the chip's identity, with a new attestation key; the owner is not asked.
    ///
    /// - Throws: `noChip`; `noEndorsement` if the chip's maker has put no certificate into it.
    func chipIdentity() async throws(ServiceError) -> ChipIdentity

    /// Makes a key that the caller stores, and has the chip state how it is protected; the owner is not asked.
    ///
    /// - Parameters:
    ///   - access: The access control that must be met to use the key.
    ///   - credential: A server's credential for this chip.
    /// - Returns: The key, and the chip's evidence.
    /// - Throws: `credentialRefused` if the credential is for another chip; and as
    ///   ``make(_:access:applicationPassword:)``.
    func makeKey(
        access: AccessControl,
        attestedFor credential: ChipCredential
    ) async throws(ServiceError) -> AttestedKey

    /// Decodes an item that the caller stored; neither the owner nor a chip is asked, so the item may not open.
    ///
    /// - Parameter encoded: The ``SealedItem/encoded`` bytes of one of this service's items.
    /// - Returns: The item.
    /// - Throws: `itemTampered` for bytes that do not have the form of a sealed item.
    func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem

    /// Returns the standing of sealed items, as far as it can be determined without asking the owner or the chip.
    ///
    /// The chip decides in the end: it may refuse an item that is reported as valid here.
    ///
    /// - Parameter items: Any number of sealed items.
    /// - Returns: One standing for each item, in their order.
    /// - Throws: a storage error.
    func standing(of items: [SealedItem]) async throws(ServiceError) -> [VaultItem.Standing]

    /// Asks the person for what an item's access control requires, and returns what the chip then releases.
    ///
    /// - Parameters:
    ///   - item: The item, wherever it is stored.
    ///   - use: The use that is made of it, which must fit the kind of the item.
    ///   - request: The way in which the person is asked.
    ///   - presenter: Shows the prompt.
    /// - Returns: The product, and how the owner was recognised.
    /// - Throws: the reason why the owner was not recognised, or why the vault refused.
    func use(
        _ item: ProtectedItem,
        for use: ItemUse,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct>
}

/// An item that is to be made.
public enum NewItem: Sendable {
    /// A secret of 1 byte to 1 MiB.
    case secret(SecretBox)
    /// A P-256 key, which never leaves the chip; it signs, and agrees on secrets with others' public keys.
    case key
}

/// A use of an item.
public enum ItemUse: Sendable, Hashable, Codable {
    /// Reading the secret.
    case secret
    /// Signing a SHA-256 digest of 32 bytes.
    case signature(over: Data)
    /// Multiplying another party's public key with the item's key (TPM2_ECDH_ZGen).
    ///
    /// The public key is in the form of ANSI X9.63 (0x04, X, Y; 65 bytes). Keys that are stored under a name sign only.
    case sharedSecret(with: Data)

    private enum CodingKeys: String, CodingKey {
        case secret = "secret"
        case signature = "signature"
        case sharedSecret = "sharedSecret"
    }

    private enum SignatureCodingKeys: String, CodingKey { case over = "digest" }
    private enum SharedSecretCodingKeys: String, CodingKey { case with = "publicKey" }
}

/// The product of an item.
public enum ItemProduct: Sendable {
    /// The secret, or the X coordinate of the shared point (32 bytes).
    case secret(SecretBox)
    /// The signature.
    case signature(Signature)
}

/// The uses of an item, each with the type of its product.
extension ItemService {
    /// Seals a secret of 1 byte to 1 MiB into an item that the caller stores.
    ///
    /// - Throws: as ``make(_:access:applicationPassword:)``.
    public func seal(
        _ secret: SecretBox,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        try await make(.secret(secret), access: access, applicationPassword: applicationPassword)
    }

    /// Makes a P-256 key in the chip, as a sealed item that the caller stores.
    ///
    /// - Throws: as ``make(_:access:applicationPassword:)``.
    public func makeKey(
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        try await make(.key, access: access, applicationPassword: applicationPassword)
    }

    /// Returns a secret, after the person has shown what its access control requires.
    ///
    /// - Throws: as ``use(_:for:_:presenter:)``.
    public func secret(
        in item: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<SecretBox> {
        try await use(item, for: .secret, request, presenter: presenter).secret()
    }

    /// Returns a signature over a SHA-256 digest of 32 bytes, after the person has shown what the key requires.
    ///
    /// - Throws: as ``use(_:for:_:presenter:)``.
    public func signature(
        over digest: Data,
        with key: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<Signature> {
        let released = try await use(key, for: .signature(over: digest), request, presenter: presenter)
        guard case .signature(let signature) = released.product else { throw ServiceError.otherProduct }
        return Released(signature, after: released.evaluations)
    }

    /// Returns the X coordinate, 32 bytes, of the product of another party's public key and a sealed key, after the
    /// person has shown what the key requires.
    ///
    /// - Throws: as ``use(_:for:_:presenter:)``.
    public func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<SecretBox> {
        try await use(.sealed(key), for: .sharedSecret(with: publicKey), request, presenter: presenter)
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

/// A service whose chip has no certificate, as a pretended one.
extension ItemService {
    /// Throws `noEndorsement`.
    public func chipIdentity() async throws(ServiceError) -> ChipIdentity {
        throw ServiceError(.noEndorsement)
    }

    /// Throws `noEndorsement`.
    public func makeKey(
        access _: AccessControl,
        attestedFor _: ChipCredential
    ) async throws(ServiceError) -> AttestedKey {
        throw ServiceError(.noEndorsement)
    }
}
