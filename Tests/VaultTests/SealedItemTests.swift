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

/// Items that lie with a keeper of their own, as bytes.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct SealedItemTests {
    @Test func `a sealed secret of every size opens from its bytes, in a new process too`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        var kept: [(Data, SecretBox)] = []
        for size in [1, 128, 129, 1 << 20] {
            let secret = SecretBox(SecretBytes(randomCount: size))
            let item = try await vault.seal(secret, of: "ada", access: .biometryAny)
            #expect(item.kind == .secret && item.profile == "ada" && item.publicKey == nil)
            #expect(item.access == .biometryAny)
            kept.append((item.encoded, secret))
        }
        #expect(try await vault.items(of: "ada").isEmpty)
        await vault.letGo()
        let later = try bench.vault()
        for (bytes, secret) in kept {
            let given = try await later.secret(in: SealedItem(encoded: bytes), shown: finger())
            #expect(data(given) == data(secret))
        }
        await later.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `a sealed key signs and agrees, and swift-crypto comes to the same`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let key = try await vault.makeKey(of: "ada", access: .biometryAny)
        #expect(try SealedItem(encoded: key.encoded) == key)
        let x963 = try #require(key.publicKey)
        #expect(key.kind == .key && x963.count == 65)
        let message = Data("message".utf8)
        let signature = try await vault.sign(digest: sha256(message), with: key, shown: finger())
        let signing = try P256.Signing.PublicKey(x963Representation: x963)
        #expect(signing.isValidSignature(try .init(rawRepresentation: signature.raw), for: message))
        let other = P256.KeyAgreement.PrivateKey()
        let shared = try await vault.sharedSecret(
            with: other.publicKey.x963Representation,
            of: key,
            shown: finger()
        )
        let expected = try other.sharedSecretFromKeyAgreement(with: .init(x963Representation: x963))
        #expect(data(shared) == expected.withUnsafeBytes { Data($0) })
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `without what its access control asks it is refused`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let access = AccessControl.biometryAny.withApplicationPassword
        #expect(
            await code { try await vault.seal(secret("x"), of: "ada", access: access) }
                == .applicationPasswordNeeded
        )
        let item = try await vault.seal(
            secret("x"),
            of: "ada",
            access: access,
            applicationPassword: secret("pw")
        )
        let open = { (proof: OwnerProof, password: String?) in
            try await vault.secret(in: item, shown: proof, applicationPassword: password.map(secret))
        }
        #expect(await code { try await open(.nothing(of: "ada"), "pw") } == .accessDenied)
        #expect(await code { try await open(finger(of: "bob"), "pw") } == .accessDenied)
        #expect(await code { try await open(finger(), nil) } == .applicationPasswordNeeded)
        #expect(await code { try await open(finger(), "PW") } == .applicationPasswordWrong)
        #expect(try await data(open(finger(), "pw")) == data(secret("x")))
    }

    @Test func `an edited byte, whichever, is told as tampered and never opens`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let large = SecretBox(SecretBytes(randomCount: 200))
        let item = try await vault.seal(large, of: "ada", access: .biometryAny)
        for place in item.encoded.indices {
            var bytes = item.encoded
            bytes[place] ^= 1
            // Also where whoever edited it goes around the reading.
            let edited =
                (try? SealedItem(encoded: bytes))
                ?? SealedItem(
                    kind: .secret,
                    profile: "ada",
                    access: .none,
                    publicKey: nil,
                    encoded: bytes
                )
            let told = await code { try await vault.secret(in: edited, shown: finger()) }
            #expect(told == .itemTampered, "byte \(place)")
        }
        #expect(throws: ServiceError.self) { try SealedItem(encoded: item.encoded + [0]) }
        #expect(throws: ServiceError.self) { try SealedItem(encoded: item.encoded.dropLast()) }
    }

    @Test func `what the item says of itself is not believed`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let item = try await vault.seal(secret("x"), of: "ada", access: .biometryAny)
        let lying = SealedItem(
            kind: .key,
            profile: "bob",
            access: .none,
            publicKey: nil,
            encoded: item.encoded
        )
        #expect(try vault.access(of: lying) == .biometryAny)
        #expect(await code { try await vault.secret(in: lying, shown: .nothing(of: "bob")) } == .accessDenied)
        #expect(
            await code { try await vault.sign(digest: sha256(Data()), with: lying, shown: finger()) }
                == .noSuchItem
        )
    }

    @Test func `another vault's item is told as tampered, on the same chip too`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let item = try await vault.seal(secret("x"), of: "ada", access: .none)
        let other = try VaultBench()
        let elsewhere = Vault(
            device: vault.device,
            database: try StateDatabase(directory: other.directory)
        )
        #expect(
            await code { try await elsewhere.secret(in: item, shown: .nothing(of: "ada")) } == .itemTampered
        )
        #expect(
            try await elsewhere.standing(of: [item], profile: "ada", generation: 0) == [.tampered]
        )
    }

    @Test func `an item of the present set dies with the next finger, for the chip and in the books`()
        async throws
    {
        let bench = try VaultBench()
        let vault = try bench.vault()
        _ = try await vault.provisionedAuthority()
        let first = try await vault.changeFingers(from: 0)
        let any = try await vault.seal(secret("x"), of: "ada", access: .biometryAny)
        let set = try await vault.makeKey(of: "ada", access: .biometryCurrentSet)
        try await vault.setPasscode(secret("1234"), of: "ada")
        let either = try await vault.makeKey(
            of: "ada",
            access: AccessControl("biometry-current-set-or-passcode")
        )
        let items = [any, set, either]
        #expect(
            try await vault.standing(of: items, profile: "ada", generation: first) == [
                .valid, .valid, .valid,
            ]
        )
        _ = try await vault.sign(digest: sha256(Data()), with: set, shown: finger())
        let next = try await vault.changeFingers(from: first)
        let interposer = try Interposer(inFrontOf: bench.tpm)
        let later = try bench.vault(through: interposer.address)
        #expect(
            try await later.standing(of: items, profile: "ada", generation: next)
                == [.valid, .enrollmentChanged, .valid]
        )
        #expect(
            try await later.standing(of: items, profile: "bob", generation: next)
                == [.tampered, .tampered, .tampered]
        )
        // The database has said that the set is another one, and the chip confirms it; nothing else is asked.
        #expect(interposer.names == ["NV_ReadPublic", "NV_Read"])
        #expect(
            await code { try await later.sign(digest: sha256(Data()), with: set, shown: finger()) }
                == .enrollmentChanged
        )
    }

    @Test func `what is no point of the curve is told, with the chip and without`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let key = try await vault.makeKey(of: "ada", access: .none)
        var moved = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
        moved[64] ^= 1
        for bytes in [
            moved, Data(), Data(count: 65), P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation,
        ] {
            #expect(
                await code {
                    try await vault.sharedSecret(with: bytes, of: key, shown: .nothing(of: "ada"))
                } == .publicKeyRefused
            )
        }
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `empty and too large secrets are refused, and a passcode that is not set`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        #expect(
            await code { try await vault.seal(secret(""), of: "ada", access: .none) } == .secretEmpty
        )
        let large = SecretBox(SecretBytes(randomCount: 1 << 20 + 1))
        #expect(
            await failure { try await vault.seal(large, of: "ada", access: .none) }
                == ServiceError(.secretTooLarge, details: [.bytes: "\(1 << 20 + 1)"])
        )
        #expect(
            await code { try await vault.makeKey(of: "ada", access: .userPresence) } == .passcodeNotSet
        )
        #expect(AccessControl.devicePasscode.isLostWithoutPasscode)
    }
}
