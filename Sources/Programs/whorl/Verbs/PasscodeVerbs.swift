// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Authentication
import SecretMemory
import Vault
import WhorlSystem

/// The command `whorl passcode`.
struct Passcode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passcode",
        abstract: "Sets, changes, checks or removes the owner's passcode.",
        discussion: """
            The TPM keeps it, and counts wrong tries. It is asked for on the terminal, or taken from an open file; \
            it is never an argument. Example:

              whorl passcode set
            """,
        subcommands: [Set.self, Change.self, Verify.self, Remove.self]
    )

    /// The size from which a new passcode is accepted without advice.
    private static let recommendedSize = 8

    /// Returns a line about a short passcode, which is accepted all the same.
    private static func advice(on new: SecretBox) -> [String] {
        guard new.bytes.count < recommendedSize else { return [] }
        return [
            "It is short. On most machines the TPM's count of wrong ones can be reset (`whorl doctor` tells), and then "
                + "only the length protects: \(recommendedSize) characters or more are recommended."
        ]
    }

    /// The command `whorl passcode set`.
    struct Set: Verb {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Sets a passcode where none is.",
            discussion: "Where a finger is enrolled, the owner touches the reader with one first."
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws(Failure) -> Answer {
            let vault = try await session.vault()
            let profile = session.services.profile
            // This is reported before anything is typed.
            if try await failing({ () async throws(VaultError) in
                try await vault.isPasscodeSet(of: profile)
            }) {
                throw Failure(VaultError(.passcodeExists, profile))
            }
            let proof = try await session.proofForFirstPasscode()
            let new = try await passcode.readNew()
            try await failing { () async throws(VaultError) in
                try await vault.setPasscode(new, of: profile, shown: proof)
            }
            return Answer(result: ["set": true], text: ["The passcode is set."] + Passcode.advice(on: new))
        }
    }

    /// The command `whorl passcode change`.
    struct Change: Verb {
        static let configuration = CommandConfiguration(
            commandName: "change",
            abstract: "Sets another passcode; items that it opens go on.",
            discussion: "With --passcode-fd the first line is the present passcode, the second the new one."
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws(Failure) -> Answer {
            let vault = try await session.vaultWithPasscode()
            let old = try await passcode.read("Present passcode")
            let new = try await passcode.readNew()
            try await failing { () async throws(VaultError) in
                try await vault.changePasscode(old, to: new, of: session.services.profile)
            }
            return Answer(
                result: ["changed": true],
                text: ["The passcode is another one now."] + Passcode.advice(on: new)
            )
        }
    }

    /// The command `whorl passcode verify`.
    struct Verify: Verb {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Checks the passcode; the right one lifts the lock on fingers."
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws(Failure) -> Answer {
            _ = try await session.vaultWithPasscode()
            let shown = try await passcode.read()
            let verdict = try await failing { () async throws(AuthenticationError) in
                try await session.services.engine.unlock(with: shown.bytes)
            }
            let profile = session.services.profile
            switch verdict {
            case .verified: return Answer(result: ["verified": true], text: ["The passcode is right."])
            case .wrong: throw Failure(VaultError(.passcodeWrong, profile))
            case .throttled(let wait): throw Failure(VaultError(.passcodeThrottled(for: wait), profile))
            case .notSet: throw Failure(VaultError(.passcodeNotSet, profile))
            }
        }
    }

    /// The command `whorl passcode remove`.
    struct Remove: Verb {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Removes the passcode.",
            discussion: "Items that nothing else opens are named first, and deleted only with --force."
        )
        @Flag(help: "Deletes the items that nothing but the passcode opens.")
        var force = false
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws(Failure) -> Answer {
            let vault = try await session.vaultWithPasscode()
            let profile = session.services.profile
            let lost = try await failing { () async throws(VaultError) in
                try await vault.itemsLostWithoutPasscode(of: profile)
            }
            guard force || lost.isEmpty else {
                throw Failure(VaultError(.passcodeNeeded(by: lost.map(\.spoken)), profile))
            }
            let shown = try await passcode.read()
            let deleted = try await failing { () async throws(VaultError) in
                try await vault.removePasscode(shown, of: profile, force: force)
            }
            return Answer(
                result: [
                    "removed": true,
                    "deleted": .array(
                        deleted.map { ["kind": .string($0.kind.rawValue), "name": .string($0.name.text)] }
                    ),
                ],
                text: ["No passcode is set any more."] + deleted.map { "deleted: \($0.spoken)" }
            )
        }
    }
}

extension Session {
    /// Returns the vault for making items; it is available if there is a chip.
    func vault() async throws(Failure) -> Vault {
        try await failing { () async throws(VaultError) in try await services.vault() }
    }

    /// Returns the vault of existing items; `nil` when nothing was made before.
    func existingVault() async throws(Failure) -> Vault? {
        try await failing { () async throws(VaultError) in try await services.existingVault() }
    }

    /// Returns the vault for operations that need no chip; `nil` when nothing was ever stored.
    func storedVault() async throws(Failure) -> Vault? {
        try await failing { () async throws(VaultError) in try await services.storedVault() }
    }

    /// Returns the vault of a profile that has a passcode.
    fileprivate func vaultWithPasscode() async throws(Failure) -> Vault {
        let profile = services.profile
        guard let vault = try await existingVault() else {
            throw Failure(VaultError(.passcodeNotSet, profile))
        }
        let isSet = try await failing { () async throws(VaultError) in
            try await vault.isPasscodeSet(of: profile)
        }
        guard isSet else { throw Failure(VaultError(.passcodeNotSet, profile)) }
        return vault
    }
}
