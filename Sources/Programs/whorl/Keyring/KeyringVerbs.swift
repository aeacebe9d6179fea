// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlRemote
import WhorlSecretMemory
import WhorlService

/// The command `whorl keyring`.
struct Keyring: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyring",
        abstract: "Unlock the desktop keyring by touch, at login or on demand",
        discussion: """
            At your next login with a password, the TPM seals that password for the fingers enrolled at that time. Later logins by \
            touch pass it to the keyring's PAM module.

            With --on-demand, the keyring gets its own random password, which the TPM releases for a finger or your passcode \
            whenever a program needs the keyring. Docs/PAM.md lists what the system needs. Example:

              whorl keyring on --on-demand
            """,
        subcommands: [On.self, Off.self, Unlock.self, Sheet.self, Status.self],
        defaultSubcommand: Status.self
    )

    /// The command `whorl keyring on`.
    struct On: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "on",
            abstract: "Unlock the keyring when you log in by touch, or on demand (requires a touch)"
        )
        @Flag(help: "Give the keyring its own password, so that a touch can unlock it at any time")
        var onDemand = false
        @Flag(
            help: "With --on-demand, show that password as a recovery sheet; required if no passcode is set"
        )
        var sheet = false
        @OptionGroup var login: LoginPasswordOption
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard onDemand || (!sheet && login.descriptor == nil) else {
                throw ValidationError("--sheet and --login-password-fd require --on-demand.")
            }
        }

        func answer(_ session: Session) async throws -> Answer {
            guard session.place == .system else {
                throw ServiceError(
                    .notInteractive,
                    message: "Logins require the system service, which is not in use.",
                    recovery: "Install it (Docs/Service.md), or unset WHORL_SERVICE."
                )
            }
            if onDemand {
                try await OwnKeyringPassword(session).set(replacing: login, hasSheet: sheet)
            } else {
                try await session.ask(handing: nil) { TurnKeyringOn($0) }
            }
            return try await session.keyring()
        }
    }

    /// The command `whorl keyring off`.
    struct Off: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "off",
            abstract:
                "Undo 'whorl keyring on'; a keyring with its own password gets your login password again"
        )
        @Flag(
            help: "Enter the keyring's own password from the recovery sheet, for example if the TPM was lost"
        )
        var fromSheet = false
        @OptionGroup var login: LoginPasswordOption
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let preset = try await passcode.preset()
            // A service that has lost the password need not know about it.
            var hasOwn = fromSheet
            if !hasOwn {
                let status = try await session.services.ask(ReadKeyringStatus())
                guard status != .ownPasswordLost else { throw Failure.keyringPasswordLost }
                hasOwn = status.hasOwnPassword
            }
            if hasOwn {
                try await OwnKeyringPassword(session).remove(
                    leaving: login,
                    isOnSheet: fromSheet,
                    handing: preset
                )
            } else {
                try await session.ask(handing: preset) { TurnKeyringOff($0) }
            }
            // The keyring has the login password, whatever a service without its TPM says.
            return fromSheet ? Answer(.off) : try await session.keyring()
        }
    }

    /// The command `whorl keyring unlock`.
    struct Unlock: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "unlock",
            abstract: "Unlock a keyring that has its own password, with a finger or your passcode"
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let control = try KeyringControl()
            let preset = try await passcode.preset()
            let password = try await session.ask(handing: preset) { OpenKeyring($0) }.password
            guard try control.unlock(password) else { throw Failure.otherKeyringPassword }
            return Answer(result: ["unlocked": true], text: ["The keyring is unlocked."])
        }
    }

    /// The command `whorl keyring sheet`.
    struct Sheet: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "sheet",
            abstract: "Show the keyring's own password on the terminal, to be written down"
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let preset = try await passcode.preset()
            try RecoverySheet.show(try await session.ask(handing: preset) { OpenKeyring($0) }.password)
            return Answer(result: ["shown": true], text: [])
        }
    }

    /// The command `whorl keyring status`.
    struct Status: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show what unlocks the keyring"
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer { try await session.keyring() }
    }
}

/// The source of the login password.
struct LoginPasswordOption: ParsableArguments {
    @Option(
        name: .customLong("login-password-fd"),
        help: ArgumentHelp(
            "Read the login password from this file descriptor, one line, instead of the terminal",
            valueName: "n"
        )
    )
    var descriptor: Int32?

    func validate() throws {
        if let descriptor, descriptor < 0 {
            throw ValidationError("--login-password-fd must not be negative.")
        }
    }
}

extension Session {
    /// Returns the keyring's state as the command's answer.
    fileprivate func keyring() async throws -> Answer {
        Answer(try await services.ask(ReadKeyringStatus()))
    }
}

extension Answer {
    /// Describes the keyring's state.
    fileprivate init(_ status: KeyringStatus) {
        self.init(
            result: ["keyring": .string(status.rawValue)],
            text: [status.sentence] + (Plasma.isRunning ? [Plasma.sentence] : [])
        )
    }
}

extension KeyringStatus {
    /// Whether the service has the keyring's own password.
    var hasOwnPassword: Bool { self == .ownPassword || self == .ownPasswordWithoutLogin }

    /// The sentence that describes the state to the user.
    fileprivate var sentence: String {
        switch self {
        case .off: "A touch does not unlock the keyring."
        case .waiting:
            "Log in with your password once. After that, a login by touch unlocks the keyring."
        case .enrollmentChanged:
            "Your enrolled fingers changed. Log in with your password once; after that, a login by touch unlocks the keyring again."
        case .ready: "A login by touch unlocks the keyring."
        case .ownPassword:
            "A touch, your passcode or a login unlocks the keyring, which has its own password."
        case .ownPasswordLost:
            "The keyring has its own password, which was lost when the vault was reset. With its recovery sheet: whorl keyring off --from-sheet"
        case .ownPasswordWithoutLogin:
            "A touch or your passcode unlocks the keyring, but a login with your password does not. To change that: whorl keyring on --on-demand"
        }
    }
}
