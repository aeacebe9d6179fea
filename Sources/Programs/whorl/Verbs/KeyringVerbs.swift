// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlRemote
import WhorlService

/// The command `whorl keyring`.
struct Keyring: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyring",
        abstract: "Unlock the desktop keyring when you log in by touch",
        discussion: """
            At your next login with a password, the TPM seals that password for the fingers enrolled at that time. Later logins by \
            touch pass it to the keyring's PAM module. Docs/PAM.md lists what the system needs. Example:

              whorl keyring on
            """,
        subcommands: [On.self, Off.self, Status.self],
        defaultSubcommand: Status.self
    )

    /// The command `whorl keyring on`.
    struct On: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "on",
            abstract: "Seal the login password at your next password login (requires a touch)"
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            guard session.place == .system else {
                throw ServiceError(
                    .notInteractive,
                    message: "Logins require the system service, which is not in use.",
                    recovery: "Install it (Docs/Service.md), or unset WHORL_SERVICE."
                )
            }
            try await session.ask(handing: nil) { TurnKeyringOn($0) }
            return try await session.keyring()
        }
    }

    /// The command `whorl keyring off`.
    struct Off: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "off",
            abstract: "Delete the sealed login password; your password does not change"
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let preset = try await passcode.preset()
            try await session.ask(handing: preset) { TurnKeyringOff($0) }
            return try await session.keyring()
        }
    }

    /// The command `whorl keyring status`.
    struct Status: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show whether a login by touch unlocks the keyring"
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer { try await session.keyring() }
    }
}

extension Session {
    /// Returns the keyring's state as the command's answer.
    fileprivate func keyring() async throws -> Answer {
        let status = try await services.ask(ReadKeyringStatus())
        return Answer(result: ["keyring": .string(status.rawValue)], text: [status.sentence])
    }
}

extension KeyringStatus {
    /// The sentence that describes the state to the user.
    fileprivate var sentence: String {
        switch self {
        case .off: "A login by touch does not unlock the keyring."
        case .waiting:
            "Log in with your password once. After that, a login by touch unlocks the keyring."
        case .enrollmentChanged:
            "Your enrolled fingers changed. Log in with your password once; after that, a login by touch unlocks the keyring again."
        case .ready: "A login by touch unlocks the keyring."
        }
    }
}
