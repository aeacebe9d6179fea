// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import Synchronization
import WhorlTPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A TPM that is busy or full` {
    /// NV_RATE, RETRY, YIELDED, TESTING.
    @Test(arguments: [UInt32(0x920), 0x922, 0x908, 0x90a])
    func `is asked again until it is ready`(answer: UInt32) async throws {
        let (bench, bus) = try await behindInterposer()
        let times = 8
        let busy = Mutex(times)
        bus.forget()
        bus.decide { _, code in
            guard code == 0x153 else { return .pass }
            return busy.withLock { left in
                left -= 1
                return left >= 0 ? .answer(answer) : .pass
            }
        }
        _ = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.sealed(secret([1])), under: bench.root, policy: bench.policy.digest)
        }
        #expect(bus.names.filter { $0 == "Create" }.count == times + 1)
        try await bench.expectNothingLeft()
    }

    @Test func `for ever, is told after ten tries`() async throws {
        let (bench, bus) = try await behindInterposer()
        bus.forget()
        bus.decide { _, code in code == 0x153 ? .answer(0x920) : .pass }
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                try tpm.create(.sealed(secret([1])), under: bench.root, policy: bench.policy.digest)
            }
        }
        #expect(error.code == .busy && error.responseCode == 0x920 && error.command == "TPM2_Create")
        #expect(bus.names.count { $0 == "Create" } == 10)
        try await bench.expectNothingLeft()
    }

    @Test func `of others' objects, is told, and what we keep goes first`() async throws {
        let bench = try await Bench()
        let object = try await bench.run { tpm throws(TPMError) in
            let object = try tpm.create(.sealed(secret([1])), under: bench.root, policy: bench.policy.digest)
            _ = try tpm.unseal(object, under: bench.root, meeting: bench.policy, with: bench.credentials)
            return object
        }
        // Two of ours are kept loaded; another program takes the third slot.
        #expect(try bench.chip.handles(from: 0x8000_0000).count == 2)
        #expect(try bench.chip.tool("createprimary", "-C", "n", "-c", "other.ctx").status == 0)
        let result = try await bench.run { tpm throws(TPMError) in
            SecretBox(
                try tpm.unseal(object, under: bench.root, meeting: bench.policy, with: bench.credentials)
            )
        }
        #expect(result.bytes.copy == [1])
        await bench.device.close()
        #expect(try bench.chip.tool("createprimary", "-C", "n", "-c", "other2.ctx").status == 0)
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                SecretBox(
                    try tpm.unseal(
                        object,
                        under: bench.root,
                        meeting: bench.policy,
                        with: bench.credentials
                    )
                )
            }
        }
        #expect(error.code == .outOfSlots, "\(error)")
        await bench.device.close()
        try bench.chip.flushObjects()
        try await bench.expectNothingLeft()
    }

    @Test func `100 calls at once in one process`() async throws {
        let bench = try await Bench()
        let counter = try await bench.counter()
        let before = try await bench.run { tpm throws(TPMError) in try tpm.read(counter) }
        let object = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.sealed(secret([9])), under: bench.root, policy: bench.policy.digest)
        }
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<100 {
                group.addTask {
                    try await bench.run { tpm throws(TPMError) in
                        guard index % 2 == 0 else {
                            try tpm.increment(
                                counter,
                                writePolicy: bench.policy,
                                under: bench.root,
                                credentials: bench.credentials
                            )
                            return true
                        }
                        let result = try tpm.unseal(
                            object,
                            under: bench.root,
                            meeting: bench.policy,
                            with: bench.credentials
                        )
                        return result.copy == [9]
                    }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(right == 100)
        let after = try await bench.run { tpm throws(TPMError) in try tpm.read(counter) }
        #expect(after == before + 50)
        try await bench.expectNothingLeft()
    }

    /// Three connections, as of three programs, to one bare TPM with three slots.
    @Test func `is shared by programs that never pause`() async throws {
        let bench = try await Bench()
        let object = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.sealed(secret([9])), under: bench.root, policy: bench.policy.digest)
        }
        await bench.device.close()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let device = TPMDevice(bench.device.address, turn: .milliseconds(200))
                    for _ in 0..<40 {
                        try await device.perform { tpm throws(TPMError) in
                            _ = try tpm.unseal(
                                object,
                                under: bench.root,
                                meeting: bench.policy,
                                with: bench.credentials
                            )
                        }
                    }
                    await device.close()
                }
            }
            try await group.waitForAll()
        }
        try await bench.expectNothingLeft()
    }

    @Test func `a cancelled task sends nothing`() async throws {
        let (bench, bus) = try await behindInterposer()
        bus.forget()
        let task = Task { () async throws -> StorageRoot? in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await bench.device.perform { tpm throws(TPMError) in try tpm.findStorageRoot() }
        }
        let result = await task.result
        #expect(throws: TPMError(.cancelled)) { try result.get() }
        #expect(bus.heard.isEmpty)
    }

    private func behindInterposer() async throws -> (Bench, Interposer) {
        let chip = try SoftwareTPM()
        let bus = try Interposer(inFrontOf: chip)
        return (try await Bench(through: bus.address, chip: chip), bus)
    }
}
