// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSQLite
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import WhorlTPM
import Testing

@testable import WhorlVault
import WhorlService

/// The chip goes away in the middle of an operation: a clear error, and the next call works.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct CutTests {
    enum Operation: String, CaseIterable, Sendable {
        case add, secret, createKey, sign, setPasscode, changePasscode, firstCounter, advance
    }

    @Test(arguments: Operation.allCases)
    func `an operation that is cut at any command fails clearly, and works when repeated`(
        operation: Operation
    ) async throws {
        let bench = try VaultBench()
        #expect(
            try bench.tpm.tool("dictionarylockout", "-s", "-n", "100", "-t", "1000", "-l", "1000").status == 0
        )
        let setup = try bench.vault()
        _ = try await setup.provisionedAuthority()
        _ = try await setup.changeFingers(from: 0)
        try await setup.setPasscode(secret("0000"), of: "ada")
        try await setup.add(secret("kept"), as: id(.secret, "kept"), access: .biometryAny)
        try await setup.createKey(id(.key, "kept"), access: .biometryCurrentSet)
        await setup.letGo()
        let interposer = try Interposer(inFrontOf: bench.tpm)
        for cut in 0..<64 {
            let vault = try bench.vault(through: interposer.address)
            let generation = try await vault.generation(of: "ada", stored: 0)
            await vault.letGo()
            let cutsAnswer = cut % 2 == 1
            interposer.forget()
            interposer.decide { number, _ in
                number == cut / 2 ? (cutsAnswer ? .cutAnswer : .cut) : .pass
            }
            let failure = await failure { try await perform(operation, cut, generation, vault) }
            let first = failure?.code
            interposer.decide { _, _ in .pass }
            // Waits after a try that may have been compared are not what this is about.
            bench.wait(.seconds(1_000_000))
            guard first != nil else {
                #expect(cut > 1, "nothing was cut")
                break
            }
            #expect(
                first == .chipBusy || first == .noChip,
                "\(operation) \(cut): \(String(describing: failure))"
            )
            // Without a resource manager nobody else flushes what a lost answer has left in the chip.
            for kind in ["-l", "-t"] { _ = try bench.tpm.tool("flushcontext", kind) }
            // The same vault, which has lost its connection, and the same operation.
            let second = await code { try await perform(operation, cut, generation, vault) }
            #expect(second == nil, "\(operation) \(cut): \(String(describing: second))")
            #expect(
                try await data(vault.secret(id(.secret, "kept"), shown: finger())) == data(secret("kept"))
            )
            if operation == .firstCounter { try await removeCounter(of: "p\(cut)", vault) }
            await vault.letGo()
            #expect(cut < 63, "the cut never came to an end")
        }
    }

    private func perform(_ operation: Operation, _ round: Int, _ generation: UInt64, _ vault: Vault)
        async throws
    {
        switch operation {
        case .add: try await vault.add(secret("x"), as: id(.secret, "n\(round)"), access: .biometryAny)
        case .secret: _ = try await vault.secret(id(.secret, "kept"), shown: finger())
        case .createKey: try await vault.createKey(id(.key, "n\(round)"), access: .biometryAny)
        case .sign:
            _ = try await vault.sign(digest: sha256(Data()), with: id(.key, "kept"), shown: finger())
        case .setPasscode: try await vault.setPasscode(secret("1234"), of: "p\(round)")
        case .changePasscode:
            try await vault.changePasscode(
                to: secret("0000"),
                shown: try await vault.verify(secret("0000"), of: "ada")
            )
        case .firstCounter:
            let profile = "p\(round)"
            #expect(try await vault.generation(of: profile, stored: 3) == 3)
        case .advance:
            try await vault.advance("ada", to: generation + 1)
            #expect(try await vault.generation(of: "ada", stored: 0) == generation + 1)
        }
    }

    /// It makes room for the next round, and keeps the number of commands the same.
    private func removeCounter(of profile: String, _ vault: Vault) async throws {
        try await vault.database.write { db in
            try db.execute(sql: "DELETE FROM vault_counters WHERE profile = ?", arguments: [profile])
        }
        try await vault.removeStrays(vault.provisionedAuthority())
    }

    @Test func `a chip that is killed and restarted is used on`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let name = try id(.secret, "s")
        try await vault.add(secret("x"), as: name, access: .biometryAny)
        bench.tpm.kill()
        let gone = await code { try await vault.secret(name, shown: finger()) }
        #expect(gone == .chipBusy || gone == .noChip)
        try bench.tpm.restart(keepingState: true)
        #expect(try await data(vault.secret(name, shown: finger())) == data(secret("x")))
        await vault.letGo()
        try bench.tpm.restart(keepingState: false)
        #expect(await code { try await vault.secret(name, shown: finger()) } == .chipCleared)
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }
}
