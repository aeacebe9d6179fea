// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    /// Adds the verification for screen lockers that run as their user.
    ///
    /// It is the only prompt that a locked session may have, and the only one that the calling program shows by itself.
    /// So any program of the user can ask for a touch this way, and gains a yes about its own user.
    func addScreenUnlock(_ router: inout GuardedRouter, _ logins: LoginAccess) {
        router.on(LoginInterface.UnlockScreen.self) { (asked, call) async throws(ServiceRefusal) in
            let caller = await rules.caller(call.client)
            let answer = await unlockScreen(asked, call, caller, logins)
            let refusal = answer.mapError { ServiceRefusal(LoginRefused.name, failure: $0) }
            rules.record(
                CallRecord(LoginInterface.UnlockScreen.name, asked.purpose, refusal),
                of: caller.asker
            )
            try refusal.get()
            return .init(matched: true)
        }
    }

    private func unlockScreen(
        _ asked: LoginInterface.UnlockScreen,
        _ call: ServiceCall,
        _ caller: Caller,
        _ logins: LoginAccess
    ) async -> Result<Void, LoginRefused> {
        // Whatever the policy allows to other programs, a screen that can be locked is at a seat.
        if let obstacle = caller.seatObstacle { return .failure(LoginRefused(obstacle)) }
        let user = call.client.user.uid
        if let obstacle = await logins.obstacle(user) { return .failure(LoginRefused(obstacle)) }
        // Unlike a login's, the session's lock is no obstacle.
        let request = touchRequest(
            .unlockScreen(asked.purpose.application),
            as: asked.purpose,
            milliseconds: asked.timeoutMilliseconds,
            mostTries: asked.mostTries,
            caller
        )
        do throws(ServiceError) {
            let evaluation = try await evaluate(
                request,
                by: try logins.owner(user),
                LoginPresenter(call: call),
                asOneOf: screenUnlocks,
                in: caller.asker?.session
            )
            guard evaluation.isNewTouch else { return .failure(.notATouch) }
            // The seat may have switched to another session at the same moment.
            if let obstacle = await rules.caller(call.client).seatObstacle {
                return .failure(LoginRefused(obstacle))
            }
            return .success(())
        } catch {
            return .failure(LoginRefused(error))
        }
    }
}

extension LoginInterface.UnlockScreen {
    /// The purpose, as shown in the journal.
    fileprivate var purpose: CallPurpose {
        let service = DisplayText.clean(service, limit: 60)
        return CallPurpose(
            application: service.isEmpty ? "screen lock" : service,
            text: "screen lock, as user"
        )
    }
}
