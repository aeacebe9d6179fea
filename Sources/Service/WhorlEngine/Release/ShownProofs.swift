// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlVault
import WhorlService

/// The proofs that one profile's owner has shown in a session.
struct ShownProofs: Sendable {
    let profile: String
    /// The print that matched a touch; a match from the reuse window does not count.
    var print: PrintID?
    /// The strength of that touch.
    var strength = TouchStrength.any
    /// The proof of the passcode, as the chip takes it.
    var passcode: OwnerProof?

    /// Returns these proofs and, where they hold none of a kind, the ones before; proofs of another profile are
    /// dropped.
    func adding(to before: ShownProofs?) -> ShownProofs {
        guard let before, before.profile == profile else { return self }
        // The latest proof is the most likely one to count still.
        return ShownProofs(
            profile: profile,
            print: print ?? before.print,
            strength: print == nil ? before.strength : strength,
            passcode: passcode ?? before.passcode
        )
    }
}
