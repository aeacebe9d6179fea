// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlSupport

/// The root of all commands.
struct Whorl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whorl",
        abstract: "Touch ID for Linux: enroll fingers, and ask whether their owner is there.",
        discussion: """
            First `whorl doctor`, which looks whether everything is in place. Then:

              whorl enroll right-index-finger
              whorl evaluate --reason "unlock the vault" && echo welcome

            Every command takes --json for programs, and ends with a status that tells what happened: \
            0 is yes, 10 a finger that does not match, 11 cancel. Scripts may rely on both.
            """,
        version: WhorlVersion.text,
        subcommands: [
            Devices.self, Doctor.self, Enroll.self, Fingers.self, Remove.self, CanEvaluate.self,
            Evaluate.self,
            DomainState.self, Passcode.self, Secret.self, Key.self, VaultCommand.self, Login.self,
            Biometry.self,
            Log.self, Agent.self, Identify.self, Migrate.self, ImportFprintd.self, PAMCommand.self,
            Keyring.self,
            Simulate.self,
        ]
    )

    @OptionGroup var global: GlobalOptions

    /// Prints the help if no command is given, or the error for a program.
    func run() async throws {
        if global.json { throw ValidationError("A command is missing.") }
        throw CleanExit.helpRequest(self)
    }
}
