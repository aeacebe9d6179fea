// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlLogin
import Glibc
import WhorlSecretMemory
import WhorlTerminalPrompt
import WhorlService
import WhorlSupport

/// The options that select the server and the text of the prompt.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Server URL, such as https://bank.example (http only for localhost)",
            valueName: "url"
        )
    )
    var server: String

    @Option(help: ArgumentHelp("Reason to show in the prompt", valueName: "text"))
    var reason: String?

    @OptionGroup var authorities: AuthoritiesOption

    func origin() throws(Failure) -> LoginOrigin {
        guard let origin = LoginOrigin(entered: server) else {
            throw .usage(
                "Invalid server “\(DisplayText.clean(server, limit: 60))”.",
                hint: "Use a URL without a path, such as https://bank.example; http works for localhost only."
            )
        }
        return origin
    }

    func options(_ global: GlobalOptions) -> LoginOptions {
        var options = LoginOptions()
        options.patience = global.patience
        return options
    }
}

/// The option that selects the user if there may be more than one login.
struct UserOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "User name at the server (default: the one enabled on this device)",
            valueName: "name"
        )
    )
    var user: String?

    func name() throws(Failure) -> LoginName? {
        guard let user else { return nil }
        return try LoginName.argument(user)
    }
}

/// The options for signing in: the server, the user, and how to authenticate.
struct SignInOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions
    @OptionGroup var who: UserOption
    @OptionGroup var password: PasswordOption
    @OptionGroup var passcode: PasscodeOption

    /// Returns a client for the server, and the selected user.
    func client(
        _ session: Session,
        _ global: GlobalOptions
    ) async throws -> (LoginClient, LoginName?) {
        let origin = try server.origin()
        let user = try who.name()
        let authorities = try server.authorities.path()
        let passcode = try await passcode.preset()
        let options = server.options(global)
        return (try session.login(origin, options, trusting: authorities, handing: passcode), user)
    }
}

extension LoginName {
    static func argument(_ text: String) throws(Failure) -> LoginName {
        guard let name = LoginName(text) else {
            throw .usage(
                "Invalid user name “\(DisplayText.clean(text, limit: 60))”.",
                hint: "Use 1 to 128 bytes, without control characters and without spaces at either end."
            )
        }
        return name
    }
}

extension Session {
    /// Returns a client for one server that uses this command's reader, TPM, state directory and prompt.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - options: The options for its logins.
    ///   - authorities: A PEM file of the certificate authorities to trust; `nil` for the system's.
    ///   - passcode: The passcode, if it was given in advance.
    /// - Returns: The client.
    /// - Throws: An error if the network program is not installed.
    func login(
        _ server: LoginOrigin,
        _ options: LoginOptions,
        trusting authorities: String?,
        handing passcode: SecretBox?
    ) throws(Failure) -> LoginClient {
        let parts = ContextParts(of: services, presenter: presenter(handing: passcode))
        let transport = try HelperTransport(trusting: authorities)
        return LoginClient(server: server, transport: transport, options: options) { parts }
    }
}

/// The machine that runs this program.
enum Host {
    /// The machine's name, as shown to the user.
    static var name: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "this device" }
        let name = DisplayText.clean(
            String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        )
        return LoginName(name) == nil ? "this device" : name
    }
}
