// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Decides which users a server serves, and caches the decisions for a limited time.
///
/// A lookup in the user database may take a long time, for example over a network. It runs on a separate queue, so that
/// known users do not have to wait for it, and it does not block the thread that accepts connections.
package final class UserAdmission: Sendable {
    /// Returns the reason why a user is not served; `nil` if the user is served.
    ///
    /// The function may block.
    package typealias Rule = @Sendable (_ uid: UInt32) -> ServiceRefusal?

    private struct Verdict {
        let refusal: ServiceRefusal?
        let since: ContinuousClock.Instant
    }

    private struct State {
        var verdicts: [UInt32: Verdict] = [:]
        /// The connections that are waiting for a decision, by user.
        var undecided: [UInt32: [@Sendable (ServiceRefusal?) -> Void]] = [:]
    }

    /// The time for which a decision is valid.
    private static let lifetime = Duration.seconds(30)
    /// The maximum number of cached decisions, and of users waiting for a decision.
    private static let most = 1024
    /// The maximum number of one user's connections that can wait for a decision.
    ///
    /// It is as high as the number that a user may have, so that no such connection is refused.
    private static let mostOfUser = 256

    private let rule: Rule
    private let queue = DispatchQueue(label: "whorl.users")
    private let state = Mutex(State())

    /// Creates an admission that uses a rule.
    package init(_ rule: @escaping Rule) { self.rule = rule }

    /// Decides about a user.
    ///
    /// - Parameters:
    ///   - uid: The user ID.
    ///   - done: Called once with the reason for a refusal, or `nil`; on the current thread if the decision is cached.
    func decide(_ uid: UInt32, _ done: @escaping @Sendable (ServiceRefusal?) -> Void) {
        let now = ContinuousClock.now
        let kept: (verdict: Verdict?, isCrowded: Bool) = state.withLock { state in
            if let verdict = state.verdicts[uid], now - verdict.since < Self.lifetime {
                return (verdict, false)
            }
            let waiting = state.undecided[uid]
            guard (waiting?.count ?? 0) < Self.mostOfUser, state.undecided.count < Self.most else {
                return (nil, true)
            }
            state.undecided[uid, default: []].append(done)
            if waiting == nil { queue.async { [self] in decide(uid) } }
            return (nil, false)
        }
        if let verdict = kept.verdict { return done(verdict.refusal) }
        if kept.isCrowded { done(.crowded) }
    }

    private func decide(_ uid: UInt32) {
        let refusal = rule(uid)
        let waiting = state.withLock { state in
            if state.verdicts.count >= Self.most { state.verdicts.removeAll() }
            state.verdicts[uid] = Verdict(refusal: refusal, since: .now)
            return state.undecided.removeValue(forKey: uid) ?? []
        }
        for done in waiting { done(refusal) }
    }
}
