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

/// Items with several ways to open, of which the chip has closed some.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct WayTests {
    private let bench: VaultBench
    private let vault: Vault
    private let generation: UInt64

    init() async throws {
        bench = try VaultBench()
        vault = try bench.vault()
        _ = try await vault.provisionedAuthority()
        generation = try await vault.changeFingers(from: 0)
        try await vault.setPasscode(secret("1234"), of: "ada")
    }

    private func both() async throws -> OwnerProof {
        try #require(try await vault.verify(secret("1234"), of: "ada").and(finger()))
    }

    // Docs/Security.md: D2
    @Test(arguments: ["", "+application-password"])
    func `with both shown, the passcode opens what the fingers do not open any more`(more: String)
        async throws
    {
        let access = try AccessControl("biometry-current-set-or-passcode" + more)
        let password = access.needsApplicationPassword ? secret("sesame") : nil
        let name = try id(.secret, "s")
        try await vault.add(secret("x"), as: name, access: access, applicationPassword: password)
        let loose = try await vault.makeKey(of: "ada", access: access, applicationPassword: password)
        _ = try await vault.changeFingers(from: generation)
        let touched = await code {
            try await vault.secret(name, shown: finger(), applicationPassword: password)
        }
        #expect(touched == .enrollmentChanged)
        let both = try await both()
        let got = try await vault.secret(name, shown: both, applicationPassword: password)
        #expect(data(got) == data(secret("x")))
        let digest = sha256(Data())
        _ = try await vault.sign(digest: digest, with: loose, shown: both, applicationPassword: password)
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    // Docs/Security.md: D3
    @Test func `with both shown, the finger opens an item while the chip compares no passcode`() async throws
    {
        let name = try id(.secret, "s")
        try await vault.add(
            secret("x"),
            as: name,
            access: AccessControl("biometry-current-set-or-passcode")
        )
        let both = try await both()
        await vault.letGo()
        let limit = ["dictionarylockout", "-s", "-n", "1", "-t", "1000", "-l", "1000"]
        #expect(try bench.tpm.tool(arguments: limit).status == 0)
        #expect(await code { try await vault.verify(secret("4321"), of: "ada") } == .passcodeWrong)
        #expect(await code { try await vault.verify(secret("1234"), of: "ada") } == .chipLockedOut)
        #expect(try await data(vault.secret(name, shown: both)) == data(secret("x")))
    }

    @Test func `without its counter an item is not told as changed, and the passcode opens it`() async throws
    {
        let name = try id(.secret, "s")
        let alone = try id(.secret, "alone")
        try await vault.add(
            secret("x"),
            as: name,
            access: AccessControl("biometry-current-set-or-passcode")
        )
        try await vault.add(secret("y"), as: alone, access: .biometryCurrentSet)
        let bound = try #require(try await vault.row(alone).binding.generation)
        let both = try await both()
        await vault.letGo()
        let index = "0x" + String(bound.counter.index, radix: 16)
        #expect(try bench.tpm.tool("nvundefine", "-C", "o", index).status == 0)
        #expect(await code { try await vault.secret(alone, shown: finger()) } == .counterLost)
        #expect(try await data(vault.secret(name, shown: both)) == data(secret("x")))
        let standings = try await vault.items(of: "ada").map(\.standing)
        #expect(standings == [.unknown, .valid])
    }

    // Docs/Security.md: D4
    @Test func `without the chip the list says that it could not ask`() async throws {
        let (bound, free) = (try id(.secret, "bound"), try id(.secret, "free"))
        try await vault.add(secret("x"), as: bound, access: .biometryCurrentSet)
        try await vault.add(secret("y"), as: free, access: .biometryAny)
        let loose = try await vault.seal(secret("z"), of: "ada", access: .biometryCurrentSet)
        await vault.letGo()
        bench.tpm.kill()
        let later = try bench.vault()
        #expect(try await later.items(of: "ada").map(\.standing) == [.unknown, .valid])
        // The database says that the set is another one, and the chip cannot confirm it.
        #expect(
            try await later.standing(of: [loose], profile: "ada", generation: generation + 1) == [.unknown]
        )
        #expect(
            try await later.standing(of: [loose], profile: "ada", generation: generation) == [.valid]
        )
        #expect(await code { try await later.secret(bound, shown: finger()) } == .noChip)
        try bench.tpm.restart(keepingState: true)
        #expect(try await later.items(of: "ada").map(\.standing) == [.valid, .valid])
        #expect(
            try await later.standing(of: [loose], profile: "ada", generation: generation + 1) == [.valid]
        )
    }

    @Test func `a counter whose row is gone from the database does not make an item dead`() async throws {
        let loose = try await vault.seal(secret("z"), of: "ada", access: .biometryCurrentSet)
        _ = try await vault.database.write { try $0.execute(sql: "DELETE FROM vault_counters") }
        #expect(
            try await vault.standing(of: [loose], profile: "ada", generation: generation) == [.valid]
        )
    }
}
