// SPDX-License-Identifier: Apache-2.0

/// The first phase of `identity-v1`: the files that age wants to decrypt, and the identities.
///
/// Source: C2SP age-plugin.md, "Unwrapping with identity-v1".
package struct AgeUnwrapping: Sendable {
    /// The maximum number of identities and of stanzas.
    package static let most = 4096

    /// A file key that an identity should decrypt.
    package struct Candidate: Sendable {
        /// The number of the file.
        package let file: Int
        /// The number of the stanza in the file.
        package let stanza: Int
        /// The number of the identity.
        package let identity: Int
        /// The encrypted file key.
        package let wrapped: AgeTagRecipient.Wrapped
    }

    /// The identities.
    package private(set) var identities: [AgeIdentity] = []
    private var stanzas: [(file: Int, number: Int, stanza: AgeStanza)] = []
    private var identityCount = 0
    private var errors: [AgeStanza] = []

    package init() {}

    /// Takes a command; one that is not known is ignored.
    package mutating func take(_ command: AgeStanza) {
        guard identityCount + stanzas.count < Self.most else {
            if command.arguments[0] == "recipient-stanza", errors.isEmpty {
                errors.append(
                    .error("internal", because: "There are more than \(Self.most) recipients and identities.")
                )
            }
            return
        }
        switch command.arguments[0] {
        case "add-identity" where command.arguments.count == 2:
            if let identity = AgeIdentity(command.arguments[1]) {
                identities.append(identity)
            } else {
                errors.append(.error("identity", identityCount, because: "It is not an identity of Whorl."))
            }
            identityCount += 1
        case "recipient-stanza" where command.arguments.count >= 3:
            guard let file = Int(command.arguments[1]), file >= 0 else { return }
            let number = stanzas.last.map { $0.file == file ? $0.number + 1 : 0 } ?? 0
            stanzas.append((file, number, AgeStanza(Array(command.arguments[2...]), body: command.body)))
        default: break
        }
    }

    /// Returns the file keys to decrypt, in order of the files, and the errors to report.
    ///
    /// A file with a stanza that is not valid has no candidate, nor has any file if an identity is not valid. Of several
    /// candidates for a file, a later one is for the case that an earlier one's key is in another computer.
    package func candidates() -> (candidates: [Candidate], errors: [AgeStanza]) {
        guard errors.isEmpty else { return ([], errors) }
        var faults: [AgeStanza] = []
        var broken: Set<Int> = []
        var found: [Candidate] = []
        for (file, number, stanza) in stanzas {
            for (index, identity) in identities.enumerated() {
                do throws(AgeTagRecipient.Malformed) {
                    guard let wrapped = try identity.recipient.wrapped(in: stanza) else { continue }
                    guard AgeTagRecipient(x963: wrapped.sender) != nil else {
                        throw AgeTagRecipient.Malformed()
                    }
                    found.append(Candidate(file: file, stanza: number, identity: index, wrapped: wrapped))
                } catch {
                    broken.insert(file)
                    faults.append(
                        .error("stanza", file, number, because: "It is not a valid p256tag stanza.")
                    )
                    break
                }
            }
        }
        return (found.filter { !broken.contains($0.file) }.sorted { $0.file < $1.file }, faults)
    }
}
