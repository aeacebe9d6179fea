// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlSecretMemory
import WhorlService
import WhorlSupport

/// The command `whorl biometry`.
struct Biometry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "biometry",
        abstract: "Allow or deny fingerprints for a program",
        discussion: """
            A program that is denied gets its own error code and may ask for a password instead. Example:

              whorl biometry deny --application org.example.vault
            """,
        subcommands: [Allow.self, Deny.self, Status.self]
    )

    /// The command `whorl biometry allow`.
    struct Allow: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "allow",
            abstract: "Allow fingerprints for a program again"
        )
        @OptionGroup var program: ProgramOption
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.setOptedOut(
                false,
                for: program.id(session),
                handing: try await passcode.preset()
            )
        }
    }

    /// The command `whorl biometry deny`.
    struct Deny: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "deny",
            abstract: "Deny fingerprints for a program"
        )
        @OptionGroup var program: ProgramOption
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.setOptedOut(
                true,
                for: program.id(session),
                handing: try await passcode.preset()
            )
        }
    }

    /// The command `whorl biometry status`.
    struct Status: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show whether a program may use fingerprints"
        )
        @OptionGroup var program: ProgramOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let id = try program.id(session)
            let isOptedOut = try await session.services.ask(IsOptedOut(id))
            return .biometry(isAllowed: !isOptedOut, id)
        }
    }

    /// The option that selects the program.
    struct ProgramOption: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The program's identifier (default: whorl itself)",
                valueName: "id"
            )
        )
        var application: String?

        /// Returns the ID of the selected program, or of this program.
        fileprivate func id(_ session: Session) throws(Failure) -> ApplicationID {
            guard let application else { return session.services.application }
            guard !DisplayText.clean(application).allSatisfy(\.isWhitespace), application.count <= 200 else {
                throw .usage(
                    "--application must have 1 to 200 characters.",
                    hint: "Example: org.example.vault."
                )
            }
            return ApplicationID(rawValue: application)
        }
    }
}

extension Session {
    fileprivate func setOptedOut(
        _ isOut: Bool,
        for id: ApplicationID,
        handing passcode: SecretBox?
    ) async throws -> Answer {
        try await ask(handing: passcode) { SetOptedOut(isOut, for: id, $0) }
        return .biometry(isAllowed: !isOut, id)
    }
}

extension Answer {
    fileprivate static func biometry(isAllowed: Bool, _ id: ApplicationID) -> Answer {
        Answer(
            result: ["application": .string(id.rawValue), "allowed": .bool(isAllowed)],
            text: ["\(DisplayText.clean(id.rawValue)): \(isAllowed ? "allowed" : "denied")"]
        )
    }
}
