// SPDX-License-Identifier: Apache-2.0

/// The programs that show the prompts of calls.
package enum AgentPolicy: String, Sendable, Hashable, CaseIterable {
    /// The agent of the caller's session alone; without one, no prompt is shown.
    case required = "required"
    /// The agent of the caller's session where there is one, else the caller.
    case preferred = "preferred"
    /// The caller; no agent may register.
    case never = "never"
}

/// The rules by which a service asks people.
package struct PromptRules: Sendable {
    /// The programs that show prompts.
    package var agents = AgentPolicy.preferred
    /// The longest time limit that a caller's request has.
    package var longestTimeout = Duration.seconds(86_400)

    package init() {}
}
