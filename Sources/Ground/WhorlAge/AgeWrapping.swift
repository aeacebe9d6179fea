// SPDX-License-Identifier: Apache-2.0

internal import WhorlSecretMemory

/// The first phase of `recipient-v1`: what age wants to encrypt, and to whom.
///
/// Source: C2SP age-plugin.md, "Wrapping with recipient-v1".
package struct AgeWrapping: Sendable {
    private var recipients: [AgeTagRecipient] = []
    private var fileKeys: [SecretBox] = []
    private var errors: [AgeStanza] = []
    private var counts = (recipients: 0, identities: 0)

    package init() {}

    /// Takes a command; one that is not known is ignored.
    package mutating func take(_ command: AgeStanza) {
        switch (command.arguments[0], command.arguments.count) {
        case ("add-recipient", 2):
            if let recipient = AgeTagRecipient(command.arguments[1]) {
                recipients.append(recipient)
            } else {
                errors.append(
                    .error("recipient", counts.recipients, because: "It is not a recipient age1tag1…")
                )
            }
            counts.recipients += 1
        case ("add-identity", 2):
            if let identity = AgeIdentity(command.arguments[1]) {
                recipients.append(identity.recipient)
            } else {
                errors.append(
                    .error("identity", counts.identities, because: "It is not an identity of Whorl.")
                )
            }
            counts.identities += 1
        case ("wrap-file-key", 1):
            if command.body.count == 16 {
                fileKeys.append(SecretBox(SecretBytes(copying: command.body.span.bytes)))
            } else {
                errors.append(
                    .error("internal", because: "The key of a file has \(command.body.count) bytes, not 16.")
                )
            }
        default: break
        }
    }

    /// The commands of the second phase: an encrypted file key for each file and recipient, or errors.
    ///
    /// - Throws: An error of the crypto library.
    package func commands() throws -> [AgeStanza] {
        guard errors.isEmpty else { return errors }
        return try fileKeys.enumerated().flatMap { index, fileKey in
            try recipients.map { recipient in
                let stanza = try recipient.stanza(for: fileKey)
                return AgeStanza(["recipient-stanza", "\(index)"] + stanza.arguments, body: stanza.body)
            }
        }
    }
}

extension AgeStanza {
    /// Creates the report of an error to age.
    package static func error(_ part: String, _ numbers: Int..., because message: String) -> AgeStanza {
        AgeStanza(["error", part] + numbers.map { "\($0)" }, body: Array(message.utf8))
    }
}
