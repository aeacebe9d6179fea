// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import WhorlSecretMemory
import WhorlTerminalPrompt
import WhorlFingerprint
import WhorlRemote
import Synchronization
import WhorlService
import WhorlSystem

/// A command that gives one answer: a result, or a failure.
protocol Verb: AsyncParsableCommand, Sendable {
    /// The options that every command takes.
    var global: GlobalOptions { get }

    /// Runs the command.
    func answer(_ session: Session) async throws -> Answer
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
        let session = try Session(options: global, console: console, try global.configuration())
        let outcome = await Result { try await answer(session) }
        console.isProtected(by: Protection(await session.services.facts()))
        await session.services.close()
        return try outcome.get()
    }
}

extension Result where Failure == any Error {
    /// Performs asynchronous work, and keeps its value or its error.
    init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

extension Verb {
    /// Refuses to go on unless root has called the command.
    func requireRoot(_ message: String) throws(Failure) {
        guard geteuid() == 0 else {
            throw .usage(message, hint: "Run it as root: `sudo whorl \(Self._commandName)`.")
        }
    }

    /// Refuses to go on unless the system's service is there.
    func requireSystemService(_ message: String) throws(Failure) {
        guard ServiceInstallation().isInstalled else {
            throw .usage(
                message,
                hint: "Install it first (Docs/Service.md): `whorl doctor` shows the steps."
            )
        }
    }
}

extension Failure {
    /// Returns the failure in the words of the signal, if a signal ended the work.
    func interrupted(by status: ExitStatus?) -> Failure {
        guard isCancellation, let status else { return self }
        return Failure(ServiceError(status == .userCancel ? .userCancel : .systemCancel))
    }
}

/// The environment of one command.
struct Session: Sendable {
    let options: GlobalOptions
    let console: Console
    let services: Services
    /// The place of the engine that answers.
    let place: ServicePlace
    private let ownRoot: OwnRoot

    init(options: GlobalOptions, console: Console, _ configuration: SystemConfiguration) throws {
        self.options = options
        self.console = console
        let ownRoot = OwnRoot(configuration)
        self.ownRoot = ownRoot
        place = try ServicePlace(configuration)
        services = try place.services(configuration) { ownRoot.get() }
    }

    /// The engine in this process, which `whorl migrate` and root's use of a reader need beside the services.
    var root: InProcessRoot { ownRoot.get() }

    /// Returns the chosen reader itself, of which nothing was asked yet; no picture leaves a service.
    ///
    /// A real reader that belongs to the service is for root alone.
    func ownReader() async throws -> any FingerprintReader {
        try await root.readerOfOwn()
    }
}

/// The ways in which a command asks the owner.
extension Session {
    /// Returns the prompt: on the terminal, or events for the program that reads them; a known passcode is handed in.
    func presenter(handing passcode: SecretBox?) -> any PromptPresenter {
        let presenter: any PromptPresenter =
            console.isJSON
            ? EventPresenter(console: console)
            : ReportingPresenter(console: console, presenter: TerminalPrompt.onStandardError())
        return passcode.map { PresetPasscode($0, on: presenter) } ?? presenter
    }

    /// Returns a request for the owner's consent; a passcode from an open file is the only thing that is asked for.
    func consentRequest(handing passcode: SecretBox?) -> ConsentRequest {
        ConsentRequest(
            application: services.application,
            timeout: options.patience,
            passcodeAlone: passcode != nil
        )
    }

    /// Asks for what the owner has to agree to; a known passcode is handed in.
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

/// The engine in this process, made when a command first needs it: where the service answers, most never do.
private final class OwnRoot: Sendable {
    private let configuration: SystemConfiguration
    private let made = Mutex<InProcessRoot?>(nil)

    init(_ configuration: SystemConfiguration) { self.configuration = configuration }

    func get() -> InProcessRoot {
        made.withLock { made in
            let root = made ?? InProcessRoot(configuration)
            made = root
            return root
        }
    }
}
