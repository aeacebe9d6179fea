// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlSecretMemory
import WhorlService

/// The command `whorl vault`.
struct VaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "Manage TPM protection of the state directory",
        discussion: """
            A new directory is protected by the TPM, if there is one, as soon as you add a finger, passcode, secret or key. To \
            protect an older directory:

              whorl vault provision
            """,
        subcommands: [Status.self, Provision.self, Reset.self, Reseal.self]
    )

    /// The command `whorl vault status`.
    struct Status: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show whether and how the TPM protects the directory"
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let status = try await session.services.ask(ReadVaultStatus())
            return Answer(
                result: status.json,
                text: status.lines,
                status: status.problems.isEmpty ? .success : .failure
            )
        }
    }

    /// The command `whorl vault provision`.
    struct Provision: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "provision",
            abstract: "Seal the directory's key in the TPM, and count changes of the fingers there",
            discussion: "You can interrupt it and run it again. Fingers are kept."
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.services.ask(ProvisionVault())
            return Answer(
                result: ["provisioned": true, "stateKey": "sealed"],
                text: ["The directory's key is now sealed in the TPM."]
            )
        }
    }

    /// The command `whorl vault reset`.
    struct Reset: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "reset",
            abstract: "End TPM protection; all secrets, keys and passcodes are lost",
            discussion: """
                Fingers are kept if the TPM still releases the directory's key. If the TPM was cleared or replaced, the database is moved \
                aside and no fingers remain enrolled.
                """
        )
        @Flag(help: "Confirm the loss; also works without the TPM")
        var force = false
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            // A state that cannot be read does not stop its removal.
            let hasKeyring = (try? await session.services.ask(ReadKeyringStatus()))?.hasOwnPassword ?? false
            guard force else {
                throw Failure.usage(
                    "All secrets, keys and passcodes in this directory would be lost.",
                    hint: (hasKeyring
                        ? "The keyring's own password, too: first run `whorl keyring off`. " : "")
                        + "Confirm with --force; `whorl secret list` and `whorl key list` show what would be lost."
                )
            }
            if hasKeyring {
                session.console.warn(
                    "The keyring's own password is lost. With its recovery sheet: whorl keyring off --from-sheet"
                )
            }
            let reset = try await PasswordAgent.beside(session) {
                try await session.services.ask(ResetVault(withoutChip: force))
            }
            switch reset {
            case .fingersKept:
                return Answer(result: ["fingers": "kept"], text: ["Vault removed. The fingers are kept."])
            case .fingersLost(let database):
                return Answer(
                    result: ["fingers": "lost", "database": .string(database)],
                    text: ["Vault and fingers removed. The old database is now \(database)."]
                )
            }
        }
    }

    /// The command `whorl vault reseal`.
    struct Reseal: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "reseal",
            abstract: "Bind secrets to the current boot measurements (requires the passcode)",
            discussion: "Use this for secrets with +pcrs after a firmware update."
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.requirePasscode()
            let preset = try await passcode.preset()
            let resealing = try await session.ask(handing: preset) { ResealItems($0) }
            return Answer(
                result: [
                    "resealed": .strings(resealing.resealed.map(\.name.text)),
                    "unchanged": .strings(resealing.unchanged.map(\.name.text)),
                ],
                text: resealing.resealed.map { "bound again: \($0.spoken)" }
                    + resealing.unchanged.map { "also requires the passcode: \($0.spoken)" }
            )
        }
    }
}

extension VaultStatus {
    /// The result of `whorl vault status`.
    var json: JSONValue {
        [
            "provisioned": .bool(isProvisioned),
            "stateKey": .string(stateKey.rawValue),
            "storageRoot": storageRoot.map { .string(VaultStatus.handle($0)) },
            "sameChip": isSameChip.map(JSONValue.bool),
            "simulated": .bool(isSimulated),
            "chip": chip.map(VaultStatus.json),
            "problems": .array(
                problems.map { problem in
                    let failure = Failure(problem)
                    return [
                        "code": .string(failure.code), "message": .string(failure.message),
                        "recovery": .string(failure.recovery),
                    ]
                }
            ),
        ]
    }

    private static func json(_ chip: ChipStatus) -> JSONValue {
        [
            "manufacturer": .string(chip.manufacturer), "firmware": .string(chip.firmware),
            "spec": .string(chip.specRevision),
            "ownerAuthSet": .bool(chip.ownerAuthSet), "lockoutAuthSet": .bool(chip.lockoutAuthSet),
            "failures": .integer(chip.failures),
            "limit": .integer(chip.failureLimit),
            "recoverySeconds": .integer(chip.recoverySeconds),
            "inLockout": .bool(chip.inLockout),
            "counters": chip.counters.map(JSONValue.integer),
        ]
    }

    /// The lines of `whorl vault status`.
    var lines: [String] {
        var lines = [
            "TPM: " + (chip.map { "\($0.manufacturer) \($0.vendor), firmware \($0.firmware)" } ?? "none")
                + (isSimulated ? " (simulated)" : ""),
            "vault: " + (isProvisioned ? "provisioned" : "not provisioned"),
            "key: \(stateKeyWords)",
        ]
        if let storageRoot { lines.append("storage root: \(VaultStatus.handle(storageRoot))") }
        if let chip {
            lines.append("wrong passcodes: \(chip.failures) of \(chip.failureLimit)")
        }
        return lines + problems.flatMap { ["problem: \($0.message)", "  → \($0.recovery)"] }
    }

    /// The location of the state key, as shown to the user.
    var stateKeyWords: String {
        switch stateKey {
        case .none: "none yet"
        case .file: "in a file that only you can read"
        case .sealed: "sealed in the TPM"
        case .both: "sealed in the TPM, and also in a file"
        }
    }

    /// Returns a handle in the notation of tpm2-tools.
    static func handle(_ number: UInt32) -> String { "0x" + String(number, radix: 16) }
}
