// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import WhorlSecretMemory
import WhorlService

/// The command `whorl key`.
struct Key: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Create and use P-256 keys in the TPM",
        discussion: """
            Private keys never leave the TPM, which signs only after you authenticate. Example:

              whorl key create release > release.pem
              whorl key sign release < package.tar > package.sig
              openssl dgst -sha256 -verify release.pem -signature package.sig package.tar
            """,
        subcommands: [Create.self, List.self, Public.self, Sign.self, Delete.self]
    )

    /// The command `whorl key create`.
    struct Create: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create a key and print its public key (PEM)"
        )
        @Argument(help: "Name of the key")
        var name: String
        @OptionGroup var access: AccessOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let id = try session.item(.key, name)
            try await session.prepareItems()
            let (control, password) = try await access.read()
            let key = try await session.services.ask(
                AddItem(id, MakeItem(.key, access: control, applicationPassword: password))
            )
            guard let key else { throw ServiceError(.chipFailed, id.spoken, cause: "no public key") }
            var answer = Answer.publicKey(key, of: id)
            answer.result = answer.result.adding("access", .string(control.text))
            return answer
        }
    }

    /// The command `whorl key list`.
    struct List: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List keys and their access controls"
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            .items(try await session.items(.key), as: "keys", none: "No keys.")
        }
    }

    /// The command `whorl key public`.
    struct Public: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "public",
            abstract: "Print a public key (PEM)"
        )
        @Argument(help: "Name of the key")
        var name: String
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let id = try session.item(.key, name)
            let key = try await session.services.ask(ReadPublicKey(of: id))
            return .publicKey(key, of: id)
        }
    }

    /// The command `whorl key sign`.
    struct Sign: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "sign",
            abstract: "Sign standard input (ECDSA with SHA-256)",
            discussion: """
                You authenticate as the key's access control requires. The signature is written to standard output in DER, as OpenSSL \
                expects it, or in Base64 with --json.
                """
        )
        @Argument(help: "Name of the key")
        var name: String
        @Flag(help: "Print the raw 64-byte signature (r ‖ s), as JOSE expects")
        var raw = false
        @OptionGroup var options: ReleaseOptions
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let id = try session.item(.key, name)
            guard global.json || isatty(STDOUT_FILENO) == 0 else {
                throw Failure.usage(
                    "The signature is binary and cannot be shown in a terminal.",
                    hint: "Redirect it to a file (> message.sig), or use --json for Base64."
                )
            }
            let digest = try await StandardInput.digest()
            let signature = try await options.release(
                id,
                session,
                patience: global.patience,
                otherwise: "sign with the key “\(id.name.text)”"
            ) { request, presenter in
                try await session.services.signature(
                    over: digest,
                    with: .named(id),
                    request,
                    presenter: presenter
                )
            }
            let bytes = raw ? signature.raw : signature.der
            return Answer(
                result: ["algorithm": "ES256"],
                text: [],
                product: Product(
                    name: "signature",
                    bytes: SecretBox(SecretBytes(count: bytes.count) { bytes.copyBytes(to: $0) })
                )
            )
        }
    }

    /// The command `whorl key delete`.
    struct Delete: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a key (prompts if its access control requires it)"
        )
        @Argument(help: "Name of the key")
        var name: String
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.delete(.key, name, handing: try await passcode.preset())
        }
    }
}

extension Answer {
    fileprivate static func publicKey(_ key: SigningKeyPublic, of id: ItemID) -> Answer {
        Answer(
            result: ["name": .string(id.name.text), "publicKey": .string(key.pem)],
            text: key.pem.split(separator: "\n").map(String.init)
        )
    }
}
