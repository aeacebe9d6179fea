// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

extension ServiceHost {
    /// Adds the way back for a person whose fingers are locked: an operator lifts the lock, whom the system's rules allow it.
    func addUnlock(_ router: inout GuardedRouter, _ logins: LoginAccess) {
        router.on(LoginInterface.unlock) { (user, call) async throws(ServiceRefusal) in
            let caller = await rules.caller(call.client)
            let outcome = await Result<_, ServiceRefusal>(
                of: try await unlock(user.value, logins, call, by: caller.asker)
            )
            let purpose = CallPurpose(
                application: "unlock",
                text: "unlock the fingers of user \(user.value), and the logins at this machine"
            )
            rules.record(CallRecord(LoginInterface.unlock.name, purpose, outcome), of: caller)
            return Valued(try outcome.get())
        }
    }

    private func unlock(
        _ user: UInt32,
        _ logins: LoginAccess,
        _ call: ServiceCall,
        by asker: Asker?
    ) async throws(ServiceRefusal) -> Bool {
        try await authorize(.unlock, call)
        let wasLocked = try await refusing(await logins.unlock(user, asker))
        // A rest that is not ended ends by itself.
        try? await logins.place?.clear()
        return wasLocked
    }
}
