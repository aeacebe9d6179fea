// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import WhorlAge
import WhorlSecretMemory
import WhorlService

/// The command that age-plugin-whorl runs to encrypt.
///
/// It uses neither the service nor the TPM.
struct AgeRecipientPlugin: Verb {
    static let asks = Asked.nothing
    static let configuration = CommandConfiguration(
        commandName: "plugin-recipient",
        abstract: "Speak age's protocol recipient-v1",
        shouldDisplay: false
    )
    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        var conversation = AgeConversation()
        var wrapping = AgeWrapping()
        try conversation.read { wrapping.take($0) }
        for command in try wrapping.commands() { try conversation.send(command) }
        try conversation.end()
        return Answer(result: [:], text: [])
    }
}

/// The command that age-plugin-whorl runs to decrypt.
struct AgeIdentityPlugin: Verb {
    static let asks = Asked.engine
    static let configuration = CommandConfiguration(
        commandName: "plugin-identity",
        abstract: "Speak age's protocol identity-v1",
        shouldDisplay: false
    )
    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        var conversation = AgeConversation()
        var unwrapping = AgeUnwrapping()
        try conversation.read { unwrapping.take($0) }
        let (candidates, errors) = unwrapping.candidates()
        for error in errors { try conversation.send(error) }
        var settled: Set<Int> = []
        for candidate in candidates where !settled.contains(candidate.file) {
            let identity = unwrapping.identities[candidate.identity]
            do {
                try conversation.send(.message("Authenticate with Whorl to decrypt the file."))
                let agreed = try await Self.agreed(candidate.wrapped, identity, session)
                try conversation.send(.result(of: candidate, identity.recipient, agreed))
            } catch let error as ServiceError where error.code == .itemTampered {
                // This was found before a prompt. Another identity, or one of another kind, may decrypt the file.
                let message = "A key is in the TPM of another computer, or its identity was changed."
                try conversation.send(.message(message))
                continue
            } catch let error as ServiceError {
                try conversation.send(.error("identity", candidate.identity, because: Failure(error).message))
            }
            settled.insert(candidate.file)
        }
        try conversation.end()
        return Answer(result: [:], text: [])
    }

    /// Prompts for the proof that the key requires, and returns the result of the key agreement.
    private static func agreed(
        _ wrapped: AgeTagRecipient.Wrapped,
        _ identity: AgeIdentity,
        _ session: Session
    ) async throws -> SecretBox {
        let services = session.services
        let key = try services.sealedItem(encoded: Data(identity.sealedKey))
        guard let point = key.publicKey, AgeTagRecipient(x963: point) == identity.recipient else {
            throw ServiceError(.itemTampered, "key for age", cause: "the identity has another public key")
        }
        let evaluation = EvaluationRequest(
            policy: .deviceOwner,
            purpose: .storedByProgram,
            reason: "decrypt a file with age",
            application: services.application,
            timeout: session.options.patience
        )
        let released = try await services.sharedSecret(
            with: Data(wrapped.sender),
            of: key,
            ReleaseRequest(evaluation),
            presenter: session.presenter(handing: nil)
        )
        return released.product
    }
}

extension AgeStanza {
    fileprivate static func message(_ text: String) -> AgeStanza {
        AgeStanza(["msg"], body: Array(text.utf8))
    }

    /// Returns the file key, or an error if it was not encrypted to the recipient.
    fileprivate static func result(
        of candidate: AgeUnwrapping.Candidate,
        _ recipient: AgeTagRecipient,
        _ agreed: SecretBox
    ) -> AgeStanza {
        guard let key = recipient.fileKey(candidate.wrapped, agreed: agreed) else {
            let reason = "It cannot be decrypted with the key."
            return .error("stanza", candidate.file, candidate.stanza, because: reason)
        }
        return AgeStanza(["file-key", "\(candidate.file)"], body: key.bytes.withUnsafeBytes { Array($0) })
    }
}
