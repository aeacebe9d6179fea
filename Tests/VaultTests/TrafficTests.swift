// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import SoftwareTPM
import StateStore
import TPM
import Testing

@testable import Vault

/// What goes over the bus: how many commands, and no secret in them (attack A6).
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct TrafficTests {
    /// Two items of a profile with fingers and a passcode.
    private func filled() async throws -> (VaultBench, key: ItemID, secret: ItemID) {
        let bench = try VaultBench()
        let vault = try bench.vault()
        _ = try await vault.provisionedAuthority()
        _ = try await vault.changeFingers(from: 0)
        try await vault.setPasscode(secret("1234"), of: "ada")
        let key = try id(.key, "k")
        let kept = try id(.secret, "s")
        // The dearest of the plain ones: a counter and a choice.
        let access = try AccessControl("biometry-current-set-or-passcode")
        try await vault.createKey(key, access: access)
        try await vault.add(secret("x"), as: kept, access: access)
        await vault.letGo()
        return (bench, key, kept)
    }

    @Test func `a cold process takes at most 12 commands for a signature, a warm one at most 5`() async throws {
        let (bench, key, _) = try await filled()
        let interposer = try Interposer(inFrontOf: bench.tpm)
        let vault = try bench.vault(through: interposer.address)
        let digest = sha256(Data())
        _ = try await vault.sign(digest: digest, with: key, shown: finger())
        #expect(interposer.heard.count <= 12, "\(interposer.heard.map { String($0.code, radix: 16) })")
        for _ in 0..<3 {
            interposer.forget()
            _ = try await vault.sign(digest: digest, with: key, shown: finger())
            #expect(interposer.heard.count <= 5, "\(interposer.heard.map { String($0.code, radix: 16) })")
        }
    }

    @Test func `the same for a secret`() async throws {
        let (bench, _, kept) = try await filled()
        let interposer = try Interposer(inFrontOf: bench.tpm)
        let vault = try bench.vault(through: interposer.address)
        _ = try await vault.secret(kept, shown: finger())
        #expect(interposer.heard.count <= 12, "\(interposer.heard.map { String($0.code, radix: 16) })")
        interposer.forget()
        _ = try await vault.secret(kept, shown: finger())
        #expect(interposer.heard.count <= 5, "\(interposer.heard.map { String($0.code, radix: 16) })")
    }

    @Test func `a cold process with a sealed state key takes at most 12 commands for all of it`() async throws {
        let (bench, key, _) = try await filled()
        let provisioning = TPMDevice(try TPMAddress(bench.tpm.address))
        try await SealedStateKey(device: provisioning, directory: bench.directory).seal()
        await provisioning.close()
        let interposer = try Interposer(inFrontOf: bench.tpm)
        let device = TPMDevice(try TPMAddress(interposer.address))
        let source = try await SealedStateKey(device: device, directory: bench.directory).source()
        let vault = Vault(
            device: device,
            database: try StateDatabase(directory: bench.directory, keySource: source)
        )
        _ = try await vault.sign(digest: sha256(Data()), with: key, shown: finger())
        #expect(interposer.heard.count <= 12, "\(interposer.heard.map { String($0.code, radix: 16) })")
    }

    @Test func `no secret goes over the bus in clear`() async throws {
        let bench = try VaultBench()
        let interposer = try Interposer(inFrontOf: bench.tpm)
        let vault = try bench.vault(through: interposer.address)
        let small = SecretBox(SecretBytes(randomCount: 40))
        let large = SecretBox(SecretBytes(randomCount: 4000))
        let access = AccessControl.userPresence.withApplicationPassword
        try await vault.setPasscode(secret("first passcode"), of: "ada")
        for (name, value) in [("small", small), ("large", large)] {
            let item = try id(.secret, name)
            try await vault.add(value, as: item, access: access, applicationPassword: secret("app password"))
            let given = try await vault.secret(
                item,
                shown: finger(),
                applicationPassword: secret("app password")
            )
            #expect(data(given) == data(value))
        }
        let first = try await vault.verify(secret("first passcode"), of: "ada")
        _ = await code { try await vault.verify(secret("wrong passcode"), of: "ada") }
        try await vault.changePasscode(secret("first passcode"), to: secret("second passcode"), of: "ada")
        let second = try await vault.verify(secret("second passcode"), of: "ada")
        _ = try await vault.changeFingers(from: 0)
        try await SealedStateKey(device: vault.device, directory: bench.directory).seal()
        let authority = try await vault.provisionedAuthority()
        let binding = try await vault.row(id(.secret, "small")).binding
        let password = try #require(binding.applicationPassword)
        let derived = try await password.authorization(ofApplicationPassword: secret("app password"))
        let secrets: [(String, [UInt8])] = [
            ("the secret", [UInt8](data(small).prefix(16))),
            ("the large secret", [UInt8](data(large).prefix(16))),
            ("a passcode", Array("passcode".utf8)),
            ("the application password", Array("app password".utf8)),
            ("the first passcode's value", [UInt8](data(try #require(first.passcode).authorization).prefix(16))),
            ("the second passcode's value", [UInt8](data(try #require(second.passcode).authorization).prefix(16))),
            ("the application password's value", [UInt8](data(derived).prefix(16))),
            ("the authority's value", [UInt8](data(authority.authorization).prefix(16))),
        ]
        #expect(interposer.heard.count > 50)
        for (name, bytes) in secrets { #expect(!interposer.heardBytes(bytes), "\(name)") }
        // The search finds what is there: the objects' public areas go over the bus in clear.
        #expect(interposer.heardBytes(authority.object.publicBlob))
    }
}
