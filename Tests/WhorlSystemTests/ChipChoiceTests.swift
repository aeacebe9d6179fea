// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlStateStore
import SoftwareMachine
import Testing
import WhorlVault
import WhorlService
import WhorlSystem

/// Which TPM is taken.
struct ChipChoiceTests {
    private func services(_ change: (inout SystemConfiguration) -> Void) -> InProcessRoot {
        var configuration = SystemConfiguration(environment: ["WHORL_TCTI": "swtpm:path=/nowhere/at/all"])
        configuration.stateDirectory =
            FileManager.default.temporaryDirectory.appending(path: "whorl-none-\(UUID())").path
        change(&configuration)
        return InProcessRoot(configuration)
    }

    @Test func `every operation of the contract has a handler`() {
        let root = services { _ in }
        let unanswered = Operations.all.filter { !root.handlers.answers($0) }
        #expect(unanswered.isEmpty && Operations.all.count > 40, "no handler: \(unanswered)")
    }

    // Docs/Security.md: A9a
    @Test func `a simulated TPM is refused where none is allowed, before it is looked for`() async throws {
        let services = services { $0.allowsSimulatedTPM = false }
        let facts = await services.services.facts()
        #expect(facts.tpmAddress == "none")
        let error = await #expect(throws: ServiceError.self) { try await services.vault() }
        #expect(error?.code == .noChip)
        #expect(error?.cause.contains("not allowed here") == true)
        await #expect(throws: ServiceError.self) { try await services.services.ask(ReadVaultStatus()) }
        let later = await services.services.facts()
        #expect(
            !later.usedSimulatedTPM
                && !later.isProtectedByHardware
        )
    }

    @Test func `a TPM that is named and does not answer is an error, and a file takes no place of its`()
        async throws
    {
        let services = services { _ in }
        let error = await #expect(throws: ServiceError.self) { try await services.vault() }
        #expect(error?.code == .noChip)
        #expect(error?.message.contains("swtpm:path=/nowhere/at/all: tcti:") == true, "\(error as Any)")
        #expect(error?.recovery.contains("WHORL_TCTI") == true)
        let refused = await #expect(throws: ServiceError.self) { try await services.store() }
        #expect(refused?.code == .chipUnavailable)
        #expect(refused?.message.contains("swtpm:path=/nowhere/at/all") == true)
        let facts = await services.services.facts()
        #expect(
            facts.isTPMNamed
                && !facts.usedSimulatedTPM
                && !facts.isProtectedByHardware
        )
        let key = services.stateDirectory.path + "/state.key"
        #expect(!FileManager.default.fileExists(atPath: key))
    }

    // Docs/Security.md: A9b
    @Test func `a recorded TPM is refused where no simulated one is allowed`() async throws {
        let services = services {
            $0.tpm = "pcap:device:/dev/tpmrm0"
            $0.allowsSimulatedTPM = false
        }
        let error = await #expect(throws: ServiceError.self) { try await services.vault() }
        #expect(error?.message.contains("recorded TPMs are not allowed") == true, "\(error as Any)")
        await #expect(throws: ServiceError.self) { try await services.store() }
    }

    @Test func `a TPM that nobody named may be absent`() async throws {
        for tpm in [nil, "none"] {
            let services = services { $0.tpm = tpm }
            let facts = await services.services.facts()
            #expect(!facts.isTPMNamed)
            guard tpm != nil || !FileManager.default.fileExists(atPath: "/dev/tpmrm0") else { continue }
            _ = try await services.store()
            let key = services.stateDirectory.path + "/state.key"
            #expect(FileManager.default.fileExists(atPath: key))
            try FileManager.default.removeItem(atPath: services.stateDirectory.path)
        }
    }

    @Test func `what is no address is never handed on`() async throws {
        let services = services { $0.tpm = "libtss2-tcti-other.so" }
        let facts = await services.services.facts()
        #expect(facts.tpmAddress == "none")
        let error = await #expect(throws: ServiceError.self) {
            try await services.services.ask(ProvisionVault())
        }
        #expect(error?.code == .noChip)
        await #expect(throws: ServiceError.self) { try await services.store() }
    }
}
