// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import WhorlTPM
import Testing

@testable import WhorlVault
import WhorlService

/// Items that are bound to how the machine starts.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct BootTests {
    /// A chip whose register 7 another start would fill with something else.
    private func change(_ bench: VaultBench) throws {
        let digest = String(repeating: "a5", count: 32)
        #expect(try bench.tpm.tool("pcrextend", "7:sha256=\(digest)").status == 0)
    }

    @Test func `without a passcode, which recovers, nothing is bound to the start`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let access = try AccessControl("none+pcrs:7")
        #expect(
            await code { try await vault.add(secret("x"), as: id(.secret, "s"), access: access) }
                == .passcodeNotSet
        )
    }

    @Test(arguments: ["none", "biometry-any", "biometry-current-set", "user-presence"])
    func `after another start the passcode is needed besides, until the secret is bound anew`(
        plain: String
    ) async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        _ = try await vault.provisionedAuthority()
        _ = try await vault.changeFingers(from: 0)
        try await vault.setPasscode(secret("1234"), of: "ada")
        let access = try AccessControl(plain + "+pcrs:7")
        let small = try id(.secret, "small")
        let large = try id(.secret, "large")
        let key = try id(.key, "k")
        let bytes = SecretBox(SecretBytes(randomCount: 3000))
        try await vault.add(secret("x"), as: small, access: access)
        try await vault.add(bytes, as: large, access: access)
        try await vault.createKey(key, access: access)
        #expect(try await data(vault.secret(small, shown: finger())) == data(secret("x")))
        await vault.letGo()
        try change(bench)
        #expect(await code { try await vault.secret(small, shown: finger()) } == .measuredBootChanged)
        #expect(
            await code { try await vault.sign(digest: sha256(Data()), with: key, shown: finger()) }
                == .measuredBootChanged
        )
        let passcode = try await vault.verify(secret("1234"), of: "ada")
        let both = try #require(passcode.and(finger()))
        #expect(try await data(vault.secret(small, shown: both)) == data(secret("x")))
        _ = try await vault.sign(digest: sha256(Data()), with: key, shown: both)

        #expect(await code { try await vault.reseal("ada", shown: finger()) } == .accessDenied)
        let result = try await vault.reseal("ada", shown: passcode)
        #expect(Set(result.resealed) == [small, large] && result.unchanged == [key] && result.dead.isEmpty)
        #expect(try await vault.reseal("ada", shown: passcode).resealed.isEmpty)
        #expect(try await data(vault.secret(small, shown: finger())) == data(secret("x")))
        #expect(try await data(vault.secret(large, shown: finger())) == data(bytes))
        await vault.letGo()
        try change(bench)
        #expect(await code { try await vault.secret(small, shown: finger()) } == .measuredBootChanged)
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `binding anew revives nothing that a changed set of fingers has killed`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        _ = try await vault.provisionedAuthority()
        let generation = try await vault.changeFingers(from: 0)
        try await vault.setPasscode(secret("1234"), of: "ada")
        let dead = try id(.secret, "dead")
        let alive = try id(.secret, "living")
        try await vault.add(secret("x"), as: dead, access: AccessControl("biometry-current-set+pcrs:7"))
        try await vault.add(secret("y"), as: alive, access: AccessControl("biometry-any+pcrs:7"))
        _ = try await vault.changeFingers(from: generation)
        await vault.letGo()
        try change(bench)
        let passcode = try await vault.verify(secret("1234"), of: "ada")
        let result = try await vault.reseal("ada", shown: passcode)
        #expect(result.resealed == [alive] && result.dead == [dead])
        #expect(await code { try await vault.secret(dead, shown: finger()) } == .enrollmentChanged)
    }
}
