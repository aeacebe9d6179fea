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

/// Secrets and keys on a real chip's simulation, without anybody who attacks.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct ItemTests {
    @Test func `a secret of every size comes back byte for byte, and from a new process too`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        var kept: [(ItemID, SecretBox)] = []
        for size in [1, 127, 128, 129, 5000, 1 << 20] {
            let secret = SecretBox(SecretBytes(randomCount: size))
            let id = try id(.secret, "size \(size)")
            try await vault.add(secret, as: id, access: .biometryAny)
            kept.append((id, secret))
        }
        await vault.letGo()
        let later = try bench.vault()
        for (id, secret) in kept {
            let given = try await later.secret(id, shown: finger())
            #expect(data(given) == data(secret))
        }
        await later.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `a key signs, and its public half verifies`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let id = try id(.key, "login")
        let key = try await vault.createKey(id, access: .biometryAny)
        #expect(try await vault.publicKey(of: id) == key)
        let message = Data("message".utf8)
        let signature = try await vault.sign(digest: sha256(message), with: id, shown: finger())
        #expect(signature.raw.count == 64)
        #expect(key.isValid(signature, over: sha256(message)))
        #expect(!key.isValid(signature, over: sha256(Data("other".utf8))))
        await vault.letGo()
        try bench.tpm.write([UInt8](message), to: "message")
        try bench.tpm.write([UInt8](signature.der), to: "signature")
        try bench.tpm.write([UInt8](key.pem.utf8), to: "key.pem")
        let openssl = try bench.tpm.run(
            "openssl",
            "dgst",
            "-sha256",
            "-verify",
            "key.pem",
            "-signature",
            "signature",
            "message"
        )
        #expect(openssl.output.contains("Verified OK"), "\(openssl)")
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `without what its access control asks an item is refused before the chip is asked`()
        async throws
    {
        let bench = try VaultBench()
        let vault = try bench.vault()
        try await vault.setPasscode(secret("1234"), of: "ada")
        let any = try id(.secret, "any")
        try await vault.add(secret("x"), as: any, access: .biometryAny)
        let both = try id(.secret, "both")
        try await vault.add(secret("x"), as: both, access: AccessControl("biometry-any-and-passcode"))
        let passcode = try await vault.verify(secret("1234"), of: "ada")
        #expect(await code { try await vault.secret(any, shown: .nothing(of: "ada")) } == .accessDenied)
        #expect(await code { try await vault.secret(any, shown: passcode) } == .accessDenied)
        #expect(await code { try await vault.secret(any, shown: finger(of: "bob")) } == .accessDenied)
        #expect(await code { try await vault.secret(both, shown: finger()) } == .accessDenied)
        #expect(await code { try await vault.secret(both, shown: passcode) } == .accessDenied)
        let all = try #require(passcode.and(finger()))
        #expect(try await data(vault.secret(both, shown: all)) == data(secret("x")))
        #expect(passcode.and(finger(of: "bob")) == nil)
    }

    @Test func `an item without access control opens without a proof`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let id = try id(.secret, "open")
        try await vault.add(secret("x"), as: id, access: .none)
        #expect(try await data(vault.secret(id, shown: .nothing(of: "ada"))) == data(secret("x")))
    }

    @Test func `user presence opens by finger and by passcode, each without the other`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let id = try id(.secret, "wifi")
        #expect(
            await code { try await vault.add(secret("x"), as: id, access: .userPresence) } == .passcodeNotSet
        )
        try await vault.setPasscode(secret("1234"), of: "ada")
        try await vault.add(secret("x"), as: id, access: .userPresence)
        #expect(try await data(vault.secret(id, shown: finger())) == data(secret("x")))
        let passcode = try await vault.verify(secret("1234"), of: "ada")
        #expect(try await data(vault.secret(id, shown: passcode)) == data(secret("x")))
    }

    @Test func `an application password is needed besides, and the chip compares it`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let access = AccessControl.biometryAny.withApplicationPassword
        let name = try id(.secret, "app")
        #expect(
            await code { try await vault.add(secret("x"), as: name, access: access) }
                == .applicationPasswordNeeded
        )
        try await vault.add(secret("x"), as: name, access: access, applicationPassword: secret("pw"))
        let open = { (password: String?) in
            try await vault.secret(name, shown: finger(), applicationPassword: password.map(secret))
        }
        #expect(await code { try await open(nil) } == .applicationPasswordNeeded)
        #expect(await code { try await open("PW") } == .applicationPasswordWrong)
        #expect(try await data(open("pw")) == data(secret("x")))
        let key = try id(.key, "app")
        try await vault.createKey(key, access: access, applicationPassword: secret("pw"))
        let digest = sha256(Data())
        #expect(
            await code {
                try await vault.sign(
                    digest: digest,
                    with: key,
                    shown: finger(),
                    applicationPassword: secret("no")
                )
            } == .applicationPasswordWrong
        )
        _ = try await vault.sign(
            digest: digest,
            with: key,
            shown: finger(),
            applicationPassword: secret("pw")
        )
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `wrong application passwords are counted by the chip, and its lock is told as one`()
        async throws
    {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let access = AccessControl.biometryAny.withApplicationPassword
        let name = try id(.secret, "app")
        try await vault.add(secret("x"), as: name, access: access, applicationPassword: secret("pw"))
        try await vault.add(secret("y"), as: id(.secret, "plain"), access: .biometryAny)
        let open = { (password: String) in
            try await vault.secret(name, shown: finger(), applicationPassword: secret(password))
        }
        // swtpm locks at the third wrong one.
        for _ in 0..<3 { #expect(await code { try await open("PW") } == .applicationPasswordWrong) }
        #expect(await code { try await open("pw") } == .chipLockedOut)
        // What has no password of its own goes on.
        let plain = try await vault.secret(id(.secret, "plain"), shown: finger())
        #expect(data(plain) == data(secret("y")))
        await vault.letGo()
        #expect(try bench.tpm.tool("dictionarylockout", "-c").status == 0)
        #expect(try await data(open("pw")) == data(secret("x")))
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
    }

    @Test func `names are taken once for each kind and profile, and deleting frees them`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let name = try id(.secret, "same")
        try await vault.add(secret("1"), as: name, access: .none)
        #expect(await code { try await vault.add(secret("2"), as: name, access: .none) } == .itemExists)
        try await vault.createKey(id(.key, "same"), access: .none)
        try await vault.add(secret("3"), as: id(.secret, "same", of: "bob"), access: .none)
        #expect(try await vault.items(of: "ada").map(\.id.kind) == [.key, .secret])
        #expect(try await data(vault.secret(name, shown: .nothing(of: "ada"))) == data(secret("1")))
        try await vault.delete(name)
        #expect(await code { try await vault.secret(name, shown: .nothing(of: "ada")) } == .noSuchItem)
        #expect(await code { try await vault.delete(name) } == .noSuchItem)
        try await vault.add(secret("4"), as: name, access: .none)
        #expect(try await data(vault.secret(name, shown: .nothing(of: "ada"))) == data(secret("4")))
    }

    @Test func `empty, too large and wrongly sized input is refused and leaves nothing behind`() async throws
    {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let name = try id(.secret, "bad")
        #expect(await code { try await vault.add(secret(""), as: name, access: .none) } == .secretEmpty)
        let large = SecretBox(SecretBytes(randomCount: 1 << 20 + 1))
        #expect(
            await failure { try await vault.add(large, as: name, access: .none) }
                == ServiceError(.secretTooLarge, details: [.bytes: "\(1 << 20 + 1)"])
        )
        let key = try id(.key, "k")
        try await vault.createKey(key, access: .none)
        #expect(
            await failure { try await vault.sign(digest: Data(count: 31), with: key, shown: finger()) }
                == ServiceError(.digestWrongSize, details: [.bytes: "31"])
        )
        #expect(try await vault.items(of: "ada").map(\.id) == [key])
    }

    @Test func `a hundred calls at once all succeed`() async throws {
        let bench = try VaultBench()
        let vault = try bench.vault()
        let key = try id(.key, "k")
        let made = try await vault.createKey(key, access: .biometryAny)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let digest = sha256(Data("\(number)".utf8))
                    if number % 4 == 0 {
                        let name = try id(.secret, "s\(number)")
                        try await vault.add(secret("\(number)"), as: name, access: .biometryAny)
                        return try await data(vault.secret(name, shown: finger()))
                            == data(secret("\(number)"))
                    }
                    return try await made.isValid(
                        vault.sign(digest: digest, with: key, shown: finger()),
                        over: digest
                    )
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(try await vault.items(of: "ada").count == 26)
        await vault.letGo()
        #expect(try bench.tpm.leaks().isEmpty)
        // However many there are, the chip keeps the storage root alone.
        #expect(try bench.tpm.handles(from: 0x8100_0000).count == 1)
    }
}

func sha256(_ message: Data) -> Data { Data(SHA256.hash(data: message)) }
