// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
import WhorlFingerprint
import WhorlService
import WhorlVault

/// The proofs of one profile's owner in a session, for one program and one purpose.
struct SessionProofs: Sendable {
    /// The owner, program and purpose for which the proofs are valid, and the stay during which they were given.
    struct Scope: Sendable, Hashable {
        let profile: String
        let application: ApplicationID
        let purpose: TouchPurpose
        /// The stay; `nil` if it is unknown, in which case only the session's keeper can end the proofs.
        let stay: String?
    }

    /// A print that matched a touch, and the strength of that touch.
    struct Touch: Sendable {
        let print: PrintID
        let strength: TouchStrength
    }

    private struct Shown<Value: Sendable>: Sendable {
        let value: Value
        var term: ProofTerm
    }

    let scope: Scope
    private var shownTouch: Shown<Touch>?
    private var shownPasscode: Shown<OwnerProof>?

    /// The touch, which is never a match from the reuse window.
    var touch: Touch? { shownTouch?.value }
    /// The proof of the passcode, in the form that the TPM requires.
    var passcode: OwnerProof? { shownPasscode?.value }

    init(
        _ scope: Scope,
        touch: Touch? = nil,
        passcode: OwnerProof? = nil,
        burst: Duration? = nil,
        at now: Moment
    ) {
        self.scope = scope
        let term = ProofTerm(of: scope.purpose, burst: burst, at: now)
        shownTouch = touch.map { Shown(value: $0, term: term) }
        shownPasscode = passcode.map { Shown(value: $0, term: term) }
    }

    /// Returns these proofs, supplemented by earlier proofs of the missing kinds.
    ///
    /// Earlier proofs of another owner, program or purpose are dropped.
    func adding(to before: SessionProofs?) -> SessionProofs {
        guard let before, before.scope == scope else { return self }
        // The latest proof is the most likely to still count.
        var sum = self
        sum.shownTouch = shownTouch ?? before.shownTouch
        sum.shownPasscode = shownPasscode ?? before.shownPasscode
        return sum
    }

    /// Counts a use, and drops the proofs that are no longer valid for it.
    ///
    /// - Returns: Whether any proofs are left.
    mutating func use(at now: Moment, _ limits: ProofLimits) -> Bool {
        if shownTouch?.term.use(at: now, limits) == false { shownTouch = nil }
        if shownPasscode?.term.use(at: now, limits) == false { shownPasscode = nil }
        return shownTouch != nil || shownPasscode != nil
    }
}
