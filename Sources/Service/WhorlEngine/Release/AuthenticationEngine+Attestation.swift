// SPDX-License-Identifier: Apache-2.0

import WhorlVault
public import WhorlService

/// The chip's evidence of how it protects a key.
extension AuthenticationEngine {
    /// Returns the chip's identity, with a new attestation key; the owner is not asked.
    @concurrent
    public func chipIdentity() async throws(VaultError) -> ChipIdentity {
        try await vault.createdVault().chipIdentity()
    }

    /// Makes a key that the caller stores, and has the chip state how it is protected; the owner is not asked.
    @concurrent
    public func makeKey(
        access: AccessControl,
        attestedFor credential: ChipCredential
    ) async throws(VaultError) -> AttestedKey {
        try await vaultForNew(access).makeKey(of: profile, access: access, attestedFor: credential)
    }
}
