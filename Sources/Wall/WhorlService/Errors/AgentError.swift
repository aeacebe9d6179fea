// SPDX-License-Identifier: Apache-2.0

/// An error of a program that wants to show the prompts of others.
package struct AgentError: Error, Sendable, Hashable, Codable {
    /// The kind of failure.
    package enum Code: String, Sendable, Hashable, CaseIterable, Codable {
        /// Another program shows the prompts of this session.
        case taken = "taken"
        /// The administrator lets no agent show prompts.
        case notAllowed = "notAllowed"
        /// The task was cancelled.
        case cancelled = "cancelled"
        /// The service did not answer, or has left.
        case unanswered = "unanswered"
    }

    /// The kind of failure.
    package let code: Code
    /// One sentence that says what happened.
    package let message: String
    /// One sentence that says what the person can do.
    package let recovery: String

    /// Makes an error with the texts of its kind, or with other texts.
    package init(_ code: Code, message: String? = nil, recovery: String? = nil) {
        self.code = code
        self.message = message ?? code.message
        self.recovery = recovery ?? code.recovery
    }
}

extension AgentError.Code {
    fileprivate var message: String {
        switch self {
        case .taken: "Another program shows the prompts of this session already."
        case .notAllowed: "The service's configuration lets no agent show prompts."
        case .cancelled: "The agent was ended."
        case .unanswered: "The service whorld does not answer."
        }
    }

    fileprivate var recovery: String {
        switch self {
        case .taken: "End that program first; `ps` lists them."
        case .notAllowed: "Set [Prompt] Agent in /etc/whorl/whorld.conf to preferred or required."
        case .cancelled: "Start it again when ready."
        case .unanswered: "Run `whorl doctor`: it says whether the service runs."
        }
    }
}
