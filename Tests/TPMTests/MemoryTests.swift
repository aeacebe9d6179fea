// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import Testing

@testable import WhorlTPM

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `The list of handles that ESAPI keeps` {
    /// An entry that is forgotten costs more than a kilobyte, and time in every search of the list.
    @Test func `does not grow with what is done`() async throws {
        let bench = try await Bench()
        let known = try await bench.run { tpm throws(TPMError) in
            let object = try tpm.create(.sealed(secret([1])), under: bench.root, policy: bench.policy.digest)
            for _ in 0..<10 {
                _ = try tpm.unseal(
                    object,
                    under: bench.root,
                    meeting: bench.policy,
                    with: bench.credentials
                )
            }
            let connection = tpm.connection
            return try connection.withRoot(bench.root) { (root) throws(TPMError) in
                // Entries are numbered one after the other.
                (1...30).count { connection.leftover(of: root - $0) != nil }
            }
        }
        // At most the two objects and the session that are kept; ten unsealings have had ten sessions of their own.
        #expect(known <= 3)
        try await bench.expectNothingLeft()
    }
}
