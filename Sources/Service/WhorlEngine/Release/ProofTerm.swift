// SPDX-License-Identifier: Apache-2.0

package import WhorlStateStore
package import WhorlService

/// The term of a proof: the number of uses and the time that its purpose allows.
package struct ProofTerm: Sendable {
    private let purpose: TouchPurpose
    private let burst: Duration?
    private let begin: Moment
    private var lastUse: Moment
    private var uses = 0

    /// Starts the term of a new proof.
    ///
    /// - Parameters:
    ///   - purpose: The purpose that the prompt showed.
    ///   - burst: The time for which the proof counts if the purpose itself leaves none.
    ///   - now: The time of the touch.
    package init(of purpose: TouchPurpose, burst: Duration? = nil, at now: Moment) {
        self.purpose = purpose
        self.burst = burst
        begin = now
        lastUse = now
    }

    /// Counts a use.
    ///
    /// - Returns: Whether the proof is still valid for this use. Every term ends when the machine goes to sleep.
    package mutating func use(at now: Moment, _ limits: ProofLimits) -> Bool {
        let isInTime =
            switch purpose.proof {
            case .none: burst.map { now.isAwake(since: begin, within: min($0, limits.whole)) } ?? false
            case .once: uses == 0 && now.isAwake(since: begin, within: ProofLimits.single)
            case .untilLimit:
                now.isAwake(since: begin, within: limits.whole)
                    && now.isAwake(since: lastUse, within: limits.unused)
            }
        guard isInTime else { return false }
        lastUse = now
        uses += 1
        return true
    }
}
