// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlSecretMemory
import WhorlService

/// The command `whorl passcode`.
struct Passcode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passcode",
        abstract: "Set, change, verify or remove the passcode",
        discussion: """
            The TPM stores the passcode and limits wrong attempts. It is read from the terminal or a file descriptor, never from an \
            argument. Example:

              whorl passcode set
            """,
        subcommands: [Set.self, Change.self, Verify.self, Remove.self]
    )

    /// The length below which the command advises using a longer passcode.
    private static let recommendedSize = 8

    /// Returns a line of advice if a new passcode is short; it is accepted anyway.
    private static func advice(on new: SecretBox) -> [String] {
        guard new.bytes.count < recommendedSize else { return [] }
        return [
            "The passcode is short. On most machines the TPM's count of wrong attempts can be reset (see `whorl doctor`), so "
                + "use at least \(recommendedSize) characters."
        ]
    }

    /// The command `whorl passcode set`.
    struct Set: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Set a passcode",
            discussion:
                "Prompts for the new passcode. If a finger is enrolled, you then touch the reader with it."
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.prepareItems()
            // This is reported before the user types anything.
            guard try await !session.isPasscodeSet() else {
                throw ServiceError(.passcodeExists, session.services.profile)
            }
            // Read it first, because the touch is valid for one minute.
            let new = try await passcode.readNew()
            let shown = OwnerSession()
            let request = session.consentRequest(handing: nil)
            try await session.ask(handing: nil) { AskForFinger($0, in: shown) }
            try await PasswordAgent.beside(session) {
                try await session.services.ask(SetPasscode(new, request, shown: shown))
            }
            return Answer(result: ["set": true], text: ["Passcode set."] + Passcode.advice(on: new))
        }
    }

    /// The command `whorl passcode change`.
    struct Change: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "change",
            abstract: "Change the passcode; items it protects keep working",
            discussion:
                "Prompts for the new passcode, then for the current one. With --passcode-fd, the first line is the current passcode and the second the new one."
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.requirePasscode()
            let preset = try await passcode.preset()
            let new = try await passcode.readNew()
            try await session.ask(handing: preset) { ChangePasscode(to: new, $0) }
            return Answer(
                result: ["changed": true],
                text: ["Passcode changed."] + Passcode.advice(on: new)
            )
        }
    }

    /// The command `whorl passcode verify`.
    struct Verify: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Verify the passcode, which also ends a lockout",
            discussion: "A wrong passcode counts as an attempt and appears in your log."
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.requirePasscode()
            var request = EvaluationRequest(
                policy: .deviceOwner,
                purpose: .yes,
                reason: "verify the passcode",
                application: session.services.application,
                timeout: global.patience
            )
            request.takesPasscodeAlone = true
            let presenter = session.presenter(handing: try await passcode.preset())
            let asked = request
            let evaluation = try await session.services.evaluate(asked, presenter: presenter)
            session.console.succeeded(evaluation)
            return Answer(result: ["verified": true], text: ["Passcode correct."])
        }
    }

    /// The command `whorl passcode remove`.
    struct Remove: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove the passcode",
            discussion:
                "Lists the items that only the passcode unlocks first; they are deleted only with --force."
        )
        @Flag(help: "Also delete the items that only the passcode unlocks")
        var force = false
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.requirePasscode()
            let lost = try await session.services.ask(ListItemsLostWithoutPasscode())
            guard force || lost.isEmpty else {
                throw ServiceError(
                    .passcodeNeeded,
                    session.services.profile,
                    details: [.items: lost.map(\.spoken).joined(separator: "\n")]
                )
            }
            // A state that cannot be read does not stop the removal.
            if (try? await session.services.ask(ReadKeyringStatus()))?.hasOwnPassword ?? false {
                session.console.warn(
                    "Without a passcode, only a finger releases the keyring's own password. Write it down first: whorl keyring sheet"
                )
            }
            let preset = try await passcode.preset()
            let deleted = try await session.ask(handing: preset) { RemovePasscode(force: force, $0) }
            return Answer(
                result: [
                    "removed": true,
                    "deleted": .array(
                        deleted.map { ["kind": .string($0.kind.rawValue), "name": .string($0.name.text)] }
                    ),
                ],
                text: ["Passcode removed."] + deleted.map { "deleted: \($0.spoken)" }
            )
        }
    }
}

extension Session {
    /// Checks that a passcode is set, so that the command fails before the user types anything.
    func requirePasscode() async throws {
        guard try await isPasscodeSet() else {
            throw ServiceError(.passcodeNotSet, services.profile)
        }
    }

    func isPasscodeSet() async throws -> Bool {
        try await services.ask(IsPasscodeSet())
    }
}
