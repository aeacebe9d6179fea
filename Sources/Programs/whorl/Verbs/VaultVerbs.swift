// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlSecretMemory
import WhorlService

/// The command `whorl vault`.
struct VaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "Brings the state directory into the TPM's keeping, looks at that, or ends it.",
        discussion: """
            A new directory is in the TPM's keeping from its first finger, passcode, secret or key on, where there \
            is a TPM. An older one is brought there with

              whorl vault provision
            """,
        subcommands: [Status.self, Provision.self, Reset.self, Reseal.self]
    )

    /// The command `whorl vault status`.
    struct Status: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Says how the directory stands with its TPM; changes nothing."
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
            abstract: "Has the TPM seal the directory's key and count the changes of the fingers.",
            discussion: "It may be interrupted and run again. The fingers stay as they are."
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.services.ask(ProvisionVault())
            return Answer(
                result: ["provisioned": true, "stateKey": "sealed"],
                text: ["The TPM keeps the directory's key now."]
            )
        }
    }

    /// The command `whorl vault reset`.
    struct Reset: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "reset",
            abstract: "Takes the vault apart: secrets, keys and passcodes are lost for good.",
            discussion: """
                The fingers stay where the TPM still gives the directory's key. Where it does not, since it was \
                cleared or is another one, the database is put aside and nothing is enrolled any more.
                """
        )
        @Flag(help: "Does it; also where there is no TPM any more.")
        var force = false
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            guard force else {
                throw Failure.usage(
                    "This loses every secret, key and passcode of the directory.",
                    hint: "Say so with --force; `whorl secret list` and `whorl key list` show what there is."
                )
            }
            let reset = try await PasswordAgent.beside(session) {
                try await session.services.ask(ResetVault(withoutChip: force))
            }
            switch reset {
            case .fingersKept:
                return Answer(result: ["fingers": "kept"], text: ["The vault is gone; the fingers stay."])
            case .fingersLost(let database):
                return Answer(
                    result: ["fingers": "lost", "database": .string(database)],
                    text: ["The vault and the fingers are gone; the database is \(database) now."]
                )
            }
        }
    }

    /// The command `whorl vault reseal`.
    struct Reseal: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "reseal",
            abstract: "Binds secrets to the machine's start as it is now, with the passcode.",
            discussion: "It is for secrets with +pcrs, after an update of the firmware."
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
                text: resealing.resealed.map { "bound anew: \($0.spoken)" }
                    + resealing.unchanged.map { "takes the passcode besides: \($0.spoken)" }
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

    /// The place of the state key, in words.
    var stateKeyWords: String {
        switch stateKey {
        case .none: "none yet"
        case .file: "in a file that only this user may read"
        case .sealed: "sealed by the TPM"
        case .both: "sealed by the TPM, and still in a file"
        }
    }

    /// Returns a handle in the notation of tpm2-tools.
    static func handle(_ number: UInt32) -> String { "0x" + String(number, radix: 16) }
}
