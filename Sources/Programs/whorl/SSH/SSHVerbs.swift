// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlService
import WhorlSSH

/// The command `whorl ssh`.
struct SSHCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ssh",
        abstract: "Create and list SSH keys in the TPM",
        discussion: """
            The keys sign only requests of SSH: logins, commits and files. The prompt says which one, and the TPM signs after you \
            authenticate. Programs reach the keys through an SSH agent (Docs/SSH.md). Examples:

              whorl ssh enable
              whorl ssh create laptop
              whorl ssh config >> ~/.ssh/config
              whorl ssh git-setup laptop
            """,
        subcommands: [
            Create.self, List.self, Public.self, Remove.self, Pin.self, Config.self, Enable.self,
            Disable.self,
            GitSetup.self,
        ]
    )

    /// The command `whorl ssh create`.
    struct Create: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create an SSH key and print its public key",
            discussion: """
                The key has the type ecdsa-sha2-nistp256, because TPMs have no Ed25519 keys. Any enrolled finger unlocks it, or the \
                passcode if one is set, unless --access says otherwise.
                """
        )
        @Argument(help: "Name of the key")
        var name: String
        @OptionGroup var access: PromptedAccessOption
        @Flag(help: "Also sign data of unknown meaning, as ssh-add -T requests; the prompt says so")
        var allowUnknown = false
        @Option(
            help: ArgumentHelp(
                "Let a touch count for more requests like the first, for up to 60 seconds",
                discussion: "The same login, or signatures for the same purpose, but no forwarded requests",
                valueName: "seconds"
            )
        )
        var reuse = 0
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard 0...SSHKeyRules.longestReuse ~= reuse else {
                throw ValidationError("--reuse must be from 0 to \(SSHKeyRules.longestReuse) seconds.")
            }
        }

        func answer(_ session: Session) async throws -> Answer {
            let id = try session.item(.sshKey, name)
            let control = try await access.read(session, loss: "Keep another way into your servers.")
            try await session.prepareItems()
            let key = try await session.services.ask(
                AddSSHKey(id, access: control, allowsUnknownData: allowUnknown, reuseSeconds: reuse)
            )
            SSHAgent.reload()
            var answer = try Answer.sshKey(key, of: id)
            answer.result = answer.result.adding("access", .string(control.text))
            return answer
        }
    }

    /// The command `whorl ssh list`.
    struct List: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List SSH keys and their access controls"
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            .items(try await session.items(.sshKey), as: "keys", none: "No SSH keys.")
        }
    }

    /// The command `whorl ssh public`.
    struct Public: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "public",
            abstract: "Print the public key of an SSH key, as in a .pub file"
        )
        @Argument(help: "Name of the key")
        var name: String
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let id = try session.item(.sshKey, name)
            return try .sshKey(try await session.services.ask(ReadPublicKey(of: id)), of: id)
        }
    }

    /// The command `whorl ssh remove`.
    struct Remove: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove an SSH key (prompts first)"
        )
        @Argument(help: "Name of the key")
        var name: String
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let answer = try await session.delete(.sshKey, name, handing: try await passcode.preset())
            SSHAgent.reload()
            return answer
        }
    }
}

extension Answer {
    fileprivate static func sshKey(_ key: SigningKeyPublic, of id: ItemID) throws(ServiceError) -> Answer {
        guard let key = SSHPublicKey(p256: key.x963) else {
            throw ServiceError(.itemTampered, id.spoken, cause: "not a point on P-256")
        }
        let line = key.line(comment: id.name.text)
        return Answer(
            result: [
                "name": .string(id.name.text), "publicKey": .string(line),
                "fingerprint": .string(key.fingerprint),
            ],
            text: [line]
        )
    }
}
