// SPDX-License-Identifier: Apache-2.0

public import WhorlSecretMemory

/// Secrets and keys that the service stores under a name.
///
/// ``ItemService/use(_:for:_:presenter:)`` opens them.
public protocol NamedItemService: Sendable {
    /// Makes the vault if nothing was ever stored, so that a refusal comes before a person types a secret.
    ///
    /// - Throws: `noChip`, in which case nothing was made; a storage error.
    func prepare() async throws(ServiceError)

    /// Makes an item and stores it.
    ///
    /// - Parameters:
    ///   - item: A secret of 1 byte to 1 MiB, or a new key.
    ///   - id: The identity of the item, which must be new, and of the item's kind.
    ///   - access: The access control, which cannot be changed later.
    ///   - applicationPassword: The program's own password, if `access` takes one.
    /// - Returns: The public half of a key; `nil` for a secret.
    /// - Throws: `itemExists`, `secretEmpty`, `secretTooLarge`, `passcodeNotSet`, `accessRefused`,
    ///   `applicationPasswordNeeded`, `noChip`, a storage error, and other errors of the chip.
    func add(
        _ item: NewItem,
        as id: ItemID,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SigningKeyPublic?

    /// Returns the profile's items, secrets and keys, by kind and name.
    ///
    /// The chip is asked only for items that are lost with their set of fingers; if it cannot answer, the standing of
    /// such an item is `unknown`.
    ///
    /// - Throws: a storage error.
    func items() async throws(ServiceError) -> [VaultItem]

    /// Returns the access control of an item; the chip is not asked.
    ///
    /// - Throws: `noSuchItem`, `itemTampered`, a storage error.
    func access(of id: ItemID) async throws(ServiceError) -> AccessControl

    /// Returns the public half of a key; no proof is needed, and the chip is not asked.
    ///
    /// - Throws: `noSuchItem`, `itemTampered`, a storage error.
    func publicKey(of id: ItemID) async throws(ServiceError) -> SigningKeyPublic

    /// Deletes an item permanently, whatever state it is in.
    ///
    /// The owner is asked first where the item requires its owner and may still open.
    ///
    /// - Parameters:
    ///   - id: The item.
    ///   - request: The way in which the owner is asked.
    ///   - presenter: Shows the prompt.
    /// - Throws: the reason why the owner did not agree; `noSuchItem`, a storage error.
    func delete(
        _ id: ItemID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError)
}
