// SPDX-License-Identifier: Apache-2.0

internal import WhorlEnrollment
internal import StateStore
internal import WhorlVault
internal import WhorlService

/// The counter of the generations of the enrolled fingers, in the chip once the vault is provisioned; before that, only
/// the database's own number counts.
struct VaultGenerations: GenerationCounter {
    let state: ProtectedState

    func current(of profile: String, stored: UInt64) async throws(EnrollmentError) -> UInt64 {
        try await counting { vault async throws(VaultError) in
            try await vault.generation(of: profile, stored: stored)
        } ?? stored
    }

    func advance(_ profile: String, to generation: UInt64) async throws(EnrollmentError) {
        _ = try await counting { vault async throws(VaultError) in
            try await vault.advance(profile, to: generation)
        }
    }

    func hasCounter(_ profile: String) async throws(EnrollmentError) -> Bool {
        try await counting { vault async throws(VaultError) in
            try await vault.hasCounter(profile)
        } ?? false
    }

    func restart(_ profile: String, stored: UInt64) async throws(EnrollmentError) -> UInt64 {
        try await counting { vault async throws(VaultError) in
            do throws(VaultError) {
                return try await vault.generation(of: profile, stored: stored)
            } catch {
                guard error.code == .counterLost else { throw error }
                // One above the stored number: if the program ends here, the set is not trusted yet.
                try await vault.acceptGeneration(of: profile, stored: stored + 1)
                return stored + 1
            }
        } ?? stored
    }

    private func counting<Value: Sendable>(
        _ body: (Vault) async throws(VaultError) -> Value
    ) async throws(EnrollmentError) -> Value? {
        do {
            guard let vault = try await state.existingVault() else { return nil }
            return try await body(vault)
        } catch {
            guard error.code != .counterLost else {
                throw EnrollmentError(.enrollmentRolledBack, cause: error.description)
            }
            throw EnrollmentError(.store(StateError(error, in: state.directory)))
        }
    }
}
