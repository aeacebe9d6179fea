// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import WhorlTPM
import Testing

@testable import WhorlVault
import WhorlService

/// The generation of a profile's fingers, counted in the chip.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct GenerationTests {
    private func provisioned() async throws -> (VaultBench, Vault) {
        let bench = try VaultBench()
        let vault = try bench.vault()
        _ = try await vault.provisionedAuthority()
        return (bench, vault)
    }

    @Test func `before the vault is provisioned the database counts, and the chip is not asked`() async throws
    {
        let bench = try VaultBench()
        bench.tpm.kill()
        let vault = try bench.vault()
        #expect(try await vault.generation(of: "ada", stored: 7) == 7)
        try await vault.advance("ada", to: 8)
        #expect(try await vault.generation(of: "ada", stored: 8) == 8)
    }

    @Test func `a counter goes on from the database's generation, by steps of one`() async throws {
        let (bench, vault) = try await provisioned()
        #expect(try await vault.generation(of: "ada", stored: 0) == 0)
        #expect(try await vault.generation(of: "bob", stored: 41) == 41)
        try await vault.advance("ada", to: 1)
        try await vault.advance("ada", to: 1)
        try await vault.advance("ada", to: 2)
        try await vault.advance("bob", to: 42)
        let lost: ServiceError.Code = .counterLost
        #expect(await code { try await vault.advance("ada", to: 4) } == lost)
        // Another process has counted on meanwhile.
        try await vault.advance("ada", to: 1)
        try await vault.advance("ada", to: 0)
        await vault.letGo()
        let later = try bench.vault()
        // An older and a newer database are both told what the chip has.
        for stored in [0, 1, 2, 3, .max] as [UInt64] {
            #expect(try await later.generation(of: "ada", stored: stored) == 2)
        }
        #expect(try await later.generation(of: "bob", stored: 42) == 42)
        await later.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `a key bound to the present fingers is refused by the chip after a finger is added`()
        async throws
    {
        let (bench, vault) = try await provisioned()
        let name = try id(.key, "k")
        let kept = try id(.secret, "s")
        let refused = await code { try await vault.createKey(name, access: .biometryCurrentSet) }
        guard case .accessRefused = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        let generation = try await vault.changeFingers(from: 0)
        try await vault.createKey(name, access: .biometryCurrentSet)
        try await vault.add(secret("x"), as: kept, access: .biometryAny)
        let digest = sha256(Data())
        _ = try await vault.sign(digest: digest, with: name, shown: finger())
        _ = try await vault.changeFingers(from: generation)
        #expect(
            await code { try await vault.sign(digest: digest, with: name, shown: finger()) }
                == .enrollmentChanged
        )
        #expect(try await data(vault.secret(kept, shown: finger())) == data(secret("x")))
        let standings = try await vault.items(of: "ada").map(\.standing)
        #expect(standings == [.enrollmentChanged, .valid])
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `another profile's fingers do not touch a key`() async throws {
        let (_, vault) = try await provisioned()
        _ = try await vault.changeFingers(from: 0)
        let other = try await vault.changeFingers(of: "bob", from: 0)
        let name = try id(.secret, "s")
        try await vault.add(secret("x"), as: name, access: .biometryCurrentSet)
        _ = try await vault.changeFingers(of: "bob", from: other)
        #expect(try await data(vault.secret(name, shown: finger())) == data(secret("x")))
    }

    @Test(arguments: 1...3)
    func `making a counter goes on where an earlier run was cut off`(step: Int) async throws {
        let (bench, vault) = try await provisioned()
        let authority = try await vault.provisionedAuthority()
        let index = try #require(NVCounter.ownIndices.first)
        try await vault.save("ada", .planned(index), CounterRow.Shift(amount: 0))
        if step == 2 {
            // Defined, and not counted yet.
            await vault.letGo()
            try bench.tpm.write(authority.writePolicy.digest.bytes, to: "policy")
            let defined = try bench.tpm.tool(
                "nvdefine",
                "0x\(String(index, radix: 16))",
                "-C",
                "o",
                "-L",
                "policy",
                "-a",
                "nt=counter|policywrite|authread|no_da"
            )
            #expect(defined.status == 0, "\(defined.errors)")
        }
        if step == 3 {
            // Counted, and not written down yet.
            try await vault.device.perform { commands throws(TPMError) in
                _ = try commands.defineCounter(
                    at: index,
                    writePolicy: authority.writePolicy,
                    under: authority.root,
                    credentials: authority.credentials
                )
            }
        }
        await vault.letGo()
        let later = try bench.vault()
        #expect(try await later.generation(of: "ada", stored: 5) == 5)
        try await later.advance("ada", to: 6)
        #expect(try await later.pinnedCounter(of: "ada")?.1.index == index)
        await later.letGo()
        #expect(try bench.tpm.handles(from: 0x0100_0000).filter { $0 >> 8 == 0x01_8057 } == [index])
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `an index that another program has taken is left alone`() async throws {
        let (bench, vault) = try await provisioned()
        let index = try #require(NVCounter.ownIndices.first)
        await vault.letGo()
        let name = "0x\(String(index, radix: 16))"
        #expect(try bench.tpm.tool("nvdefine", name, "-C", "o", "-s", "8").status == 0)
        #expect(try await vault.generation(of: "ada", stored: 1) == 1)
        #expect(try await vault.pinnedCounter(of: "ada")?.1.index == index + 1)
    }

    @Test func `many steps from two vaults at once are all counted, once each`() async throws {
        let (bench, first) = try await provisioned()
        let second = try bench.vault(first.device)
        _ = try await first.generation(of: "ada", stored: 0)
        for step in 1...20 as ClosedRange<UInt64> {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for vault in [first, second, first, second] {
                    group.addTask { try await vault.advance("ada", to: step) }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await second.generation(of: "ada", stored: 0) == 20)
    }

    @Test func `first counters of two vaults at once are one counter`() async throws {
        let (bench, first) = try await provisioned()
        let vaults = try (0..<6).map { _ in try bench.vault(first.device) }
        try await withThrowingTaskGroup(of: UInt64.self) { group in
            for vault in vaults { group.addTask { try await vault.generation(of: "ada", stored: 3) } }
            for try await generation in group { #expect(generation == 3) }
        }
        await first.letGo()
        #expect(try bench.tpm.handles(from: 0x0100_0000).filter { $0 >> 8 == 0x01_8057 }.count == 1)
    }

    // Docs/Security.md: D5
    @Test func `a counter that cannot be read now is not taken for a lost one`() async throws {
        let (bench, vault) = try await provisioned()
        let generation = try await vault.changeFingers(from: 0)
        let name = try id(.secret, "s")
        try await vault.add(secret("x"), as: name, access: .biometryCurrentSet)
        await vault.letGo()
        let interposer = try Interposer(inFrontOf: bench.tpm)
        // The first command that reads the counter ends without an answer.
        interposer.decide { _, code in code == 0x169 ? .cut : .pass }
        let cut = try bench.vault(through: interposer.address)
        let failed = await code { try await cut.acceptGeneration(of: "ada", stored: generation) }
        #expect(failed == .chipBusy, "\(String(describing: failed))")
        await cut.letGo()
        // Neither was a second counter made, nor was the set of fingers changed.
        #expect(try bench.tpm.handles(from: 0x0100_0000).filter { $0 >> 8 == 0x01_8057 }.count == 1)
        let later = try bench.vault()
        #expect(try await data(later.secret(name, shown: finger())) == data(secret("x")))
    }

    @Test func `accepting an older database kills what was bound to a newer one`() async throws {
        let (_, vault) = try await provisioned()
        let generation = try await vault.changeFingers(from: 0)
        let newer = try await vault.changeFingers(from: generation)
        let name = try id(.secret, "s")
        try await vault.add(secret("x"), as: name, access: .biometryCurrentSet)
        // The database is of `generation` now; the owner says that this is right.
        #expect(try await vault.generation(of: "ada", stored: generation) == newer)
        try await vault.acceptGeneration(of: "ada", stored: generation)
        #expect(try await vault.generation(of: "ada", stored: generation) == generation)
        #expect(await code { try await vault.secret(name, shown: finger()) } == .enrollmentChanged)
        _ = try await vault.changeFingers(from: generation)
    }
}
