// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// Questions about the owner (``OwnerService``).
enum OwnerInterface {
    struct Question: Codable, Sendable {
        let policy: Policy
        let application: ApplicationID
    }

    struct Asking: Codable, Sendable {
        let request: EvaluationRequest
        /// The id of a session that ``session`` began.
        let session: String?
    }

    struct OptOut: Codable, Sendable {
        let application: ApplicationID
        let isOptedOut: Bool
    }

    static let preflight = ServiceMethod<Question, Preflight>(repeatable: "io.whorl.Owner.Preflight")
    static let evaluate = ServiceMethod<Prompting<Asking>, Prompted<Evaluation>>("io.whorl.Owner.Evaluate")
    static let isOptedOut = ServiceMethod<Valued<ApplicationID>, Valued<Bool>>(
        repeatable: "io.whorl.Owner.IsOptedOut"
    )
    static let setOptedOut = ServiceMethod<OptOut, Valued<Bool>>("io.whorl.Owner.SetOptedOut")
    /// Begins a session, whose id is the first update; it lasts until the caller hangs up, and has no reply before.
    static let session = ServiceMethod<NoValue, Valued<String>>("io.whorl.Owner.Session")
}

/// Parameters or a reply without a member.
struct NoValue: Codable, Sendable {}
