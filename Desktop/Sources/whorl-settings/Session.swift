// SPDX-License-Identifier: Apache-2.0

import MainThread
import PromptWindows
import WhorlRemote
import WhorlService

/// The window's connection to the service, which decides what the user must confirm.
///
/// The session's agent shows prompts. If there is no agent, this program shows them.
struct Session: Sendable {
    static let application = ApplicationID(rawValue: "io.whorl.settings")

    let services = Services.ofSystem(for: application)
    let presenter = WindowPresenter(isForOthers: false)

    var consent: ConsentRequest { ConsentRequest(application: Self.application) }

    /// Performs operations without blocking the window, then calls a function with the result on GTK's thread.
    ///
    /// The operations never run on the main actor, because GTK's loop is on its thread and runs no tasks.
    func run<Value: Sendable>(
        _ body: @escaping @concurrent @Sendable (Session) async throws(ServiceError) -> Value,
        then: @escaping @MainActor @Sendable (Result<Value, ServiceError>) -> Void
    ) {
        Task.detached {
            let outcome: Result<Value, ServiceError>
            do throws(ServiceError) {
                outcome = .success(try await body(self))
            } catch {
                outcome = .failure(error)
            }
            onMainThread { then(outcome) }
        }
    }
}
