// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSecretMemory
import WhorlStateStore
import WhorlService
import WhorlTPM

/// An item with all the data that is needed to use it, no matter whether the vault's table or the caller stores it.
protocol UsableItem: Sendable {
    /// The item's owner and the text that identifies the item.
    var owner: ItemOwner { get }
    /// The access control that the TPM enforces.
    var access: AccessControl { get }
    /// The objects that the item's policy refers to.
    var binding: ItemBinding { get }
    /// The object that the TPM loads.
    var object: TPMObject { get }
    /// The ciphertext of a large secret, or `nil` for any other item.
    var body: Data? { get }
    /// The data that the ciphertext is bound to.
    var identity: Data { get }
}

/// An item's owner and the text that identifies the item to users.
struct ItemOwner: Sendable {
    let profile: String
    /// The item's kind and name, for example `secret "wifi"`.
    let spoken: String
}

extension ItemID {
    var owner: ItemOwner { ItemOwner(profile: profile, spoken: spoken) }
}

extension UsableItem {
    /// The public half of a key.
    var publicKey: SigningKeyPublic {
        get throws(ServiceError) {
            guard let point = object.publicPoint,
                let key = SigningKeyPublic(x963: Data([4] + point.x + point.y))
            else {
                throw ServiceError(.itemTampered, owner.spoken, cause: "no P-256 key")
            }
            return key
        }
    }
}

/// Functions that use an item in the TPM. They turn the owner's proof into TPM credentials, and TPM failures into
/// ``ServiceError``.
extension Vault {
    /// Runs `body` with the item's policy and the credentials that satisfy it.
    func use<Value: Sendable>(
        _ item: some UsableItem,
        _ proof: OwnerProof,
        _ password: SecretBox?,
        _ body:
            @Sendable (borrowing TPMCommands, VaultAuthority, TPMPolicy, Credentials) throws(TPMError) ->
            Value
    ) async throws(ServiceError) -> Value {
        guard let authority = try authority() else {
            throw ServiceError(.chipCleared, item.owner.spoken, cause: "the authority's file is missing")
        }
        guard let policy = ItemPolicy.policy(item.access, item.binding, authority: authority.object.name),
            policy.digest == item.object.policy
        else { throw ServiceError(.itemTampered, item.owner.spoken, cause: "its policy is different") }
        let credentials = try await credentials(for: item, proof, password, authority)
        let product: Value
        do {
            product = try await device.perform { commands throws(TPMError) in
                try body(commands, authority, policy, credentials)
            }
        } catch {
            if credentials.authValue != nil, !error.mayBeWrongPassword {
                try await releaseApplicationPassword(for: item.owner)
            }
            throw await reason(for: error, item)
        }
        if credentials.authValue != nil { try await releaseApplicationPassword(for: item.owner) }
        return product
    }

    private func credentials(
        for item: some UsableItem,
        _ proof: OwnerProof,
        _ password: SecretBox?,
        _ authority: VaultAuthority
    ) async throws(ServiceError) -> Credentials {
        let met = item.access.waysInChip.filter { proof.meets($0, item.binding) }
        guard proof.profile == item.owner.profile, !met.isEmpty else {
            throw ServiceError(.accessDenied, item.owner.spoken, cause: "the proof does not unlock it")
        }
        var credentials = Credentials()
        if met.contains(where: ItemPolicy.needsAuthority) {
            credentials.add(authority.object, auth: authority.authorization)
        }
        if let passcode = proof.passcode {
            credentials.add(passcode.object, auth: passcode.authorization)
        }
        if let derivation = item.binding.applicationPassword {
            guard let password else { throw ServiceError(.applicationPasswordNeeded, item.owner.spoken) }
            credentials.authValue = try await inTurn { turn async throws(ServiceError) in
                try await reserveApplicationPassword(for: item.owner)
                return try await derivation.authorization(ofApplicationPassword: password, in: turn)
            }
        }
        return credentials
    }

