// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SecretMemory
public import Vault

/// The interface between the faces and the engine.
///
/// The faces (`LAContext`, the command line) know only this protocol. An implementation in the same process holds the
/// reader; one that speaks to a service would not.
public protocol AuthenticationService: Sendable {
    /// Returns whether an evaluation could succeed now. It never prompts, and never opens the reader.
    func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight

    /// Asks the person for a finger or the passcode, and returns only when the policy is met.
    ///
    /// Cancelling the task ends the evaluation with ``AuthenticationError/Code/appCancel``.
    ///
    /// - Throws: the error of every evaluation without success, of whatever kind.
    func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) -> Evaluation

    /// Seals a secret with the chip into an item that the caller stores; the service stores nothing.
    ///
    /// - Parameters:
    ///   - secret: 1 byte to 1 MiB.
    ///   - access: The access control that must be met to open the item.
    ///   - applicationPassword: The program's own password, where the access control asks for one.
    /// - Returns: The sealed item, which opens only when the access control is met.
    /// - Throws: `noChip` without a chip; `passcodeNeeded`, `enrollmentChanged` and others where the access control
    ///   cannot be met.
    func seal(
        _ secret: SecretBox,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem

    /// Makes a P-256 key in the chip, for signing and key agreement there, as a sealed item that the caller stores.
    ///
    /// - Throws: as ``seal(_:access:applicationPassword:)``.
    func makeKey(
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem

    /// Decodes an item that the caller stored; neither the owner nor a chip is asked, so the item may not open.
    ///
    /// - Parameter encoded: The ``SealedItem/encoded`` bytes of one of this service's items.
    /// - Returns: The item.
    /// - Throws: `itemTampered` for bytes that do not have the form of a sealed item.
    func sealedItem(encoded: Data) throws(VaultError) -> SealedItem

    /// Returns the standing of sealed items, as far as it can be determined without asking the owner or the chip.
    ///
    /// The chip decides in the end: it may refuse an item that is reported as valid here.
    ///
    /// - Parameter items: Any number of sealed items.
    /// - Returns: One standing for each item, in their order.
    /// - Throws: `store`.
    func standing(of items: [SealedItem]) async throws(VaultError) -> [VaultItem.Standing]

    /// Asks the person for what a secret's access control requires, and returns the secret that the chip then releases.
    ///
    /// Security does not depend on a verdict of the service: unless the access control is met, the chip does not
    /// release the secret. The proof of what was shown stays in the service.
    func secret(
        in item: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox>

    /// Asks the person for what a key's access control requires, and has the chip sign with the key.
    ///
    /// - Parameters:
    ///   - digest: The SHA-256 digest to sign, 32 bytes.
    ///   - key: The key to sign with.
    ///   - request: The way in which the person is asked.
    ///   - presenter: Shows the prompt.
    /// - Returns: The signature, and how the owner was recognised.
    /// - Throws: the reason why the owner was not recognised, or why the vault refused.
    func signature(
        over digest: Data,
        with key: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<Signature>

    /// Asks the person for what the key's access control requires, and has the chip multiply another party's public key
    /// with it (TPM2_ECDH_ZGen).
    ///
    /// - Parameters:
    ///   - publicKey: The other party's public key, as ANSI X9.63 (0x04, X, Y; 65 bytes).
    ///   - key: The key whose private half stays in the chip; keys of the vault's table sign only.
    ///   - request: The way in which the person is asked.
    ///   - presenter: Shows the prompt.
    /// - Returns: The X coordinate of the product, 32 bytes.
    /// - Throws: the reason why the owner was not recognised, or why the vault refused.
    func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox>

    /// Returns whether the person has told this program not to use fingers.
    func isOptedOut(_ application: ApplicationID) async throws(AuthenticationError) -> Bool

    /// Stores that this program must not use fingers, or that it may again.
    ///
    /// Opting out is a state of its own, neither "not available" nor "not enrolled", although a face may have only one
    /// code for all of them.
    func setOptedOut(_ optedOut: Bool, for application: ApplicationID) async throws(AuthenticationError)
}
