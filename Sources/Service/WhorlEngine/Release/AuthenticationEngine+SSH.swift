// SPDX-License-Identifier: Apache-2.0

internal import Crypto
package import FoundationEssentials
package import WhorlService
import WhorlSSH
import WhorlVault

/// Signatures with SSH keys, for which the engine itself writes what the prompt says.
extension AuthenticationEngine {
    /// Parses a request of SSH, prompts for the proof that the key requires, and returns the signature in SSH's encoding.
    ///
    /// - Throws: `sshRequestRefused` before a prompt is shown; `notInteractive` if no program can show it; the errors of a
    ///   release.
    @concurrent
    package func sign(
        _ asked: SignForSSH,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Data {
        let id = asked.id
        guard id.kind == .sshKey, id.profile == profile, let vault = try await self.vault.vaultInChip() else {
            throw ServiceError(.noSuchItem, id.spoken)
        }
        let publicKey = try await vault.publicKey(of: id)
        guard let key = SSHPublicKey(p256: publicKey.x963) else {
            throw ServiceError(.itemTampered, id.spoken, cause: "not a point on P-256")
        }
        // A key that requires no owner cannot be made; a touch must precede each signature nevertheless.
        guard try await vault.access(of: id).asking() != .nothing else {
            throw ServiceError(.accessDenied, id.spoken, cause: "the key does not require its owner")
        }
        let rules = try await vault.rules(of: id)
        let statement = try SSHStatement(asked, key, rules)
        // What is signed is stated nowhere but in the prompt.
        guard await presenter.isInteractive else { throw .noPromptForSSH }
        var evaluation = EvaluationRequest(
            policy: .deviceOwner,
            purpose: statement.purpose,
            reason: "use the \(id.spoken): \(statement.text)",
            application: asked.request.application,
            timeout: asked.request.timeout
        )
        evaluation.origin = asked.request.origin
        if rules.reuseSeconds > 0, let session = asked.session(publicKey.x963) {
            let earlier = session.content(as: SessionProofs.self)?.scope.purpose
            // A prompt for anything else ends the time, however it is answered.
            if !statement.isRepeatable || earlier != statement.purpose { session.forget() }
            if statement.isRepeatable {
                evaluation.burst = .seconds(min(rules.reuseSeconds, SSHKeyRules.longestReuse))
                evaluation.session = session
            }
        }
        let release = ItemRelease(engine: self, request: ReleaseRequest(evaluation), presenter: presenter)
        let digest = Data(SHA256.hash(data: asked.data))
        let signature = try await release.release(.named(id)) { vault, proof throws(ServiceError) in
            try await vault.sign(requestDigest: digest, with: id, shown: proof)
        }.product
        guard let encoded = SSHSignature.p256(raw: signature.raw) else {
            throw ServiceError(.chipFailed, id.spoken, cause: "a signature with a zero")
        }
        return Data(encoded)
    }
}

extension ServiceError {
    fileprivate static let noPromptForSSH = ServiceError(
        .notInteractive,
        message: "No program shows prompts in this session.",
        recovery: "Log in to a desktop with whorl-prompt, or run `whorl agent` in another terminal."
    )
}
