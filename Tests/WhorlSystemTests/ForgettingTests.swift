// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoftwareMachine
import SoftwareTPM
import Testing
import WhorlFingerprint
import WhorlService
import WhorlSystem

@Suite(.timeLimit(.minutes(5))) struct `Before a user's folder is deleted` {
    /// The key would be in unused blocks of the disk, beside what it decrypts.
    @Test func `the state key is not written to a file, and no counter stays in the TPM`() async throws {
        let tpm = try SoftwareTPM()
        let root = InProcessRoot(on: tpm)
        try await root.enroll(.rightIndex)
        let folder = tpm.directory.path + "/whorl"
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder) }
        #expect(try files().contains("state.sealed"))
        let before = try await root.services.ask(ReadVaultStatus())
        #expect(before.chip?.counters == 1 && before.stateKey == .sealed)
        #expect(await root.forgetOwner().isEmpty)
        #expect(try !files().contains("state.key"))
        let other = InProcessRoot(on: tpm)
        #expect(try await other.services.ask(ReadVaultStatus()).chip?.counters == 0)
        await other.services.close()
    }
}
