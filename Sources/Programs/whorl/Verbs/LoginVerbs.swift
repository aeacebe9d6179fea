// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlLogin
import FoundationEssentials

/// The command `whorl login`.
struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in to a server with a touch",
        discussion: """
            The key is created in the TPM and signs only after you authenticate. Passwords are read from the terminal or a file \
            descriptor, never from arguments. Example:

              whorl login enable --server https://bank.example --user ada
              whorl login attempt --server https://bank.example --json
            """,
        subcommands: [Enable.self, Attempt.self, Disable.self, Status.self]
    )

    /// The command `whorl login enable`.
    struct Enable: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Create a key and register it with a server"
        )
        @OptionGroup var server: ServerOptions
        @Option(help: ArgumentHelp("User name at the server", valueName: "name"))
        var user: String
        @Option(
            help: ArgumentHelp(
                "Name of this device at the server (default: the host name)",
                valueName: "text"
            )
        )
        var deviceName: String?
        @Flag(help: "Accept any enrolled finger, including fingers added later")
        var anyFinger = false
        @Flag(help: "Do not accept the passcode")
        var noPasscode = false
        @Flag(help: "Prove to the server that a TPM protects the key (this identifies your TPM)")
        var attest = false
        @Flag(help: "Replace another user's login on this device")
        var severalAccounts = false
        @OptionGroup var password: PasswordOption
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let origin = try server.origin()
            let user = try LoginName.argument(user)
            let authorities = try server.authorities.path()
            let name = deviceName ?? Host.name
            var options = server.options(global)
            options.fingers = anyFinger ? .any : .currentSet
            options.takesPasscode = !noPasscode
            options.attests = attest
            options.allowsSeveralAccounts = severalAccounts
            let client = try session.login(
                origin,
                options,
                trusting: authorities,
                handing: try await passcode.preset()
            )
            let secret = try await password.read("Password of \(user) at \(origin)")
            let login = try await client.enable(
                user,
                with: .password(secret),
                deviceName: name,
                reason: server.reason ?? "enable the login to \(origin) as \(user)"
            )
            return Answer(
                result: .object(login.members),
                text: ["Login to \(origin) enabled for \(user)."]
            )
        }
    }

    /// The command `whorl login attempt`.
    struct Attempt: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "attempt",
            abstract: "Sign in and print the session token",
            discussion: "Anyone who has the token is signed in until it expires: pipe it to a program."
        )
        @OptionGroup var owner: SignInOptions
        @Flag(help: "Also send the password, if the server requires both")
        var withPassword = false
        @Option(
            help: ArgumentHelp(
                "Service the token is for (default: the login server)",
                valueName: "name"
            )
        )
        var service: String?
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let (client, user) = try await owner.client(session, global)
            let wantsPassword = withPassword || owner.password.descriptor != nil
            let secret = wantsPassword ? try await owner.password.read("Password at \(client.server)") : nil
            let signedIn = try await client.attempt(
                user,
                reason: owner.server.reason,
                password: secret,
                service: service
            )
            session.console.used(signedIn.readerKind)
            return Answer(
                result: [
                    "expiresAt": .string(signedIn.expiresAt.ISO8601Format()),
                    "user": .string(signedIn.user.text),
                    "method": .string(signedIn.method.rawValue),
                ],
                text: [],
                product: Product(name: "token", bytes: signedIn.token, form: .text)
            )
        }
    }

    /// The command `whorl login disable`.
    struct Disable: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Delete the key and revoke this device at the server",
            discussion: """
                The server asks who you are: sign in with a touch once more, or enter the password. With --only-here, the server is not \
                contacted.
                """
        )
        @OptionGroup var owner: SignInOptions
        @Flag(help: "Delete the key here without contacting the server")
        var onlyHere = false
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let (client, user) = try await owner.client(session, global)
            let credential = onlyHere ? nil : try await credential(client, user, session)
            let outcome = try await client.disable(user, telling: credential)
            switch outcome {
            case .wasNotEnabled: throw LoginError(.notEnabled)
            case .here:
                return answer(revoked: false, "Key deleted. The server still lists this device.")
            case .everywhere: return answer(revoked: true, "Login disabled here and at the server.")
            case .hereOnly(let error):
                session.console.warn("Key deleted here, but not revoked at the server: \(error.message)")
                throw error
            }
        }

        private func credential(
            _ client: LoginClient,
            _ user: LoginName?,
            _ session: Session
        ) async throws -> LoginCredential {
            if owner.password.descriptor != nil { return .password(try await owner.password.read()) }
            let signedIn = try await client.attempt(
                user,
                reason: owner.server.reason ?? "disable the login to \(client.server)",
                service: client.server.credentialsService
            )
            session.console.used(signedIn.readerKind)
            return .session(signedIn.token)
        }

        private func answer(revoked: Bool, _ text: String) -> Answer {
            Answer(result: ["disabled": true, "revoked": .bool(revoked)], text: [text])
        }
    }

    /// The command `whorl login status`.
    struct Status: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show whether the login is enabled on this device"
        )
        @OptionGroup var server: ServerOptions
        @OptionGroup var who: UserOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let origin = try server.origin()
            let user = try who.name()
            let authorities = try server.authorities.path()
            let options = server.options(global)
            let client = try session.login(origin, options, trusting: authorities, handing: nil)
            let status = try await client.status(of: user)
            switch status {
            case .notEnabled: return answer("notEnabled", [], "not enabled", .failure)
            case .unfinished(let login):
                return answer(
                    "unfinished",
                    login.members,
                    "sent to the server, no answer yet",
                    .failure
                )
            case .enabled(let login):
                return answer(
                    "enabled",
                    login.members,
                    "enabled for \(login.user) as “\(login.name)”",
                    .success
                )
            case .mustEnableAgain(let reason):
                let text = LoginError(.mustEnableAgain(reason)).message
                return answer(
                    "mustEnableAgain",
                    [.init(name: "reason", value: .string(reason.rawValue))],
                    text,
                    .failure
                )
            }
        }

        private func answer(
            _ name: String,
            _ members: [JSONValue.Member],
            _ text: String,
            _ status: ExitStatus
        ) -> Answer {
            let all = [JSONValue.Member(name: "login", value: .string(name))] + members
            return Answer(result: .object(all), text: [text], status: status)
        }
    }
}

extension EnabledLogin {
    /// The login's members in JSON.
    fileprivate var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init(name: "user", value: .string(user.text)),
            .init(name: "device", value: .string(device.text)),
            .init(name: "name", value: .string(name)), .init(name: "keyID", value: .string(keyID)),
            .init(name: "fingers", value: .string(fingers.rawValue)),
            .init(name: "passcode", value: .bool(takesPasscode)),
        ]
        if let enabledAt {
            members.append(.init(name: "enabledAt", value: .string(enabledAt.ISO8601Format())))
        }
        return members
    }
}
