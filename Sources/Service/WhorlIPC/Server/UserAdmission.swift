// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// The decision which users a server serves, which is kept for a while.
///
/// A look at the user database may take long, as over a network. It is done on a queue of its own, so that users who are
/// known do not wait for it, and one connection does not wait for another in the thread that accepts them.
package final class UserAdmission: Sendable {
    /// Returns the reason why a user is not served; `nil` where it is.
    ///
    /// It may wait.
    package typealias Rule = @Sendable (_ uid: UInt32) -> ServiceRefusal?

    private struct Verdict {
        let refusal: ServiceRefusal?
        let since: ContinuousClock.Instant
    }

    private struct State {
        var verdicts: [UInt32: Verdict] = [:]
        /// The connections that wait for a decision, by their user.
        var undecided: [UInt32: [@Sendable (ServiceRefusal?) -> Void]] = [:]
    }

    /// The time for which a decision counts.
    private static let lifetime = Duration.seconds(30)
    /// The most decisions that are kept, and the most users that wait for one.
    private static let most = 1024
    /// The most connections of one user that wait for its decision: as many as a user may have, so that none of those is refused.
    private static let mostOfUser = 256

    private let rule: Rule
    private let queue = DispatchQueue(label: "whorl.users")
    private let state = Mutex(State())

    /// Decides by a rule.
    package init(_ rule: @escaping Rule) { self.rule = rule }

    /// Decides about a user.
    ///
    /// - Parameters:
    ///   - uid: The user's number.
    ///   - done: Called once, on this thread where the decision is kept.
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
