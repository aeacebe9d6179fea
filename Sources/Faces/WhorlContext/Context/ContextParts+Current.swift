// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import WhorlRemote
package import WhorlService
internal import WhorlTerminalPrompt
#if Engine
internal import WhorlSystem
#endif

extension ContextParts {
    /// The environment of this process, created on first use.
    ///
    /// Creating the environment does not open anything.
    ///
    /// If a program does not set a presenter, prompts appear in the terminal.
    private static let system = ContextParts(of: servicesOfProcess, presenter: TerminalPrompt())

    private static var servicesOfProcess: Services {
        #if Engine
        ServicePlace.ofProcess
        #else
        Services.withoutEngine
        #endif
    }

    /// The environment that a test has set for the current task.
    @TaskLocal package static var ofTask: ContextParts?
    /// The environment that a test has set for the whole process.
    package static var ofProcess: ContextParts? {
        get { keptOfProcess.withLock(\.self) }
        set { keptOfProcess.withLock { $0 = newValue } }
    }
    private static let keptOfProcess = Mutex<ContextParts?>(nil)

    /// The current environment, which is that of the task or, if a test has not set one, that of the process or the
    /// system.
    package static var current: ContextParts { ofTask ?? ofProcess ?? system }
}