    /// Returns the error for an item that the TPM refused to unlock.
    private func reason(for error: TPMError, _ item: some UsableItem) async -> ServiceError {
        let name = item.owner.spoken
        switch error.code {
        case .authFailed where error.command == "TPM2_PolicySecret":
            return ServiceError(.passcodeWrong, name, cause: error.description)
        case .authFailed where item.access.needsApplicationPassword:
            return ServiceError(.applicationPasswordWrong, name, cause: error.description)
        case .policyFailed, .nvMissing, .nvUnwritten, .authFailed:
            return await unmetPolicy(error, item)
        case .foreignBlob:
            do throws(ServiceError) {
                let isOther = try await isChipAnother()
                return ServiceError(isOther ? .chipCleared : .itemTampered, name, cause: error.description)
            } catch let obstacle {
                // The two causes cannot be distinguished.
                return obstacle
            }
        default: return ServiceError(error, name)
        }
    }

    private func unmetPolicy(_ error: TPMError, _ item: some UsableItem) async -> ServiceError {
        let name = item.owner.spoken
        if let set = item.binding.generation {
            switch await standing(of: set, item.owner.profile) {
            case .present: break
            case .changed: return ServiceError(.enrollmentChanged, name, cause: error.description)
            case .unknown(let obstacle):
                return ServiceError(obstacle.code, name, cause: error.description)
            }
        }
        if let pcrs = item.access.pcrs, let boot = item.binding.boot {
            do throws(ServiceError) {
                guard try await measurements(pcrs) == boot else {
                    return ServiceError(.measuredBootChanged, name, cause: error.description)
                }
            } catch let obstacle {
                return obstacle
            }
        }
        return ServiceError(error, name)
    }
}

extension TPMError {
    /// Whether the error may mean that the TPM rejected an item's application password.
    fileprivate var mayBeWrongPassword: Bool {
        switch code {
        case .noDevice, .permission, .deviceBusy, .cancelled, .foreignRoot, .foreignBlob, .lockout,
            .policyFailed:
            false
        default: command != "TPM2_PolicySecret"
        }
    }
}

/// Functions that return the results of using an item, no matter where it is stored.
extension Vault {
    /// Returns the bytes that the TPM has sealed, which are the secret itself or the key for a large secret.
    func unseal(
        _ item: some UsableItem,
        _ proof: OwnerProof,
        _ password: SecretBox?
    ) async throws(ServiceError) -> SecretBox {
        try await use(item, proof, password) { commands, authority, policy, credentials throws(TPMError) in
            SecretBox(
                try commands.unseal(
                    item.object,
                    under: authority.root,
                    meeting: policy,
                    with: credentials
                )
            )
        }
    }

    func secret(
        of item: some UsableItem,
        _ proof: OwnerProof,
        _ password: SecretBox?
    ) async throws(ServiceError) -> SecretBox {
        let sealed = try await unseal(item, proof, password)
        guard let whole = SecretEnvelope.open(sealed, body: item.body, for: item.identity) else {
            throw ServiceError(.itemTampered, item.owner.spoken, cause: "the ciphertext")
        }
        return whole
    }

    /// Returns a signature over a SHA-256 digest.
    func signature(
        over digest: Data,
        with key: some UsableItem,
        _ proof: OwnerProof,
        _ password: SecretBox?
    ) async throws(ServiceError) -> Signature {
        guard digest.count == 32 else {
            throw ServiceError(.digestWrongSize, details: [.bytes: "\(digest.count)"])
        }
        let bytes = [UInt8](digest)
        let made = try await use(key, proof, password) {
            commands,
            authority,
            policy,
            credentials throws(TPMError) in
            try commands.sign(
                digest: bytes,
                with: key.object,
                under: authority.root,
                meeting: policy,
                with: credentials
            )
        }
        guard let signature = Signature(raw: Data(made.raw)) else {
            throw ServiceError(.chipFailed, key.owner.spoken, cause: "no ECDSA signature")
        }
        return signature
    }

    /// Returns the X coordinate of the product of another party's public key and the item's key.
    func sharedSecret(
        with publicKey: Data,
        of key: some UsableItem,
        _ proof: OwnerProof,
        _ password: SecretBox?
    ) async throws(ServiceError) -> SecretBox {
        guard let point = ECPoint(x963: [UInt8](publicKey)) else {
            throw ServiceError(.publicKeyRefused, cause: "not in the X9.63 format of 65 bytes")
        }
        return try await use(key, proof, password) {
            commands,
            authority,
            policy,
            credentials throws(TPMError) in
            SecretBox(
                try commands.sharedSecret(
                    with: point,
                    of: key.object,
                    under: authority.root,
                    meeting: policy,
                    with: credentials
                )
            )
        }
    }
}
