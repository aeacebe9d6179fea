// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import StateStore
import WhorlTPM
import WhorlService

/// The use of all items: the proof is converted to the chip's credentials, and the chip's refusal to an error.
extension Vault {
    /// Runs `body` with the item's policy and the credentials that meet it.
    func use<Value: Sendable>(
        _ item: some KeptItem,
        _ proof: OwnerProof,
        _ password: SecretBox?,
        _ body:
            @Sendable (borrowing TPMCommands, VaultAuthority, TPMPolicy, Credentials) throws(TPMError) ->
            Value
    ) async throws(VaultError) -> Value {
        guard let authority = try authority() else {
            throw VaultError(.chipCleared, item.owner.spoken, cause: "the authority's file is gone")
        }
        guard let policy = ItemPolicy.policy(item.access, item.binding, authority: authority.object.name),
            policy.digest == item.object.policy
        else { throw VaultError(.itemTampered, item.owner.spoken, cause: "its policy is another one") }
        let credentials = try await credentials(for: item, proof, password, authority)
        do {
            return try await device.perform { commands throws(TPMError) in
                try body(commands, authority, policy, credentials)
            }
        } catch {
            throw await reason(for: error, item)
        }
    }

    private func credentials(
        for item: some KeptItem,
        _ proof: OwnerProof,
        _ password: SecretBox?,
        _ authority: VaultAuthority
    ) async throws(VaultError) -> Credentials {
        let met = item.access.waysInChip.filter { proof.meets($0, item.binding) }
        guard proof.profile == item.owner.profile, !met.isEmpty else {
            throw VaultError(.accessDenied, item.owner.spoken, cause: "nothing that was shown opens it")
        }
        var credentials = Credentials()
        if met.contains(where: ItemPolicy.needsAuthority) {
            credentials.add(authority.object, auth: authority.authorization)
        }
        if let passcode = proof.passcode {
            credentials.add(passcode.object, auth: passcode.authorization)
        }
        if let derivation = item.binding.applicationPassword {
            guard let password else { throw VaultError(.applicationPasswordNeeded, item.owner.spoken) }
            credentials.authValue = try await derivation.authorization(ofApplicationPassword: password)
        }
        return credentials
    }

    /// Returns the error for the chip's refusal of an item.
    private func reason(for error: TPMError, _ item: some KeptItem) async -> VaultError {
        let name = item.owner.spoken
        switch error.code {
        case .authFailed where error.command == "TPM2_PolicySecret":
            return VaultError(.passcodeWrong, name, cause: error.description)
        case .authFailed where item.access.needsApplicationPassword:
            return VaultError(.applicationPasswordWrong, name, cause: error.description)
        case .policyFailed, .nvMissing, .nvUnwritten, .authFailed:
            return await unmetPolicy(error, item)
        case .foreignBlob:
            do throws(VaultError) {
                let isOther = try await isChipAnother()
                return VaultError(isOther ? .chipCleared : .itemTampered, name, cause: error.description)
            } catch let obstacle {
                // The two causes cannot be told apart.
                return obstacle
            }
        default: return VaultError(error, name)
        }
    }

    private func unmetPolicy(_ error: TPMError, _ item: some KeptItem) async -> VaultError {
        let name = item.owner.spoken
        if let set = item.binding.generation {
            switch await standing(of: set, item.owner.profile) {
            case .present: break
            case .changed: return VaultError(.enrollmentChanged, name, cause: error.description)
            case .unknown(let obstacle):
                return VaultError(obstacle.code, name, cause: error.description)
            }
        }
        if let pcrs = item.access.pcrs, let boot = item.binding.boot {
            do throws(VaultError) {
                guard try await measurements(pcrs) == boot else {
                    return VaultError(.measuredBootChanged, name, cause: error.description)
                }
            } catch let obstacle {
                return obstacle
            }
        }
        return VaultError(error, name)
    }
}
