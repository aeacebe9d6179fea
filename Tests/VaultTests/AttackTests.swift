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

/// The attacks of `Docs/Security.md` that aim at the vault, each with the tools that an attacker has.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct AttackTests {
    // A1

    // Docs/Security.md: A1
    @Test func `the disk read on another machine gives nothing`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let name = try id(.secret, "s")
        let key = try id(.key, "k")
        try await vault.add(secret("the secret itself"), as: name, access: .none)
        try await vault.createKey(key, access: .none)
        let row = try await vault.row(name)
        let authority = try await vault.provisionedAuthority()
        await vault.letGo()
        let thief = try SoftwareTPM()
        // With the whole directory, the authority's file and the state key among it.
        let other = try bench.vault(through: thief.address)
        let nothing = OwnerProof.nothing(of: "ada")
        #expect(await code { try await other.secret(name, shown: nothing) } == .chipCleared)
        #expect(
            await code { try await other.sign(digest: sha256(Data()), with: key, shown: nothing) }
                == .chipCleared
        )
        await other.letGo()
        #expect(try thief.tool("createprimary", "-C", "o", "-G", "ecc", "-c", "srk.ctx").status == 0)
        #expect(
            try thief.tool("evictcontrol", "-c", "srk.ctx", "0x\(String(authority.root.handle, radix: 16))")
                .status
                == 0
        )
        _ = try thief.tool("flushcontext", "-t")
        #expect(try Attacker(thief, root: authority.root).load(row.object, as: "s").status != 0)
        for (file, contents) in try bench.copy() {
            #expect(contents.range(of: Data("the secret itself".utf8)) == nil, "\(file)")
        }
    }

    // A7

    // Docs/Security.md: A7
    @Test func `another process with the chip and the key's blobs cannot sign or unseal`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        _ = try await vault.provisionedAuthority()
        _ = try await vault.changeFingers(from: 0)
        let authority = try await vault.provisionedAuthority()
        let key = try id(.key, "k")
        let open = try id(.secret, "s")
        try await vault.createKey(key, access: .biometryCurrentSet)
        try await vault.add(secret("x"), as: open, access: .none)
        let rows = [try await vault.row(key), try await vault.row(open)]
        await vault.letGo()
        let attacker = Attacker(bench.tpm, root: authority.root)
        try bench.tpm.write([UInt8](Data(count: 32)), to: "digest")
        #expect(try attacker.load(authority.object, as: "authority").status == 0)
        for row in rows {
            #expect(try attacker.load(row.object, as: "item").status == 0)
            let use: (String?) throws -> ToolResult = { auth in
                let session = auth.map { ["-p", $0] } ?? []
                if row.id.kind == .secret { return try attacker.run(["unseal", "-c", "item.ctx"] + session) }
                return try attacker.run(
                    ["sign", "-c", "item.ctx", "-g", "sha256", "-d", "-o", "sig", "digest"] + session
                )
            }
            #expect(try use(nil).status != 0)
            try attacker.session("empty")
            #expect(try use("session:empty").status != 0)
            try attacker.flush("empty")
            // The authority's object can be loaded, and does nothing without its authorization value.
            try attacker.session("guess")
            let guessed = try attacker.run("policysecret", "-S", "guess", "-c", "authority.ctx", "guess")
            #expect(guessed.status != 0)
            #expect(try use("session:guess").status != 0)
            try attacker.flush("guess")
        }
    }

    // A8

    // Docs/Security.md: A8
    @Test(arguments: ["deleted", "made anew as it was", "made anew as a plain index with the old value"])
    func `with the owner hierarchy the counter can be lost, and never be used`(how: String) async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let authority = try await vault.provisionedAuthority()
        let generation = try await vault.changeFingers(from: 0)
        let name = try id(.secret, "s")
        try await vault.add(secret("x"), as: name, access: .biometryCurrentSet)
        let bound = try #require(try await vault.row(name).binding.generation)
        await vault.letGo()
        let attacker = Attacker(bench.tpm, root: authority.root)
        let index = "0x" + String(bound.counter.index, radix: 16)
        #expect(try attacker.run("nvundefine", "-C", "o", index).status == 0)
        try bench.tpm.write(authority.writePolicy.digest.bytes, to: "policy")
        try bench.tpm.write(withUnsafeBytes(of: bound.value.bigEndian) { Array($0) }, to: "value")
        switch how {
        case "made anew as it was":
            let made = try attacker.run(
                "nvdefine",
                index,
                "-C",
                "o",
                "-L",
                "policy",
                "-a",
                "nt=counter|policywrite|authread|no_da"
            )
            #expect(made.status == 0, "\(made.errors)")
            #expect(try attacker.run("nvincrement", "-C", index, index).status != 0)
        case "made anew as a plain index with the old value":
            #expect(
                try attacker.run("nvdefine", index, "-C", "o", "-s", "8", "-a", "ownerwrite|authread|no_da")
                    .status
                    == 0
            )
            #expect(try attacker.run("nvwrite", index, "-C", "o", "-i", "value").status == 0)
            let read = try attacker.run("nvread", index, "-C", index, "-o", "read")
            #expect(read.status == 0, "\(read.errors)")
            #expect(try bench.tpm.read("read") == bench.tpm.read("value"))
        default: break
        }
        #expect(await code { try await vault.secret(name, shown: finger()) } == .counterLost)
        #expect(try await vault.items(of: "ada").map(\.standing) == [.unknown])
        #expect(await code { try await vault.generation(of: "ada", stored: generation) } == .counterLost)
        #expect(await code { try await vault.advance("ada", to: generation + 1) } == .counterLost)
        // The owner goes on; what was bound to the lost counter stays dead.
        try await vault.acceptGeneration(of: "ada", stored: generation)
        #expect(try await vault.generation(of: "ada", stored: generation) == generation)
        #expect(await code { try await vault.secret(name, shown: finger()) } == .enrollmentChanged)
        #expect(try await vault.items(of: "ada").map(\.standing) == [.enrollmentChanged])
        try await vault.add(secret("y"), as: id(.secret, "new"), access: .biometryCurrentSet)
        #expect(try await data(vault.secret(id(.secret, "new"), shown: finger())) == data(secret("y")))
    }

    // A4, as far as it is the vault's

    // Docs/Security.md: A4
    @Test func `a database of before the first finger is noticed, and accepting it kills bound keys`()
        async throws
    {
        let bench = try VaultBench()
        let before = try bench.vault()
        _ = try await before.provisionedAuthority()
        let old = try bench.copy()
        _ = try await before.changeFingers(from: 0)
        let name = try id(.secret, "s")
        try await before.add(secret("x"), as: name, access: .biometryCurrentSet)
        let row = try await before.row(name)
        await before.letGo()
        try bench.putBack(old)
        let after = try bench.vault()
        #expect(await code { try await after.generation(of: "ada", stored: 0) } == .counterLost)
        try await after.acceptGeneration(of: "ada", stored: 0)
        _ = try await after.changeFingers(from: 0)
        // The attacker has kept the item's row too.
        let seal = after.seal
        _ = try await after.database.write { try row.insert($0, seal) }
        #expect(await code { try await after.secret(name, shown: finger()) } == .enrollmentChanged)
    }

    // A3, for items

    // Docs/Security.md: A3
    @Test func `an edited, swapped or moved item row is refused`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let big = SecretBox(SecretBytes(randomCount: 1000))
        try await vault.add(big, as: id(.secret, "a"), access: .biometryAny)
        try await vault.add(secret("y"), as: id(.secret, "b"), access: .none)
        try await vault.add(big, as: id(.secret, "a", of: "bob"), access: .none)
        let none = AccessControl.none.encoded.map { String($0 < 16 ? "0" : "") + String($0, radix: 16) }
            .joined()
        let edits = [
            "UPDATE vault_items SET access = x'\(none)' WHERE profile = 'ada' AND name = 'a'",
            "UPDATE vault_items SET object = (SELECT object FROM vault_items WHERE name = 'b') WHERE name = 'a'",
            "UPDATE vault_items SET body = zeroblob(length(body)) WHERE profile = 'ada' AND name = 'a'",
            "UPDATE vault_items SET body = CAST(substr(body, 1, 12) || zeroblob(1000) || substr(body, -16) AS BLOB) WHERE name = 'a'",
            "UPDATE vault_items SET body = NULL WHERE profile = 'ada' AND name = 'a'",
            "UPDATE vault_items SET created_at = created_at + 1 WHERE profile = 'ada' AND name = 'a'",
            "UPDATE vault_items SET mac = zeroblob(32) WHERE profile = 'ada' AND name = 'a'",
            "UPDATE vault_items SET mac = x'' WHERE profile = 'ada' AND name = 'a'",
            "UPDATE vault_items SET binding = x'01' WHERE profile = 'ada' AND name = 'a'",
            "DELETE FROM vault_items WHERE name = 'a' AND profile = 'ada';"
                + " UPDATE vault_items SET profile = 'ada' WHERE profile = 'bob'",
            "DELETE FROM vault_items WHERE name = 'a' AND profile = 'ada';"
                + " UPDATE vault_items SET name = 'a' WHERE name = 'b'",
        ]
        await vault.letGo()
        let sound = try bench.copy()
        for edit in edits {
            try bench.putBack(sound)
            let attacked = try bench.vault()
            try await attacked.database.write { try $0.execute(script: edit) }
            let name = try id(.secret, "a")
            #expect(
                await code { try await attacked.secret(name, shown: finger()) } == .itemTampered,
                "\(edit)"
            )
            _ = try await attacked.items(of: "ada")
            try await attacked.delete(name)
            await attacked.letGo()
        }
    }

    // A12

    // Docs/Security.md: A12
    @Test func `a program that says yes by itself still needs what the authority's file holds`() async throws
    {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let name = try id(.secret, "s")
        try await vault.add(secret("x"), as: name, access: .biometryAny)
        await vault.letGo()
        // As for a client of a service, which cannot read the service's files.
        try FileManager.default.removeItem(atPath: bench.file("vault.authority"))
        let patched = try bench.vault()
        #expect(await code { try await patched.secret(name, shown: finger()) } == .chipCleared)
        // With an authority of its own it fares no better.
        _ = try await patched.provisionedAuthority()
        #expect(await code { try await patched.secret(name, shown: finger()) } == .itemTampered)
    }

    @Test func `blobs of another item or chip, cut short or changed, never open`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let name = try id(.secret, "s")
        try await vault.add(secret("x"), as: name, access: .none)
        let row = try await vault.row(name)
        let seal = vault.seal
        let bytes = row.object.serialized
        // With a right MAC, as of somebody who has the state key.
        for position in stride(from: 1, to: bytes.count, by: 7) {
            var changed = bytes
            changed[position] ^= 0x10
            guard let object = try? TPMObject(serialized: changed) else { continue }
            let forged = ItemRow(
                id: row.id,
                unique: row.unique,
                access: row.access,
                binding: row.binding,
                object: object,
                body: nil,
                createdAt: row.createdAt
            )
            try await vault.database.write { db in
                _ = try ItemRow.delete(name, db)
                _ = try forged.insert(db, seal)
            }
            let found = await code { try await vault.secret(name, shown: .nothing(of: "ada")) }
            #expect(found == .itemTampered, "byte \(position): \(String(describing: found))")
        }
        for length in 0..<bytes.count {
            #expect((try? TPMObject(serialized: Array(bytes.prefix(length)))) == nil)
        }
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }
}
