// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import BlockedPool
import Foundation
import WhorlStateStore
import Testing
import WhorlService
import WhorlSystem

/// Programs call `canEvaluatePolicy` and the keychain, which block, on threads of Swift's shared pool.
@Suite struct `With every thread of the shared pool blocked, the system` {
    @Test func `opens its state and answers a preflight`() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appending(
                path: "blocked-\(UUID().uuidString)"
            )
            defer { try? FileManager.default.removeItem(at: folder) }
            var configuration = SystemConfiguration(environment: ["WHORL_READER": "mock:match"])
            configuration.stateDirectory = folder.path
            configuration.tpm = "none"
            let services = InProcessRoot(configuration)
            let finished = BlockedPool.run {
                let state = services.engine.state
                // Two at once: the second waits for the first one's opening.
                async let first = state.created()
                async let second = state.created()
                _ = try await (first, second)
                let preflight = await services.services.preflight(
                    .biometrics,
                    for: services.application
                )
                guard preflight.obstacle?.code == .biometryNotEnrolled else {
                    throw CocoaError(.featureUnsupported)
                }
            }
            exit(finished ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
}
