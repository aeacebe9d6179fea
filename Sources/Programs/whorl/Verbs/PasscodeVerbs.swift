// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlSecretMemory
import WhorlService

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
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Sets a passcode where none is.",
            discussion:
                "Prompts for the new passcode. If a finger is enrolled, touch the reader with it afterwards."
        )
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.prepareItems()
            // This is reported before anything is typed.
            guard try await !session.isPasscodeSet() else {
                throw ServiceError(.passcodeExists, session.services.profile)
            }
            // Asked for first: the touch counts for a minute.
            let new = try await passcode.readNew()
            let shown = OwnerSession()
            let request = session.consentRequest(handing: nil)
            try await session.ask(handing: nil) { AskForFinger($0, in: shown) }
            try await PasswordAgent.beside(session) {
                try await session.services.ask(SetPasscode(new, request, shown: shown))
            }
            return Answer(result: ["set": true], text: ["The passcode is set."] + Passcode.advice(on: new))
        }
    }

    /// The command `whorl passcode change`.
    struct Change: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "change",
            abstract: "Sets another passcode; items that it opens go on.",
            discussion:
                "Prompts for the new passcode, then for the present one. With --passcode-fd the first line is the present passcode, the second the new one."
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
                text: ["The passcode is another one now."] + Passcode.advice(on: new)
            )
        }
    }

    /// The command `whorl passcode verify`.
    struct Verify: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Verify the passcode, which also ends a lockout of fingers",
            discussion: "A wrong one counts as a try, and is in the owner's log."
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
            return Answer(result: ["verified": true], text: ["The passcode is right."])
        }
    }

    /// The command `whorl passcode remove`.
    struct Remove: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Removes the passcode.",
            discussion: "Items that nothing else opens are named first, and deleted only with --force."
        )
        @Flag(help: "Deletes the items that nothing but the passcode opens.")
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
            let preset = try await passcode.preset()
            let deleted = try await session.ask(handing: preset) { RemovePasscode(force: force, $0) }
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
    /// Refuses to go on unless a passcode is set, before anything is typed.
    func requirePasscode() async throws {
        guard try await isPasscodeSet() else {
            throw ServiceError(.passcodeNotSet, services.profile)
        }
    }

    fileprivate func isPasscodeSet() async throws -> Bool {
        try await services.ask(IsPasscodeSet())
    }
}
