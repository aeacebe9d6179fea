// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlService

@testable import whorl

/// What `whorl agent` says where it cannot show prompts; the service's tests show the rest.
struct AgentVerbTests {
    @Test func `an agent needs the system's service, and says how to have it`() async throws {
        let outcome = try await WhorlProgram().run(["agent"])
        #expect(outcome.status == 64 && outcome.out == "")
        #expect(outcome.err.contains("agents require the system service"))
        #expect(outcome.err.contains("systemctl enable --now whorld.socket"))
    }

    @Test(
        arguments: [
            (.agentTaken, 34), (.agentNotAllowed, 1), (.appCancel, 18), (.serviceUnavailable, 74),
        ] as [(ServiceError.Code, Int32)]
    )
    func `each error of an agent has a status and a remedy`(code: ServiceError.Code, status: Int32) {
        let failure = Failure(ServiceError(code))
        #expect(failure.status.rawValue == status && !failure.recovery.isEmpty)
    }
}
