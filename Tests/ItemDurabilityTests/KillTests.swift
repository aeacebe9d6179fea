// SPDX-License-Identifier: Apache-2.0

import Foundation
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
    /// The number of kills: 200 each night (`make nightly`), fewer in a run that somebody waits for.
    private static let kills = ProcessInfo.processInfo.environment["WHORL_KILLS"].flatMap(Int.init) ?? 20
    /// By night it goes on until each cell of the table was made once, which takes a hundred kills of each owner.
    private static let makesAll = kills >= 200

    // Docs/Security.md: D8
    /// Two owners at once, so that a second processor is used.
    @Test(arguments: [0, 1])
    func `kills while items of every kind are made, used and deleted lose none that was acknowledged`(
        owner: UInt64
    ) async throws {
        var loop = try await KeepingLoop(seed: SeededGenerator.seed, owner: owner)
        while loop.killed < Self.kills / 2 || (Self.makesAll && !loop.model.unmade.isEmpty) {
            try await loop.live()
            if loop.killed % 50 == 0 { try await loop.expectAll() }
        }
        try await loop.end()
        #expect(
            loop.left > 0 || Self.kills < 25,
            "no kill came while something was loaded: these were the wrong moments"
        )
        #expect(loop.unanswered > Self.kills / 12, "hardly a kill came before the answer")
    }
}
