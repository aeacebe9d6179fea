// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import WhorlTPM
import Testing

@testable import WhorlVault
import WhorlService

/// Two programs with one directory and one chip, each with a connection of its own.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct SharingTests {
    @Test func `a caller that is cancelled hears that, and nothing about the chip`() async throws {
        let vault = try VaultBench().vault()
        try await vault.add(secret("x"), as: id(.secret, "s"), access: .biometryAny)
        let call = Task { () async -> ServiceError? in
            while !Task.isCancelled { await Task.yield() }
            do throws(ServiceError) {
                _ = try await vault.secret(ItemID(.secret, ItemName("s"), of: "ada"), shown: finger())
                return nil
            } catch {
                return error
            }
        }
        call.cancel()
        #expect(await call.value?.code == .appCancel)
    }

    @Test func `two vaults at once lose nothing and count nothing twice`() async throws {
        let bench = try VaultBench()
        let set = try bench.tpm.tool("dictionarylockout", "-s", "-n", "100", "-t", "1000", "-l", "1000")
        #expect(set.status == 0)
        let vaults = [try bench.vault(), try bench.vault()]
        let key = try id(.key, "k")
        let made = try await vaults[0].createKey(key, access: .biometryAny)
        try await vaults[0].setPasscode(secret("1234"), of: "ada")
        await vaults[0].letGo()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, vault) in vaults.enumerated() {
                group.addTask {
                    for round in 0..<10 {
                        let name = try id(.secret, "s\(number)-\(round)")
                        try await vault.add(secret("\(name)"), as: name, access: .userPresence)
                        let given = try await vault.secret(name, shown: finger())
                        #expect(data(given) == data(secret("\(name)")))
                        let digest = sha256(Data("\(round)".utf8))
                        let signature = try await vault.sign(digest: digest, with: key, shown: finger())
                        #expect(made.isValid(signature, over: digest))
                        _ = try await vault.verify(secret("1234"), of: "ada")
                        try await vault.advance("p", to: vault.generation(of: "p", stored: 0))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await vaults[1].items(of: "ada").count == 21)
        for vault in vaults { await vault.letGo() }
        #expect(try bench.tpm.leaks().isEmpty)
        #expect(try bench.tpm.handles(from: 0x0100_0000).filter { $0 >> 8 == 0x01_8057 }.count == 1)
    }

    @Test func `of two changes of a passcode at once one holds, and its passcode is the one that is set`()
        async throws
    {
        let bench = try VaultBench()
        let vaults = [try bench.vault(), try bench.vault()]
        try await vaults[0].setPasscode(secret("1234"), of: "ada")
        await vaults[0].letGo()
        let outcomes = await withTaskGroup(of: (Int, ServiceError.Code?).self) { group in
            for (number, vault) in vaults.enumerated() {
                group.addTask {
                    (
                        number,
                        await code {
                            try await vault.changePasscode(
                                to: secret("new \(number)"),
                                shown: try await vault.verify(secret("1234"), of: "ada")
                            )
                        }
                    )
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        // A nil code is no entry.
        let winners = [0, 1].filter { outcomes[$0] == nil }
        #expect(winners.count == 1, "\(outcomes)")
        for winner in winners {
            _ = try await vaults[0].verify(secret("new \(winner)"), of: "ada")
        }
    }
}
