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

/// The passcode: set, changed, verified, removed; and how often it may be wrong.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct PasscodeTests {
    /// The chip of a test allows three wrong tries; most tests are about Whorl's own limit.
    private func patient() throws -> VaultBench {
        let bench = try VaultBench()
        let set = try bench.tpm.tool("dictionarylockout", "-s", "-n", "100", "-t", "1000", "-l", "1000")
        #expect(set.status == 0, "\(set.errors)")
        return bench
    }

    @Test func `the right passcode is told from wrong ones, for each profile`() async throws {
        let bench = try patient()
        let vault = try bench.vault()
        #expect(try await !vault.isPasscodeSet(of: "ada"))
        #expect(await code { try await vault.verify(secret("1234"), of: "ada") } == .passcodeNotSet)
        try await vault.setPasscode(secret("1234"), of: "ada")
        try await vault.setPasscode(secret("5678"), of: "bob")
        #expect(await code { try await vault.setPasscode(secret("9999"), of: "ada") } == .passcodeExists)
        let proof = try await vault.verify(secret("1234"), of: "ada")
        #expect(proof.profile == "ada" && !proof.showsFinger && proof.passcode != nil)
        for wrong in ["1235", "5678", "12345", "123", ""] {
            #expect(await code { try await vault.verify(secret(wrong), of: "ada") } == .passcodeWrong)
            wait(bench)
        }
        await vault.letGo()
        _ = try await bench.vault().verify(secret("5678"), of: "bob")
    }

    private func wait(_ bench: VaultBench) { bench.wait(.seconds(100_000)) }

    @Test func `items follow a changed passcode, and the old one opens nothing`() async throws {
        let bench = try patient()
        let vault = try bench.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        let name = try id(.secret, "s")
        let key = try id(.key, "k")
        try await vault.add(secret("x"), as: name, access: .devicePasscode)
        try await vault.createKey(key, access: .userPresence)
        let old = try await vault.verify(secret("1234"), of: "ada")
        #expect(
            await code {
                try await vault.changePasscode(
                    to: secret("5678"),
                    shown: try await vault.verify(secret("0000"), of: "ada")
                )
            }
                == .passcodeWrong
        )
        #expect(
            await code {
                try await vault.changePasscode(
                    to: secret("5"),
                    shown: try await vault.verify(secret("1234"), of: "ada")
                )
            }
                == .passcodeWrongSize
        )
        try await vault.changePasscode(
            to: secret("5678"),
            shown: try await vault.verify(secret("1234"), of: "ada")
        )
        let new = try await vault.verify(secret("5678"), of: "ada")
        #expect(try await data(vault.secret(name, shown: new)) == data(secret("x")))
        _ = try await vault.sign(digest: sha256(Data()), with: key, shown: new)
        #expect(await code { try await vault.verify(secret("1234"), of: "ada") } == .passcodeWrong)
        // What was shown before the change is what the chip compared then: the old object.
        #expect(try #require(old.passcode).object != #require(new.passcode).object)
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `removing the passcode names what would be lost, and deletes it only when told`() async throws
    {
        let bench = try patient()
        let vault = try bench.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        let only = try id(.secret, "only")
        let either = try id(.secret, "either")
        let none = try id(.secret, "none")
        try await vault.add(secret("x"), as: only, access: .devicePasscode)
        try await vault.add(secret("y"), as: either, access: .userPresence)
        try await vault.add(secret("z"), as: none, access: .none)
        #expect(
            await code {
                try await vault.removePasscode(
                    shown: try await vault.verify(secret("4321"), of: "ada"),
                    force: true
                )
            }
                == .passcodeWrong
        )
        #expect(
            await failure {
                try await vault.removePasscode(
                    shown: try await vault.verify(secret("1234"), of: "ada"),
                    force: false
                )
            }
                == ServiceError(.passcodeNeeded, "ada", details: [.items: "secret \"only\""])
        )
        #expect(try await vault.items(of: "ada").count == 3)
        #expect(try await vault.itemsLostWithoutPasscode(of: "ada") == [only])
        #expect(
            try await vault.removePasscode(
                shown: try await vault.verify(secret("1234"), of: "ada"),
                force: true
            ) == [only]
        )
        #expect(try await !vault.isPasscodeSet(of: "ada"))
        #expect(try await Set(vault.items(of: "ada").map(\.id)) == [either, none])
        #expect(try await data(vault.secret(either, shown: finger())) == data(secret("y")))
        // A new passcode is another one, also when it has the same digits.
        try await vault.setPasscode(secret("1234"), of: "ada")
        let proof = try await vault.verify(secret("1234"), of: "ada")
        #expect(await code { try await vault.secret(either, shown: proof) } == .accessDenied)
    }

    @Test func `the keychain's items that live with the passcode go in the moment it goes`() async throws {
        let bench = try patient()
        let vault = try bench.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        try await vault.database.write { db in
            for (id, accessible) in [(1, "akpu"), (2, "ak")] {
                try db.execute(
                    sql: """
                        INSERT INTO keychain_items (id, profile, class, agrp, pdmn, name, record, sealing, value, mac)
                        VALUES (?, 'ada', 'genp', 'g', ?, randomblob(32), x'', 1, x'', x'')
                        """,
                    arguments: [id, accessible]
                )
            }
        }
        func rows() async throws -> [Int] {
            try await vault.database.read {
                try $0.values(sql: "SELECT id FROM keychain_items ORDER BY id") as [Int]
            }
        }
        #expect(
            await failure {
                try await vault.removePasscode(
                    shown: try await vault.verify(secret("1234"), of: "ada"),
                    force: false
                )
            }
                == ServiceError(.passcodeNeeded, "ada", details: [.items: "1 of the keychain's items"])
        )
        try await vault.changePasscode(
            to: secret("5678"),
            shown: try await vault.verify(secret("1234"), of: "ada")
        )
        #expect(try await rows() == [1, 2])
        try await vault.removePasscode(shown: try await vault.verify(secret("5678"), of: "ada"), force: true)
        #expect(try await rows() == [2])
    }

    @Test func `after five wrong ones Whorl waits before the chip is asked again`() async throws {
        let bench = try patient()
        let vault = try bench.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        for _ in 0..<5 {
            #expect(await code { try await vault.verify(secret("0000"), of: "ada") } == .passcodeWrong)
        }
        let waiting = ServiceError(.passcodeThrottled, "ada", wait: .seconds(60))
        #expect(await failure { try await vault.verify(secret("1234"), of: "ada") } == waiting)
        #expect(try await failures(vault) == 5)
        // Neither a new process nor another clock, nor the change or the removal, gets around it.
        bench.setClock(to: 2_000_000_000_000)
        let other = try bench.vault()
        #expect(await failure { try await other.verify(secret("1234"), of: "ada") } == waiting)
        #expect(
            await failure {
                try await other.changePasscode(
                    to: secret("5678"),
                    shown: try await other.verify(secret("1234"), of: "ada")
                )
            }
                == waiting
        )
        #expect(
            await failure {
                try await other.removePasscode(
                    shown: try await other.verify(secret("1234"), of: "ada"),
                    force: true
                )
            } == waiting
        )
        bench.wait(.seconds(60))
        _ = try await vault.verify(secret("1234"), of: "ada")
        #expect(await code { try await vault.verify(secret("0000"), of: "ada") } == .passcodeWrong)
    }

    // Docs/Security.md: A5
    @Test func `two processes together have no more tries than one`() async throws {
        let bench = try patient()
        let first = try bench.vault()
        try await first.setPasscode(secret("1234"), of: "ada")
        let second = try bench.vault(first.device)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                let vault = number % 2 == 0 ? first : second
                group.addTask {
                    _ = await code { try await vault.verify(secret("9\(1000 + number)"), of: "ada") }
                }
            }
        }
        #expect(try await failures(first) == 5)
        #expect(try await first.passcodeWait(of: "ada") == .seconds(60))
    }

    // Docs/Security.md: A5
    @Test func `the look at the tries and the count of the next are one step, many at once`() async throws {
        let bench = try patient()
        let first = try bench.vault()
        try await first.setPasscode(secret("1234"), of: "ada")
        let second = try bench.vault(first.device)
        // Of a size that none has: counted as every other, with neither scrypt nor the chip to keep them apart.
        let taken = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                let vault = number % 2 == 0 ? first : second
                group.addTask {
                    await code { try await vault.verify(secret("123"), of: "ada") } == .passcodeWrong
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(taken == 5)
        #expect(try await second.passcodeWait(of: "ada") == .seconds(60))
    }

    // Docs/Security.md: A5
    @Test func `a program that is killed at the chip's answer has used its try`() async throws {
        let bench = try patient()
        let vault = try bench.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        await vault.letGo()
        let interposer = try Interposer(inFrontOf: bench.tpm)
        let cut = try bench.vault(through: interposer.address)
        interposer.decide { _, code in code == 0x155 ? .cutAnswer : .pass }  // TPM2_HMAC
        for _ in 0..<5 {
            #expect(await code { try await cut.verify(secret("1234"), of: "ada") } == .chipBusy)
        }
        await cut.letGo()
        #expect(
            await failure { try await vault.verify(secret("1234"), of: "ada") }
                == ServiceError(.passcodeThrottled, "ada", wait: .seconds(60))
        )
    }

    @Test func `a right passcode gives back none of the wrong ones that the TPM has counted`() async throws {
        let vault = try patient().vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        for number in 1...TPMBudget.passcodes.free {
            #expect(await code { try await vault.verify(secret("4321"), of: "ada") } == .passcodeWrong)
            // After the last wrong one, no try is left for the right one either.
            if number < TPMBudget.passcodes.free { _ = try await vault.verify(secret("1234"), of: "ada") }
        }
        // Neither is compared now: the TPM would count for everyone.
        for passcode in ["4321", "1234"] {
            let refusal = await failure { try await vault.verify(secret(passcode), of: "ada") }
            #expect(refusal?.code == .passcodeThrottled)
            let wait = refusal?.wait ?? .zero
            #expect(wait > .seconds(7000) && wait <= .seconds(7200))
        }
        #expect(try await vault.passcodeTriesLeft(of: "ada") == 0)
        // Another user's are.
        try await vault.setPasscode(secret("5678"), of: "ben")
        _ = try await vault.verify(secret("5678"), of: "ben")
    }

    @Test func `a locked chip is told apart from a wrong passcode, and costs no try`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        for _ in 0..<3 {
            #expect(await code { try await vault.verify(secret("0000"), of: "ada") } == .passcodeWrong)
        }
        for _ in 0..<5 {
            #expect(await code { try await vault.verify(secret("1234"), of: "ada") } == .chipLockedOut)
        }
        // What needs no passcode goes on.
        let name = try id(.secret, "s")
        try await vault.add(secret("x"), as: name, access: .biometryAny)
        _ = try await vault.secret(name, shown: finger())
        await vault.letGo()
        #expect(try bench.tpm.tool("dictionarylockout", "-c").status == 0)
        _ = try await vault.verify(secret("1234"), of: "ada")
    }

    @Test func `an edited passcode row is refused, and another profile's row too`() async throws {
        let bench = try patient()
        let vault = try bench.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        try await vault.setPasscode(secret("5678"), of: "bob")
        let edits = [
            "UPDATE vault_passcodes SET set_at = 0 WHERE profile = 'ada'",
            """
            UPDATE vault_passcodes SET (object, derivation, set_at, mac) =
                (SELECT object, derivation, set_at, mac FROM vault_passcodes WHERE profile = 'bob')
                WHERE profile = 'ada'
            """,
        ]
        for edit in edits {
            try await vault.database.write { try $0.execute(script: edit) }
            #expect(await code { try await vault.verify(secret("5678"), of: "ada") } == .storeDamaged)
        }
    }

    private func failures(_ vault: Vault) async throws -> Int {
        try await vault.device.perform { commands throws(TPMError) in
            try commands.properties().dictionaryAttack.failures
        }
    }
}
