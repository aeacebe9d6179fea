// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import WhorlSecretMemory
import WhorlTerminalPrompt
import WhorlFingerprint
import WhorlRemote
import Synchronization
import WhorlService

/// A command that ends with one answer: a result or a failure.
protocol Verb: AsyncParsableCommand, Sendable {
    /// The component that handles the command.
    static var asks: Asked { get }
    /// The options that every command accepts.
    var global: GlobalOptions { get }

    /// Runs the command.
    func answer(_ session: Session) async throws -> Answer
}

/// The component that handles a command.
enum Asked {
    /// The user's services: either the system service, or an engine in a child process of this program.
    case engine
    /// The same, for a command that limits how long it waits for any answer.
    case engineBriefly
    /// The system service only.
    case systemService
    /// No service; the command only reads and writes files.
    case nothing
}

extension Verb {
    func run() async throws {
        let console = Console(json: global.json, verbose: global.verbose)
        let status = await execute(console)
        if status != .success { throw ExitCode(status.rawValue) }
    }

    private func execute(_ console: Console) async -> ExitStatus {
        let outcome = await Interruption.cancelling { await Result { try await self.outcome(console) } }
        switch outcome {
        case .success(let answer): return console.finish(answer)
        case .failure(let error): return console.finish(Failure(error).interrupted(by: Interruption.status))
        }
    }

    private func outcome(_ console: Console) async throws -> Answer {
        let session = try Session(options: global, console: console, try global.choices(), asks: Self.asks)
        let outcome = await Result { try await answer(session) }
        // A command without an engine does not report a TPM either, and a quick command does not wait for that.
        if Self.asks != .nothing, Self.asks != .engineBriefly {
            console.isProtected(by: Protection(await session.services.facts()))
        }
        return try outcome.get()
    }
}

extension Result where Failure == any Error {
    /// Runs asynchronous work, and returns its value or its error.
    init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

extension Verb {
    /// Checks that root has started the command; throws if not.
    func requireRoot(_ message: String) throws(Failure) {
        guard geteuid() == 0 else {
            throw .usage(message, hint: "Run it as root: `sudo whorl \(Self._commandName)`.")
        }
    }

    /// Checks that the system service is selected; throws if not.
    func requireSystemService(_ message: String) throws(Failure) {
        guard ServiceInstallation().isInstalled else {
            throw .usage(
                message,
                hint: "Install it first; `whorl doctor` shows how (see Docs/Service.md)."
            )
        }
    }
}

extension Failure {
    /// Returns the failure for a signal if one ended the work; otherwise the failure itself.
    func interrupted(by status: ExitStatus?) -> Failure {
        guard isCancellation, let status else { return self }
        return Failure(ServiceError(status == .userCancel ? .userCancel : .systemCancel))
    }
}

/// The environment in which one command runs.
struct Session: Sendable {
    let options: GlobalOptions
    let console: Console
    let services: Services
    /// The place where the engine runs.
    let place: ServicePlace
    private let choices: ServiceChoices
    private let child: EngineProcess

    init(options: GlobalOptions, console: Console, _ choices: ServiceChoices, asks asked: Asked) throws {
        self.options = options
        self.console = console
        self.choices = choices
        let child = EngineProcess(choices)
        self.child = child
        // This program contains no engine: a child of it uses the user's directory.
        let place = try choices.place()
        self.place = place == .inProcess ? .privateChild : place
        let transport: any ServiceTransport =
            switch self.place {
            case .privateChild where asked == .engine || asked == .engineBriefly: try child.transport()
            // No child is started for a command that does not use it.
            case .privateChild, .inProcess: RefusedTransport(.noEngine)
            case .system: try place.transport(choices)
            }
        services = choices.services(over: transport)
    }

    /// Returns the engine in this program's child process.
    ///
    /// Even if the system service is in use, `whorl migrate` needs this engine, and so does root to use a reader.
    func own() throws -> PrivateChildServices {
        let transport = try child.transport()
        return PrivateChildServices(choices.services(over: transport), over: transport)
    }
}

/// The ways in which a command prompts the owner.
extension Session {
    /// Returns the prompt: on the terminal, or as events for the calling program.
    ///
    /// A passcode that was given in advance is submitted.
    func presenter(handing passcode: SecretBox?) -> any PromptPresenter {
        let presenter: any PromptPresenter =
            console.isJSON
            ? EventPresenter(console: console)
            : ReportingPresenter(console: console, presenter: TerminalPrompt.onStandardError())
        return passcode.map { PresetPasscode($0, on: presenter) } ?? presenter
    }

    /// Returns a request for the owner's consent.
    ///
    /// If the passcode is read from a descriptor, the user is not prompted.
    func consentRequest(handing passcode: SecretBox?) -> ConsentRequest {
        ConsentRequest(
            application: services.application,
            timeout: options.patience,
            passcodeAlone: passcode != nil
        )
    }

    /// Runs an operation that requires the owner's consent.
    ///
    /// A passcode that was given in advance is submitted.
    @discardableResult
    func ask<Asked: OwnerOperation>(
        handing passcode: SecretBox?,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in },
        _ operation: (ConsentRequest) -> Asked
    ) async throws -> Asked.Reply {
        let asked = operation(consentRequest(handing: passcode))
        return try await services.ask(asked, presenter: presenter(handing: passcode), observer: observer)
    }
}

/// The child process of this program that runs the engine; it is started when a command first needs it.
private final class EngineProcess: Sendable {
    private let choices: ServiceChoices
    private let started = Mutex<(any ServiceTransport)?>(nil)

    init(_ choices: ServiceChoices) { self.choices = choices }

    /// Returns the transport to the child process.
    ///
    /// - Throws: `noChild` if the child cannot be started.
    func transport() throws(ServicePlace.Fault) -> any ServiceTransport {
        try started.withLock { started throws(ServicePlace.Fault) -> any ServiceTransport in
            if let started { return started }
            let early = EarlyChild.take(choices)
            let transport: any ServiceTransport =
                if let early { early } else { try ServicePlace.privateChild.transport(choices) }
            started = transport
            return transport
        }
    }
}
