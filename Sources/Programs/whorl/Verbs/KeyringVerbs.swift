// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlRemote
import WhorlService

/// The command `whorl keyring`.
struct Keyring: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyring",
        abstract: "Opens the desktop's keyring after a login by touch, or not.",
        discussion: """
            The next login with the password seals that password in the TPM, for the fingers that are enrolled then. A touch \
            at a later login hands it to the modules that open the keyring. Docs/PAM.md says what the system needs for it. \
            Example:

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
            abstract: "Has the next typed login password sealed; asks for a touch."
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            guard session.place == .system else {
                throw ServiceError(
                    .notInteractive,
                    message: "Logins ask the system's service, which is not in use here.",
                    recovery: "Install it (see Docs/Service.md), or unset WHORL_SERVICE."
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
            abstract: "Deletes the sealed login password; the password itself stays as it is."
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
            abstract: "Tells whether a touch at the login opens the keyring."
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer { try await session.keyring() }
    }
}

extension Session {
    /// Returns the answer that tells the state of the keyring.
    fileprivate func keyring() async throws -> Answer {
        let status = try await services.ask(ReadKeyringStatus())
        return Answer(result: ["keyring": .string(status.rawValue)], text: [status.sentence])
    }
}

extension KeyringStatus {
    /// The state for a person.
    fileprivate var sentence: String {
        switch self {
        case .off: "A login by touch does not open the keyring."
        case .waiting:
            "A login by touch will open the keyring once you have logged in with your password."
        case .enrollmentChanged:
            "Your fingers were changed: a login by touch opens the keyring once you have logged in with your password again."
        case .ready: "A login by touch opens the keyring."
        }
    }
}
