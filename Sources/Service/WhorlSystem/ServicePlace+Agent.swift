// SPDX-License-Identifier: Apache-2.0

internal import WhorlRemote
package import WhorlService

extension ServicePlace {
    /// Shows the prompts of this session's programs, for the system's service, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts.
    ///   - onRegistration: Called once, when prompts are shown from then on.
    /// - Throws: the reason for which no prompt is shown, or is shown no longer.
    package static func showPrompts(
        on presenter: any PromptPresenter,
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(AgentError) {
        try await RemoteAgent(over: PathTransport()).run(on: presenter, onRegistration: onRegistration)
    }
}
