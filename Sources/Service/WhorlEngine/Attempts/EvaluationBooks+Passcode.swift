// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateStore
package import WhorlService

extension EvaluationBooks {
    /// Lifts the lock on fingers and logs the success after the right passcode, both together or not at all.
    ///
    /// It opens no reuse window, since that is for fingers alone, and leaves an open one as it is.
    ///
    /// - Throws: `appCancel` when a finger was faster; `storeFailed`.
    package func settlePasscode(_ decision: Decision) async throws(AuthenticationError) {
        let now = time.now()
        let isFirst = try await first(.passcode, decision) { db in
            guard decision.take(.passcode) else { return false }
            if try BiometricLock.lift(of: profile, in: db) {
                try append(.passcode, "unlocked", at: now, in: db)
            }
            try append(.evaluation, "passcode", detail: reason, at: now, in: db)
            return true
        }
        guard isFirst else { throw AuthenticationError(.appCancel) }
    }

    /// Logs a passcode that was wrong, or was not compared.
    ///
    /// The ``PasscodeAuthority`` counts wrong passcodes, so a log that cannot be written changes nothing.
    func logPasscode(_ outcome: String) async {
        await logQuietly(.passcode, outcome, detail: reason)
    }
}
