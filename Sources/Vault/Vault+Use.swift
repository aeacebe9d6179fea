// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import StateStore
import TPM

/// The one way to an item: what was shown is turned into what the chip takes, and the chip's refusal into a reason.
extension Vault {
    /// Runs `body` with the item's policy and with what meets it.
    func use<Value: Sendable>(
        _ row: ItemRow,
        _ proof: OwnerProof,
        _ password: SecretBox?,
        _ body:
            @Sendable (borrowing TPMCommands, VaultAuthority, Policy, Credentials) throws(TPMError) -> Value
    ) async throws(VaultError) -> Value {
        guard let authority = try authority() else {
            throw VaultError(.chipCleared, row.id.spoken, cause: "the authority's file is gone")
        }
        guard let policy = ItemPolicy.policy(row.access, row.binding, authority: authority.object.name),
            policy.digest == row.object.policy
        else { throw VaultError(.itemTampered, row.id.spoken, cause: "its policy is another one") }
        let credentials = try await credentials(for: row, proof, password, authority)
        do {
            return try await device.perform { commands throws(TPMError) in
                try body(commands, authority, policy, credentials)
            }
        } catch {
            throw await reason(for: error, row)
        }
    }

    private func credentials(
        for row: ItemRow,
        _ proof: OwnerProof,
        _ password: SecretBox?,
        _ authority: VaultAuthority
    ) async throws(VaultError) -> Credentials {
        let met = row.access.waysInChip.filter { proof.meets($0, row.binding) }
        guard proof.profile == row.id.profile, !met.isEmpty else {
            throw VaultError(.accessDenied, row.id.spoken, cause: "nothing that was shown opens it")
        }
        var credentials = Credentials()
        if met.contains(where: ItemPolicy.needsAuthority) {
            credentials.add(authority.object, auth: authority.authorization)
        }
        if let passcode = proof.passcode {
            credentials.add(passcode.object, auth: passcode.authorization)
        }
        if let derivation = row.binding.applicationPassword {
            guard let password else { throw VaultError(.applicationPasswordNeeded, row.id.spoken) }
            credentials.authValue = try await derivation.authorization(ofApplicationPassword: password)
        }
        return credentials
    }

    /// Why the chip has refused an item.
    private func reason(for error: TPMError, _ row: ItemRow) async -> VaultError {
        let item = row.id.spoken
        switch error.code {
        case .authFailed where error.command == "TPM2_PolicySecret":
            return VaultError(.passcodeWrong, item, cause: error.description)
        case .authFailed where row.access.needsApplicationPassword:
            return VaultError(.applicationPasswordWrong, item, cause: error.description)
        case .policyFailed, .nvMissing, .nvUnwritten, .authFailed:
            return await unmetPolicy(error, row)
        case .foreignBlob:
            let isOther = try? await isChipAnother()
            return VaultError(isOther == true ? .chipCleared : .itemTampered, item, cause: error.description)
        default: return VaultError(error, item)
        }
    }

    private func unmetPolicy(_ error: TPMError, _ row: ItemRow) async -> VaultError {
        let item = row.id.spoken
        if let bound = row.binding.generation {
            let value = try? await device.perform { commands throws(TPMError) in
                try commands.check(bound.counter)
            }
            if value != .same(bound.value) {
                return VaultError(.enrollmentChanged, item, cause: error.description)
            }
        }
        if let pcrs = row.access.pcrs, let boot = row.binding.boot,
            let present = try? await measurements(pcrs), present != boot
        {
            return VaultError(.measuredBootChanged, item, cause: error.description)
        }
        return VaultError(error, item)
    }
}
