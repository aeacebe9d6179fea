// SPDX-License-Identifier: Apache-2.0

/// A service whose chip has no certificate, as a pretended one.
extension ItemService {
    /// Throws `noEndorsement`.
    public func chipIdentity() async throws(VaultError) -> ChipIdentity { throw VaultError(.noEndorsement) }

    /// Throws `noEndorsement`.
    public func makeKey(
        access _: AccessControl,
        attestedFor _: ChipCredential
    ) async throws(VaultError) -> AttestedKey {
        throw VaultError(.noEndorsement)
    }
}
