// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlStateStore
import WhorlTPM
import Testing

@testable import WhorlVault
import WhorlService

/// What goes over the bus: how many commands, and no secret in them (attack A6).
@Suite(.serialized, .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct TrafficTests {
    /// A profile with fingers and a passcode, and a key and a secret with an access control.
    private func filled(
        _ access: String
    ) async throws -> (VaultBench, key: ItemID, secret: ItemID, loose: SealedItem) {
        let bench = try VaultBench()
        let vault = try bench.vault()
        _ = try await vault.provisionedAuthority()
        _ = try await vault.changeFingers(from: 0)
        try await vault.setPasscode(secret("1234"), of: "ada")
        let key = try id(.key, "k")
        let kept = try id(.secret, "s")
        let loose = try await vault.makeKey(of: "ada", access: AccessControl(access))
        try await vault.createKey(key, access: AccessControl(access))
        try await vault.add(secret("x"), as: kept, access: AccessControl(access))
        await vault.letGo()
        return (bench, key, kept, loose)
    }

    @Test(arguments: [
        ("biometry-any", 3), ("none", 3),
        // A counter or a choice: one more; both: two more.
        ("biometry-current-set", 4), ("user-presence", 4), ("biometry-current-set-or-passcode", 5),
    ])
    func `after a match a cold process takes at most 12 commands, a warm one at most 5`(
        access: String,
        warm: Int
    ) async throws {
        let (bench, key, kept, loose) = try await filled(access)
        let interposer = try Interposer(inFrontOf: bench.tpm)
        let digest = sha256(Data())
        let vault = try bench.vault(openDevice(interposer.address))
        let other = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
        let uses: [@Sendable () async throws -> Void] = [
            { _ = try await vault.sign(digest: digest, with: key, shown: finger()) },
            { _ = try await vault.secret(kept, shown: finger()) },
            { _ = try await vault.sign(digest: digest, with: loose, shown: finger()) },
            { _ = try await vault.sharedSecret(with: other, of: loose, shown: finger()) },
        ]
        for use in uses {
            interposer.forget()
            try await use()
            #expect(interposer.heard.count <= 12, "\(interposer.commands)")
            interposer.forget()
            try await use()
            #expect(interposer.heard.count <= warm, "\(interposer.commands)")
            await vault.letGo()
        }
    }

    /// One whose connection no wait closes and no turn empties, however slow the machine is, so that commands can be counted.
    private func openDevice(_ address: String) throws -> TPMDevice {
        TPMDevice(try TPMAddress(address), uncut: .seconds(3600), turn: .seconds(3600))
    }

    /// Both have the same object for an authority, which counts wrong tries, and the same session.
    @Test func `a wrong passcode in a policy leaves the next one its chance`() async throws {
        let (bench, key, _, _) = try await filled("passcode")
        let vault = try bench.vault()
        let shown = try await vault.verify(secret("1234"), of: "ada")
        let passcode = try #require(shown.passcode)
        let wrong = OwnerProof(
            profile: "ada",
            passcode: .init(object: passcode.object, authorization: secret("not its value"))
        )
        let digest = sha256(Data())
        _ = try await vault.sign(digest: digest, with: key, shown: shown)
        for _ in 0..<2 {
            let refusal = await code { try await vault.sign(digest: digest, with: key, shown: wrong) }
            #expect(refusal == .passcodeWrong)
            _ = try await vault.sign(digest: digest, with: key, shown: shown)
        }
        #expect(try bench.tpm.property("TPM2_PT_LOCKOUT_COUNTER") == "0x2")
        await vault.letGo()
        #expect(try bench.tpm.leaks() == [])
    }

    @Test(arguments: ["biometry-any", "biometry-current-set", "user-presence"])
    func `with a sealed state key a cold process takes at most 12 commands for all of it`(
        access: String
    ) async throws {
        let (bench, key, _, _) = try await filled(access)
        let provisioning = TPMDevice(try TPMAddress(bench.tpm.address))
        try await SealedStateKey(device: provisioning, directory: bench.directory).seal()
        await provisioning.close()
        let interposer = try Interposer(inFrontOf: bench.tpm)
        let device = try openDevice(interposer.address)
        let source = try await SealedStateKey(device: device, directory: bench.directory).source()
        let vault = Vault(
            device: device,
            database: try StateDatabase(directory: bench.directory, keySource: source)
        )
        _ = try await vault.sign(digest: sha256(Data()), with: key, shown: finger())
        #expect(interposer.heard.count <= 12, "\(interposer.commands)")
    }

    // Docs/Security.md: A6a
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
        let sealed = try await vault.seal(
            small,
            of: "ada",
            access: access,
            applicationPassword: secret("app password")
        )
        let open = try await vault.secret(
            in: sealed,
            shown: finger(),
            applicationPassword: secret("app password")
        )
        #expect(data(open) == data(small))
        let agreeing = try await vault.makeKey(of: "ada", access: .biometryAny)
        let shared = try await vault.sharedSecret(
            with: P256.KeyAgreement.PrivateKey().publicKey.x963Representation,
            of: agreeing,
            shown: finger()
        )
        let first = try await vault.verify(secret("first passcode"), of: "ada")
        _ = await code { try await vault.verify(secret("wrong passcode"), of: "ada") }
        try await vault.changePasscode(
            to: secret("second passcode"),
            shown: try await vault.verify(secret("first passcode"), of: "ada")
        )
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
            ("the shared secret", [UInt8](data(shared).prefix(16))),
            ("the shared secret's end", [UInt8](data(shared).suffix(16))),
            ("a passcode", Array("passcode".utf8)),
            ("the application password", Array("app password".utf8)),
            (
                "the first passcode's value",
                [UInt8](data(try #require(first.passcode).authorization).prefix(16))
            ),
            (
                "the second passcode's value",
                [UInt8](data(try #require(second.passcode).authorization).prefix(16))
            ),
            ("the application password's value", [UInt8](data(derived).prefix(16))),
            ("the authority's value", [UInt8](data(authority.authorization).prefix(16))),
        ]
        #expect(interposer.heard.count > 50)
        for (name, bytes) in secrets { #expect(!interposer.heardBytes(bytes), "\(name)") }
        // The search finds what is there: the objects' public areas go over the bus in clear.
        #expect(interposer.heardBytes(authority.object.publicBlob))
    }
}

extension Interposer {
    /// The commands by their TPM_CC, for messages.
    fileprivate var commands: String { heard.map { String($0.code, radix: 16) }.joined(separator: " ") }
}
