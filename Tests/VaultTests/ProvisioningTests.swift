// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import WhorlTPM
import Testing

@testable import WhorlVault
import WhorlService

/// What the vault stands on: made once, continued after every cut, lost with the chip.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct ProvisioningTests {
    private func maintenance(_ bench: VaultBench, through address: String? = nil) throws -> VaultMaintenance {
        let device = TPMDevice(try TPMAddress(address ?? bench.tpm.address))
        return VaultMaintenance(device: device, directory: bench.directory)
    }

    /// The state as a program opens it, with the key from wherever it is.
    private func open(_ bench: VaultBench) async throws -> Vault {
        let device = TPMDevice(try TPMAddress(bench.tpm.address))
        let source = try await SealedStateKey(device: device, directory: bench.directory).source()
        return Vault(
            device: device,
            database: try StateDatabase(directory: bench.directory, keySource: source)
        )
    }

    private func secrets(_ vault: Vault) async throws -> Data {
        try await data(vault.secret(id(.secret, "s"), shown: .nothing(of: "ada")))
    }

    /// A directory as it is without a TPM's protection, with one item.
    private func filled() async throws -> VaultBench {
        let bench = try VaultBench()
        let vault = try bench.vault()
        try await vault.add(secret("x"), as: id(.secret, "s"), access: .none)
        await vault.letGo()
        return bench
    }

    @Test func `provisioning seals the state key, and nothing is lost`() async throws {
        let bench = try await filled()
        #expect(FileManager.default.fileExists(atPath: bench.file("state.key")))
        let key = try Data(contentsOf: URL(filePath: bench.file("state.key")))
        try await maintenance(bench).provision()
        try await maintenance(bench).provision()
        #expect(!FileManager.default.fileExists(atPath: bench.file("state.key")))
        for (file, contents) in try bench.copy() { #expect(contents.range(of: key) == nil, "\(file)") }
        for name in ["state.sealed", "vault.authority"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: bench.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let vault = try await open(bench)
        #expect(try await secrets(vault) == data(secret("x")))
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `provisioning that is cut at any command continues at the next start`() async throws {
        // How many commands an uncut one takes, and a bit more.
        for position in 0..<40 {
            let bench = try VaultBench()
            _ = try StateDatabase(directory: bench.directory)
            let interposer = try Interposer(inFrontOf: bench.tpm)
            let cutsAnswer = position % 2 == 0
            interposer.decide { number, _ in
                number == position / 2 ? (cutsAnswer ? .cutAnswer : .cut) : .pass
            }
            let cut = await code { try await maintenance(bench, through: interposer.address).provision() }
            // Whatever was reached, the state opens, by the file or by the chip.
            let between = try await open(bench)
            await between.letGo()
            try await maintenance(bench).provision()
            let vault = try await open(bench)
            try await vault.add(secret("x"), as: id(.secret, "s"), access: .none)
            #expect(try await secrets(vault) == data(secret("x")))
            await vault.letGo()
            #expect(!FileManager.default.fileExists(atPath: bench.file("state.key")))
            #expect(try bench.tpm.handles(from: 0x8100_0000).count == 1)
            if cut == nil { break }
            #expect(position < 39, "the cut never came to an end")
        }
    }

    @Test func `a cut between the files is continued too`() async throws {
        let bench = try await filled()
        let key = try Data(contentsOf: URL(filePath: bench.file("state.key")))
        try await maintenance(bench).provision()
        // Sealed, and the key file not removed yet.
        try key.write(to: URL(filePath: bench.file("state.key")))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: bench.file("state.key")
        )
        let device = TPMDevice(try TPMAddress(bench.tpm.address))
        let status = try await VaultStatus.read(device: device, directory: bench.directory)
        #expect(status.stateKey == .both)
        await device.close()
        let between = try await open(bench)
        #expect(try await secrets(between) == data(secret("x")))
        await between.letGo()
        try await maintenance(bench).provision()
        #expect(!FileManager.default.fileExists(atPath: bench.file("state.key")))
    }

    @Test func `a sealed key beside another key is not taken for the same, and neither is removed`()
        async throws
    {
        let bench = try await filled()
        try await maintenance(bench).provision()
        try Data(repeating: 7, count: 32).write(to: URL(filePath: bench.file("state.key")))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: bench.file("state.key")
        )
        #expect(await code { try await maintenance(bench).provision() } == .storeKeyDamaged)
        #expect(FileManager.default.fileExists(atPath: bench.file("state.key")))
        #expect(FileManager.default.fileExists(atPath: bench.file("state.sealed")))
    }

    @Test func `two vaults that provision at once have one authority`() async throws {
        let bench = try VaultBench()
        let device = TPMDevice(try TPMAddress(bench.tpm.address))
        let vaults = try (0..<6).map { _ in try bench.vault(device) }
        let names = try await withThrowingTaskGroup(of: TPMName.self) { group in
            for vault in vaults {
                group.addTask { try await vault.provisionedAuthority().object.name }
            }
            return try await group.reduce(into: Set<TPMName>()) { $0.insert($1) }
        }
        #expect(names.count == 1)
    }

    @Test func `a damaged authority's file is refused, byte by byte`() async throws {
        let bench = try await filled()
        let path = bench.file("vault.authority")
        let good = try Data(contentsOf: URL(filePath: path))
        for position in stride(from: 0, to: good.count, by: 5) {
            var bad = good
            bad[position] ^= 1
            try bad.write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            #expect(
                await code { try VaultAuthority.load(bench.directory) as Any } == .storeKeyDamaged,
                "byte \(position)"
            )
        }
        try good.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(await code { try VaultAuthority.load(bench.directory) as Any } == .storeTooOpen)
    }

    @Test func `a cleared chip is told as such, and a reset begins anew`() async throws {
        let bench = try await filled()
        try await maintenance(bench).provision()
        #expect(try bench.tpm.tool("clear", "-c", "p").status == 0)
        #expect(await code { try await open(bench) } == .chipCleared)
        let device = TPMDevice(try TPMAddress(bench.tpm.address))
        let status = try await VaultStatus.read(device: device, directory: bench.directory)
        #expect(status.isSameChip == false)
        #expect(status.problems.map(\.code) == [.chipCleared])
        await device.close()
        guard case .fingersLost(let aside) = try await reset(bench) else {
            Issue.record("the fingers cannot have been kept")
            return
        }
        #expect(FileManager.default.fileExists(atPath: aside))
        let vault = try await open(bench)
        try await vault.add(secret("y"), as: id(.secret, "s"), access: .none)
        #expect(try await secrets(vault) == data(secret("y")))
        await vault.letGo()
        try await maintenance(bench).provision()
    }

    @Test func `a cleared chip is told apart from a lost counter`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        _ = try await vault.provisionedAuthority()
        let generation = try await vault.changeFingers(from: 0)
        await vault.letGo()
        #expect(try bench.tpm.tool("clear", "-c", "p").status == 0)
        #expect(await code { try await vault.generation(of: "ada", stored: generation) } == .chipCleared)
        #expect(await code { try await vault.setPasscode(secret("1234"), of: "ada") } == .chipCleared)
        #expect(
            await code { try await vault.add(secret("x"), as: id(.secret, "s"), access: .none) }
                == .chipCleared
        )
    }

    @Test func `the status tells what there is, and changes nothing`() async throws {
        let bench = try VaultBench()
        _ = try StateDatabase(directory: bench.directory)
        let device = TPMDevice(try TPMAddress(bench.tpm.address))
        let before = try await VaultStatus.read(device: device, directory: bench.directory)
        #expect(!before.isProvisioned && before.isSameChip == nil && before.stateKey == .file)
        #expect(before.problems.isEmpty && before.isSimulated && before.storageRoot == nil)
        await device.close()
        #expect(try bench.tpm.handles(from: 0x8100_0000).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: bench.file("vault.authority")))
        try await maintenance(bench).provision()
        let after = try await VaultStatus.read(device: device, directory: bench.directory)
        #expect(after.isProvisioned && after.isSameChip == true && after.stateKey == .sealed)
        #expect(after.chip?.inLockout == false)
        await device.close()
        #expect(try bench.tpm.leaks().isEmpty)
        bench.tpm.kill()
        let gone = try await VaultStatus.read(device: device, directory: bench.directory)
        #expect(gone.chip == nil && gone.isProvisioned && gone.isSameChip == nil)
        #expect(gone.problems.map(\.code) == [.noChip])
    }

    @Test func `a reset with the chip there keeps the state and frees the chip`() async throws {
        let bench = try await filled()
        try await maintenance(bench).provision()
        let vault = try await open(bench)
        _ = try await vault.changeFingers(from: 4)
        await vault.letGo()
        #expect(try bench.tpm.handles(from: 0x0100_0000).contains { $0 >> 8 == 0x01_8057 })
        #expect(try await reset(bench) == .fingersKept)
        #expect(try bench.tpm.handles(from: 0x0100_0000).allSatisfy { $0 >> 8 != 0x01_8057 })
        #expect(!FileManager.default.fileExists(atPath: bench.file("state.sealed")))
        #expect(!FileManager.default.fileExists(atPath: bench.file("vault.authority")))
        let later = try bench.vault()
        #expect(try await later.items(of: "ada").isEmpty)
        #expect(try await later.generation(of: "ada", stored: 5) == 5)
    }

    /// The owner's reset, with the database opened as a program opens it.
    private func reset(_ bench: VaultBench) async throws -> VaultReset {
        try await maintenance(bench).reset { () async throws(ServiceError) in
            try StateDatabase.openExisting(
                bench.directory,
                keySource: FileKeySource(directory: bench.directory)
            )
        }
    }

    // Docs/Security.md: D7
    @Test func `a reset during which the database is busy takes nothing away, and may be run again`()
        async throws
    {
        let bench = try await filled()
        try await maintenance(bench).provision()
        let vault = try await open(bench)
        _ = try await vault.changeFingers(from: 4)
        await vault.letGo()
        let busy = ServiceError(.storeBusy, bench.directory.path)
        #expect(
            await failure {
                try await maintenance(bench).reset { () async throws(ServiceError) in throw busy }
            } == busy
        )
        #expect(FileManager.default.fileExists(atPath: bench.file("vault.authority")))
        #expect(try bench.tpm.handles(from: 0x0100_0000).contains { $0 >> 8 == 0x01_8057 })
        let later = try bench.vault()
        #expect(try await secrets(later) == data(secret("x")))
        #expect(try await later.generation(of: "ada", stored: 5) == 5)
        await later.letGo()
        #expect(try await reset(bench) == .fingersKept)
        #expect(try bench.tpm.handles(from: 0x0100_0000).allSatisfy { $0 >> 8 != 0x01_8057 })
    }

    @Test func `a damaged database is put aside by a reset`() async throws {
        let bench = try await filled()
        try Data("no database".utf8).write(to: URL(filePath: bench.file("whorl.sqlite")))
        guard case .fingersLost(let aside) = try await reset(bench) else {
            Issue.record("nothing can have been kept")
            return
        }
        #expect(try Data(contentsOf: URL(filePath: aside)) == Data("no database".utf8))
        #expect(!FileManager.default.fileExists(atPath: bench.file("vault.authority")))
    }

    // Docs/Security.md: D6
    @Test func `a program that runs on after a reset makes items that open in its next run`() async throws {
        let bench = try VaultBench()
        let running = try bench.vault()
        try await running.add(secret("x"), as: id(.secret, "old"), access: .none)
        _ = try await running.changeFingers(from: 0)
        await running.letGo()
        #expect(try await reset(bench) == .fingersKept)
        try await maintenance(bench).provision()
        try await running.setPasscode(secret("1234"), of: "ada")
        try await running.add(secret("y"), as: id(.secret, "new"), access: .none)
        let loose = try await running.seal(secret("z"), of: "ada", access: .devicePasscode)
        #expect(try await running.generation(of: "ada", stored: 1) == 1)
        _ = try await running.changeFingers(from: 1)
        await running.letGo()
        let next = try await open(bench)
        let nothing = OwnerProof.nothing(of: "ada")
        #expect(try await data(next.secret(id(.secret, "new"), shown: nothing)) == data(secret("y")))
        let passcode = try await next.verify(secret("1234"), of: "ada")
        #expect(try await data(next.secret(in: loose, shown: passcode)) == data(secret("z")))
        #expect(try await next.generation(of: "ada", stored: 2) == 2)
    }

    @Test func `owner authorization, a full chip and a missing chip are each told`() async throws {
        let owned = try VaultBench()
        _ = try StateDatabase(directory: owned.directory)
        #expect(try owned.tpm.tool("changeauth", "-c", "o", "secret").status == 0)
        #expect(await code { try await maintenance(owned).provision() } == .ownerAuthorizationNeeded)
        let full = try VaultBench()
        let vault = try full.vault()
        _ = try await vault.provisionedAuthority()
        await vault.letGo()
        // The chip keeps room for counters alone: that is filled last, with counters.
        var index = 0x0180_0000
        for kind in [
            ["-s", "2000"], ["-s", "100"], ["-s", "8"], ["-a", "nt=counter|ownerwrite|ownerread"],
        ] {
            while try full.tpm.define(index, kind) { index += 1 }
        }
        #expect(await code { try await vault.generation(of: "ada", stored: 0) } == .chipFull)
        await vault.letGo()
        full.tpm.kill()
        #expect(
            await code { try await vault.add(secret("x"), as: id(.secret, "s"), access: .none) } == .noChip
        )
    }
}

extension SoftwareTPM {
    /// Whether there was room for another index.
    fileprivate func define(_ index: Int, _ kind: [String]) throws -> Bool {
        let name = "0x" + String(index, radix: 16)
        return try tool("nvdefine", name, "-C", "o", kind[0], kind[1]).status == 0
    }
}
