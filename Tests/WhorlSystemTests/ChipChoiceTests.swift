// SPDX-License-Identifier: Apache-2.0

import Foundation
import StateStore
import Testing
import Vault
import WhorlSystem

/// Which TPM is taken.
struct ChipChoiceTests {
    private func services(_ change: (inout SystemConfiguration) -> Void) -> SystemServices {
        var configuration = SystemConfiguration(environment: ["WHORL_TCTI": "swtpm:path=/nowhere/at/all"])
        configuration.stateDirectory =
            FileManager.default.temporaryDirectory.appending(path: "whorl-none-\(UUID())").path
        change(&configuration)
        return SystemServices(configuration)
    }

    @Test func `a simulated TPM is refused where none is allowed, before it is looked for`() async throws {
        let services = services { $0.allowsSimulatedTPM = false }
        #expect(services.tpmAddress == "none")
        let error = await #expect(throws: VaultError.self) { try await services.vault() }
        #expect(error?.code == .noChip)
        #expect(error?.cause.contains("allows none") == true)
        await #expect(throws: VaultError.self) { try await services.vaultStatus() }
        #expect(!services.usedSimulatedTPM && !services.isProtectedByHardware)
    }

    @Test func `a simulated TPM that is named is taken, and said to be one`() async throws {
        let services = services { _ in }
        let error = await #expect(throws: VaultError.self) { try await services.vault() }
        #expect(error?.code == .noChip)
        #expect(services.usedSimulatedTPM && !services.isProtectedByHardware)
        #expect(!FileManager.default.fileExists(atPath: services.stateDirectory.path))
    }

    @Test func `what is no address is never handed on`() async throws {
        let services = services { $0.tpm = "libtss2-tcti-other.so" }
        #expect(services.tpmAddress == "none")
        let error = await #expect(throws: VaultError.self) { try await services.provisionVault() }
        #expect(error?.code == .noChip)
    }
}
