// SPDX-License-Identifier: Apache-2.0

import KeptThings
import SeededGenerator
import SoftwareTPM
import Testing

/// The program killed with SIGKILL while it works through the table, with a TPM that stays on.
///
/// Half of the kills come by the clock, at any moment of a step; the others between two commands of the TPM, or between a
/// command and its answer.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct KillTests {
    /// Two owners at once, so that a second processor is used.
    @Test(arguments: [0, 1])
    func `200 kills while items of every kind are made, used and deleted lose none that was acknowledged`(
        owner: UInt64
    ) async throws {
        var loop = try await KeepingLoop(seed: SeededGenerator.seed, owner: owner)
        while loop.killed < 100 || !loop.model.unmade.isEmpty {
            try await loop.live()
            if loop.killed % 50 == 0 { try await loop.expectAll() }
        }
        try await loop.end()
        #expect(loop.left > 0, "no kill came while something was loaded: these were the wrong moments")
        #expect(loop.unanswered > 30, "hardly a kill came before the answer")
    }
}
