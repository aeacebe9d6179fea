// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginAssertion
internal import WhorlService

/// The proof of the chip that goes along with a new key.
extension LoginDesk {
    /// Makes a key, and the attestation that goes with it if the options want one.
    func makeKey(
        _ access: AccessControl,
        for user: LoginName,
        on device: LoginName
    ) async throws(LoginError) -> (item: SealedItem, attestation: AttestationStatement?) {
        guard options.attests else { return (try await owner.makeKey(access), nil) }
        let identity = try await owner.chipIdentity()
        let answer = try await send(.credential(for: user, on: device, identity, to: server)).credential()
        let made = try await owner.makeKey(
            access,
            attestedFor: ChipCredential(
                for: identity,
                credential: answer.credential,
                seed: answer.secret,
                preface: AttestationStatement.preface(nonce: answer.nonce)
            )
        )
        return (made.item, AttestationStatement(made, of: identity, nonce: answer.nonce))
    }
}

extension AttestationStatement {
    fileprivate init(_ made: AttestedKey, of identity: ChipIdentity, nonce: Data) {
        self.init(
            nonce: nonce,
            endorsementKey: identity.endorsementKey,
            certificate: identity.certificate,
            attestationKey: identity.attestationKey,
            key: made.key,
            authority: made.authority,
            counter: made.counter,
            counterValue: made.counterValue,
            passcode: made.passcode,
            statement: made.statement,
            signature: made.signature
        )
    }
}
