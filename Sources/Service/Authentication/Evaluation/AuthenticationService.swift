// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SecretMemory
public import Vault

/// The seam between the faces and the engine.
///
/// The faces (`LAContext`, the command line) know this protocol only. An implementation in the same process
/// holds the reader; one that speaks to a service would not.
public protocol AuthenticationService: Sendable {
    /// Whether an evaluation could succeed now. It never prompts, and never opens the reader.
    func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight

    /// Asks the person, and returns only when the policy is met.
    ///
    /// Cancelling the task ends the evaluation with ``AuthenticationError/Code/appCancel``.
    ///
    /// - Throws: everything that is not a success, whatever its kind.
    func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) -> Evaluation

    /// Seals a secret for the chip, for whoever keeps the sealed item; nothing is stored here.
    ///
    /// - Parameters:
    ///   - secret: 1 byte to 1 MiB.
    ///   - access: What must be shown to have it back.
    ///   - applicationPassword: The program's own password, where the access control asks for one.
    /// - Returns: What opens to the access control alone.
    /// - Throws: `noChip` without a chip; `passcodeNeeded`, `enrollmentChanged` and others where the access control
    ///   cannot be met.
    func seal(
        _ secret: SecretBox,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem

    /// Makes a P-256 key in the chip, which signs and agrees on shared secrets there, for whoever keeps the sealed item.
    ///
    /// - Throws: as ``seal(_:access:applicationPassword:)``.
    func makeKey(
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem

    /// Takes what a keeper stored; neither the owner nor a chip is asked, so whether it opens anywhere is not known.
    ///
    /// - Parameter encoded: What ``SealedItem/encoded`` of one of this service's items gave.
    /// - Returns: The item.
    /// - Throws: `itemTampered` for anything that has not the form of a sealed item.
    func sealedItem(encoded: Data) throws(VaultError) -> SealedItem

    /// How sealed items stand, as far as it can be told without asking anybody, the chip included.
    ///
    /// The chip has the last word: it may refuse what is told as valid here.
    ///
    /// - Parameter items: Any number.
    /// - Returns: One answer for each, in their order.
    /// - Throws: `store`.
    func standing(of items: [SealedItem]) async throws(VaultError) -> [VaultItem.Standing]

    /// Asks the person for what a secret's access control wants, and gives the secret that the chip releases for it.
    ///
    /// There is no verdict to be believed: where the access control is not met, the secret is not there. What was
    /// shown stays in the service.
    func secret(
        in item: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox>

    /// Asks the person for what a key's access control wants, and has the chip sign with it.
    ///
    /// - Parameters:
    ///   - digest: SHA-256 of what is signed, 32 bytes.
    ///   - key: Which key.
    ///   - request: How the person is asked.
    ///   - presenter: Shows the prompt.
    /// - Returns: The signature, and how the owner was recognised.
    /// - Throws: why the owner was not recognised, or why the vault refused.
    func signature(
        over digest: Data,
        with key: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<Signature>

    /// Asks the person for what the key's access control wants, and has the chip multiply another's public key with it
    /// (TPM2_ECDH_ZGen).
    ///
    /// - Parameters:
    ///   - publicKey: The other's, as ANSI X9.63 (0x04, X, Y; 65 bytes).
    ///   - key: Whose private half stays in the chip; keys of the vault's table sign only.
    ///   - request: How the person is asked.
    ///   - presenter: Shows the prompt.
    /// - Returns: The X coordinate of the product, 32 bytes.
    /// - Throws: why the owner was not recognised, or why the vault refused.
    func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox>

    /// Whether the person has told this program not to use fingers.
    func isOptedOut(_ application: ApplicationID) async throws(AuthenticationError) -> Bool

    /// Remembers that this program shall not use fingers, or that it may again.
    ///
    /// It is a state of its own: neither "not available" nor "not enrolled", although a face may have only
    /// one code for them.
    func setOptedOut(_ optedOut: Bool, for application: ApplicationID) async throws(AuthenticationError)
}
