// SPDX-License-Identifier: Apache-2.0

import MainThread
import WhorlRemote
import WhorlSecretMemory
import WhorlService

/// A request to the service for the keyring's password, which the owner confirms with a touch or the passcode.
@MainActor
final class PasswordRequest {
    private nonisolated static let application = ApplicationID(rawValue: "io.whorl.keyring")

    private let work: Task<Void, Never>

    /// Asks for the password.
    ///
    /// - Parameter then: Called with the password or the reason why it was not released.
    init(then: @escaping @MainActor @Sendable (Result<SecretBox, ServiceError>) -> Void) {
        work = Task.detached {
            let outcome: Result<SecretBox, ServiceError>
            do throws(ServiceError) {
                outcome = .success(try await Self.password())
            } catch {
                outcome = .failure(error)
            }
            onMainThread { then(outcome) }
        }
    }

    /// Ends the request and its prompt.
    func cancel() { work.cancel() }

    @concurrent
    nonisolated private static func password() async throws(ServiceError) -> SecretBox {
        let services = Services.ofSystem(for: application)
        let request = ConsentRequest(application: application)
        return try await services.ask(OpenKeyring(request), presenter: NoWindow()).password
    }
}

/// A presenter that shows nothing: the session's agent shows the prompt.
private struct NoWindow: PromptPresenter {
    var isInteractive: Bool {
        get async { false }
    }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await _ in entry.updates {}
        return nil
    }
}
