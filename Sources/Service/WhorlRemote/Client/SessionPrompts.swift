// SPDX-License-Identifier: Apache-2.0

public import WhorlService

/// The prompts of a login session's programs, for a program of its desktop that shows them.
public enum SessionPrompts {
    /// The reason for which no prompt is shown, or is shown no longer.
    public enum Fault: Error, Sendable, Hashable {
        /// Another agent is registered for the session.
        case taken
        /// This program may not show prompts.
        case notAllowed
        /// The service does not answer, or has left.
        case unanswered
        /// The task was cancelled.
        case cancelled
    }

    /// Registers with the system's service, and shows prompts until the task is cancelled or the service leaves.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts; nothing that it says makes an evaluation succeed.
    ///   - onRegistration: Called once, when prompts are shown from then on.
    /// - Throws: the fault that ended it; `unanswered` when the service left.
    public static func show(
        on presenter: any PromptPresenter,
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(Fault) {
        do throws(AgentError) {
            try await RemoteAgent(over: PathTransport()).run(on: presenter, onRegistration: onRegistration)
        } catch {
            switch error.code {
            case .taken: throw .taken
            case .notAllowed: throw .notAllowed
            case .unanswered: throw .unanswered
            case .cancelled: throw .cancelled
            }
        }
    }
}
