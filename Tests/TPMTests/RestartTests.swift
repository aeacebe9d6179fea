// SPDX-License-Identifier: Apache-2.0

import BlockedPool
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A TPM that goes away and comes back` {
    @Test func `killed, it is told; restarted, the next call works`() async throws {
        let bench = try await Bench()
        let object = try await item(bench)
        #expect(try await opens(object, bench))
        bench.chip.kill()
        let error = try await failure { () async throws(TPMError) in try await unseal(object, bench) }
        #expect(error.code == .connectionLost || error.code == .noDevice, "\(error)")
        #expect(!error.message.isEmpty && !error.recovery.isEmpty)
        try bench.chip.restart(keepingState: true)
        #expect(try await opens(object, bench))
        try await bench.expectNothingLeft()
    }

    /// Between two commands: what was loaded is gone, and the handles' numbers may be others' by now.
    @Test func `restarted between two calls, the second one works`() async throws {
        let bench = try await Bench()
        let object = try await item(bench)
        #expect(try await opens(object, bench))
        try bench.chip.restart(keepingState: true)
        #expect(try await opens(object, bench))
        try bench.chip.restart(keepingState: true)
        let verdict = try await bench.run { tpm throws(TPMError) in
            try tpm.verify(bench.auth, of: bench.authority, under: bench.root)
        }
        #expect(verdict == .right)
        try await bench.expectNothingLeft()
    }

    @Test func `restarted with foreign objects at the old handles, nothing of theirs is used or flushed`()
        async throws
    {
        let bench = try await Bench()
        let object = try await item(bench)
        #expect(try await opens(object, bench))
        try bench.chip.restart(keepingState: true)
        try bench.chip.tool("createprimary", "-C", "n", "-c", "other.ctx")
        #expect(try bench.chip.handles(from: 0x8000_0000) == [0x8000_0000])
        #expect(try await opens(object, bench))
        await bench.device.close()
        #expect(try bench.chip.handles(from: 0x8000_0000) == [0x8000_0000])
    }

    @Test func `cleared, it says that it does not know the items`() async throws {
        let bench = try await Bench()
        let object = try await item(bench)
        try bench.chip.restart(keepingState: false)
        let missing = try await failure { () async throws(TPMError) in try await unseal(object, bench) }
        #expect(missing.code == .foreignRoot, "\(missing)")
        let check = try await bench.run { tpm throws(TPMError) in try tpm.check(bench.root) }
        #expect(check == .missing)
        // Somebody provisions it anew.
        let root = try await bench.run { tpm throws(TPMError) in try tpm.findOrMakeStorageRoot() }
        #expect(root.handle == bench.root.handle && root.name != bench.root.name)
        let foreign = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in try tpm.load(object, under: root) }
        }
        #expect(foreign.code == .foreignBlob, "\(foreign)")
        let pinned = try await failure { () async throws(TPMError) in try await unseal(object, bench) }
        #expect([.foreignRoot, .foreignBlob].contains(pinned.code), "\(pinned)")
        try await bench.expectNothingLeft()
    }

    @Test func `cleared by the owner's tool, the same`() async throws {
        let bench = try await Bench()
        let object = try await item(bench)
        await bench.device.close()
        #expect(try bench.chip.tool("clear").status == 0)
        let error = try await failure { () async throws(TPMError) in try await unseal(object, bench) }
        #expect(error.code == .foreignRoot, "\(error)")
        #expect(error.recovery.contains("cleared"))
    }

    /// A simulator that was switched on and not started answers TPM_RC_INITIALIZE.
    @Test func `not started, it is started`() async throws {
        let bench = try await Bench()
        let object = try await item(bench)
        try bench.chip.restart(keepingState: true, started: false)
        #expect(try await opens(object, bench))
    }

    @Test func `an idle connection is closed, and what it kept is flushed`() async throws {
        let chip = try SoftwareTPM()
        let bench = try await Bench(chip: chip, idle: .milliseconds(20))
        let object = try await item(bench)
        #expect(try await opens(object, bench))
        let deadline = ContinuousClock.now + .seconds(300)
        while try !chip.leaks().isEmpty, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try chip.leaks() == [])
        #expect(try await opens(object, bench))
    }

    @Test func `an idle connection is closed while every thread of the shared pool is blocked`() async {
        await #expect(processExitsWith: .success) {
            let chip = try SoftwareTPM()
            let finished = BlockedPool.run {
                let device = TPMDevice(try TPMAddress(chip.address), uncut: .milliseconds(20))
                try await device.perform { tpm throws(TPMError) in
                    let root = try tpm.findOrMakeStorageRoot()
                    let auth = secret([1])
                    let authority = try tpm.createAuthority(under: root, auth: auth, dictionaryAttack: false)
                    _ = try tpm.verify(auth, of: authority, under: root)
                    // The authority stays loaded.
                    guard (try? chip.leaks().isEmpty) == false else { throw TPMError(.other) }
                }
                let deadline = ContinuousClock.now + .seconds(240)
                while try !chip.leaks().isEmpty {
                    guard ContinuousClock.now < deadline else { throw TPMError(.other) }
                    usleep(10_000)
                }
            }
            chip.kill()
            try FileManager.default.removeItem(at: chip.directory)
            exit(finished ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    private func item(_ bench: Bench) async throws -> TPMObject {
        try await bench.run { tpm throws(TPMError) in
            try tpm.create(.sealed(secret([5])), under: bench.root, policy: bench.policy.digest)
        }
    }

    private func unseal(_ object: TPMObject, _ bench: Bench) async throws(TPMError) -> SecretBox {
        try await bench.run { tpm throws(TPMError) in
            SecretBox(
                try tpm.unseal(object, under: bench.root, meeting: bench.policy, with: bench.credentials)
            )
        }
    }

    private func opens(_ object: TPMObject, _ bench: Bench) async throws -> Bool {
        try await unseal(object, bench).bytes.copy == [5]
    }
}
