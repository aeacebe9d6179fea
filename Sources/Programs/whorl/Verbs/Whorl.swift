// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlSupport

/// The root command.
struct Whorl: Verb {
    static let asks = Asked.engineBriefly
    static let configuration = CommandConfiguration(
        commandName: "whorl",
        abstract: "Fingerprint authentication backed by the TPM",
        discussion: """
            Enroll your fingers, authenticate with a touch, and store secrets and keys that the TPM releases only then. \
            Without a command, whorl shows the state of this computer and the next step. Example:

              whorl enroll right-index-finger
              whorl evaluate --reason "unlock the vault" && echo welcome

            Every command takes --json for scripts. Exit status: 0 for success, 10 if the finger did not match, 11 if you \
            canceled.
            """,
        version: WhorlVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Set up",
                subcommands: [
                    Doctor.self, Devices.self, Enroll.self, Fingers.self, Remove.self, Passcode.self,
                ]
            ),
            CommandGroup(
                name: "Authenticate",
                subcommands: [
                    Evaluate.self, CanEvaluate.self, Identify.self, DomainState.self, Log.self, Agent.self,
                ]
            ),
            CommandGroup(
                name: "Secrets and keys",
                subcommands: [
                    Secret.self, Key.self, SSHCommand.self, AgeCommand.self, KeychainCommand.self,
                    VaultCommand.self,
                    Migrate.self,
                ]
            ),
            CommandGroup(
                name: "System",
                subcommands: [
                    PAMCommand.self, Keyring.self, Biometry.self, Unlock.self, AccountCommand.self,
                    ForgetMe.self, ImportFprintd.self,
                ]
            ),
            CommandGroup(name: "Servers", subcommands: [Login.self]),
        ]
    )

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer { await Overview(session).answer() }
}
