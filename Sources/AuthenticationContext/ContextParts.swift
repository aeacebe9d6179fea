// SPDX-License-Identifier: Apache-2.0

package import Authentication
internal import Synchronization
internal import WhorlSystem

/// What a context or the keychain asks, with what prompt, in whose name, and where its rows lie.
package struct ContextParts: Sendable {
    /// Who evaluates, seals and releases.
    package let service: any AuthenticationService
    /// Who shows the prompts.
    package let presenter: any PromptPresenter
    /// The program that asks.
    package let application: ApplicationID
    /// Where the keychain's rows are.
    package let state: StateAccess

    /// Describes surroundings of a caller's choice.
    package init(
        service: any AuthenticationService,
        presenter: any PromptPresenter,
        application: ApplicationID,
        state: StateAccess
    ) {
        self.service = service
        self.presenter = presenter
        self.application = application
        self.state = state
    }

    /// Those of this process, put together when they are first needed; that opens nothing yet.
    private static let system: ContextParts = {
        let services = SystemServices.shared
        return ContextParts(
            service: services.authentication,
            presenter: services.presenter,
            application: services.application,
            state: services.stateAccess
        )
    }()

    /// Those that a test put in place for the task that runs.
    @TaskLocal package static var ofTask: ContextParts?
    /// Those that a test put in place for the whole process.
    package static var ofProcess: ContextParts? {
        get { keptOfProcess.withLock(\.self) }
        set { keptOfProcess.withLock { $0 = newValue } }
    }
    private static let keptOfProcess = Mutex<ContextParts?>(nil)

    /// Those that count here and now: the task's, else the process's, else the system's.
    package static var current: ContextParts { ofTask ?? ofProcess ?? system }
}
