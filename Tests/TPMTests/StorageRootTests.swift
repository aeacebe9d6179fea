// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import SoftwareTPM
import TPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `The storage root` {
    private let common = "0x81000001"

    @Test func `is made once and found again`() async throws {
        let bench = try await Bench()
        #expect(bench.root.handle == StorageRoot.commonHandle && !bench.root.isOurs)
        let again = try await bench.run { tpm throws(TPMError) in try tpm.findOrMakeStorageRoot() }
        #expect(again == bench.root)
        #expect(try StorageRoot(serialized: again.serialized) == again)
        #expect(try bench.chip.handles(from: 0x8100_0000) == [StorageRoot.commonHandle])
        await bench.device.close()
        let words = try bench.chip.tool("readpublic", "-c", common).output
        #expect(words.contains(hexadecimal(bench.root.name.bytes)), "\(words)")
        #expect(
            words.contains(
                "value: fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|decrypt"
            ),
            "\(words)"
        )
        try await bench.expectNothingLeft()
    }

    @Test func `that somebody else made is used when it fits`() async throws {
        let chip = try SoftwareTPM()
        let attributes = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|decrypt"
        try chip.tool(
            "createprimary",
            "-C",
            "o",
            "-G",
            "ecc256:aes128cfb",
            "-a",
            attributes,
            "-c",
            "primary.ctx"
        )
        let kept = try chip.tool("evictcontrol", "-C", "o", "-c", "primary.ctx", common)
        #expect(kept.status == 0, "\(kept.errors)")
        try chip.flushObjects()
        let bench = try await Bench(chip: chip)
        #expect(bench.root.handle == StorageRoot.commonHandle)
        let words = try chip.tool("readpublic", "-c", common).output
        #expect(words.contains(hexadecimal(bench.root.name.bytes)))
    }

    @Test(arguments: [
        ["-G", "rsa2048:aes128cfb"],
        [
            "-G", "ecc256:aes128cfb", "-a",
            "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|restricted|decrypt",
        ],
        ["-G", "ecc256", "-a", "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|sign"],
    ])
    func `stays beside a key that does not fit, which is not touched`(key: [String]) async throws {
        let chip = try SoftwareTPM()
        let made = try chip.tool(arguments: ["createprimary", "-C", "o", "-c", "primary.ctx"] + key)
        #expect(made.status == 0, "\(made.errors)")
        try chip.tool("evictcontrol", "-C", "o", "-c", "primary.ctx", common)
        try chip.flushObjects()
        let before = try chip.tool("readpublic", "-c", common).output
        let bench = try await Bench(chip: chip)
        #expect(bench.root.isOurs)
        let again = try await bench.run { tpm throws(TPMError) in try tpm.findOrMakeStorageRoot() }
        #expect(again == bench.root)
        #expect(try chip.tool("readpublic", "-c", common).output == before)
        try await bench.run { tpm throws(TPMError) in try tpm.remove(bench.root) }
        #expect(try chip.handles(from: 0x8100_0000) == [StorageRoot.commonHandle])
        try await bench.expectNothingLeft()
    }

    @Test func `at the common handle is not removed`() async throws {
        let bench = try await Bench()
        try await bench.run { tpm throws(TPMError) in try tpm.remove(bench.root) }
        let check = try await bench.run { tpm throws(TPMError) in try tpm.check(bench.root) }
        #expect(check == .same)
    }

    @Test func `needs the owner's value where there is one, which does not cross the bus`() async throws {
        let chip = try SoftwareTPM()
        #expect(try chip.tool("changeauth", "-c", "o", "owner-value").status == 0)
        let bus = try Interposer(inFrontOf: chip)
        let device = TPMDevice(try TPMAddress(bus.address))
        let properties = try await device.perform { tpm throws(TPMError) in try tpm.properties() }
        #expect(properties.ownerAuthSet && !properties.lockoutAuthSet)
        for auth in [nil, secret(Array("wrong".utf8))] {
            let error = try await failure { () async throws(TPMError) in
                try await device.perform { tpm throws(TPMError) in
                    try tpm.findOrMakeStorageRoot(ownerAuth: auth)
                }
            }
            #expect(error.code == .ownerAuthNeeded)
            #expect(error.command == "TPM2_CreatePrimary")
        }
        let value = Array("owner-value".utf8)
        let root = try await device.perform { tpm throws(TPMError) in
            try tpm.findOrMakeStorageRoot(ownerAuth: secret(value))
        }
        let auth = secret([1, 2, 3, 4, 5, 6, 7, 8])
        let counter = try await device.perform { tpm throws(TPMError) in
            let authority = try tpm.createAuthority(under: root, auth: auth, dictionaryAttack: false)
            var credentials = Credentials()
            credentials.add(authority, auth: auth)
            return try tpm.defineCounter(
                writePolicy: .secret(of: authority.name),
                under: root,
                credentials: credentials,
                ownerAuth: secret(value)
            )
        }
        let error = try await failure { () async throws(TPMError) in
            try await device.perform { tpm throws(TPMError) in try tpm.undefine(counter, under: root) }
        }
        #expect(error.code == .ownerAuthNeeded)
        try await device.perform { tpm throws(TPMError) in
            try tpm.undefine(counter, under: root, ownerAuth: secret(value))
        }
        #expect(!bus.heardBytes(value))
        await device.close()
        #expect(try chip.leaks() == [])
    }

    /// Another TPM with a key of its own at the same handle answers in the chip's place.
    @Test func `of another TPM is found out before a secret is told`() async throws {
        let chip = try SoftwareTPM()
        let bus = try Interposer(inFrontOf: chip)
        let bench = try await Bench(through: bus.address, chip: chip)
        let object = try await bench.run { tpm throws(TPMError) in
            try tpm.seal(secret([5]), under: bench.root, policy: bench.policy.digest)
        }
        await bench.device.close()

        let other = try await Bench()
        await other.device.close()
        #expect(other.root.handle == bench.root.handle && other.root.name != bench.root.name)
        let socket = other.chip.socket
        bus.decide { _, _ in .elsewhere(socket: socket) }
        bus.forget()

        let check = try await bench.run { tpm throws(TPMError) in try tpm.check(bench.root) }
        #expect(check == .other)
        let value: [UInt8] = Array("a secret that no interposer reads".utf8)
        let sealing = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                try tpm.seal(secret(value), under: bench.root, policy: bench.policy.digest)
            }
        }
        #expect(sealing.code == .foreignRoot)
        let unsealing = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                SecretBox(
                    try tpm.unseal(
                        object,
                        under: bench.root,
                        meeting: bench.policy,
                        with: bench.credentials
                    )
                )
            }
        }
        #expect([.foreignRoot, .foreignBlob].contains(unsealing.code), "\(unsealing)")
        #expect(!bus.heardBytes(value) && !bus.heardBytes(bench.auth.bytes.copy))
        try await bench.expectNothingLeft()
        #expect(try other.chip.leaks() == [])
    }

    /// Answers that are changed on the way do not have the HMAC of the salted session.
    @Test(arguments: [UInt32(0x151), 0x153, 0x15e])
    func `answers changed on the bus are refused`(code: UInt32) async throws {
        let chip = try SoftwareTPM()
        let bus = try Interposer(inFrontOf: chip)
        let bench = try await Bench(through: bus.address, chip: chip)
        bus.decide { _, command in command == code ? .change : .pass }
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                let object = try tpm.seal(secret([5]), under: bench.root, policy: bench.policy.digest)
                return SecretBox(
                    try tpm.unseal(
                        object,
                        under: bench.root,
                        meeting: bench.policy,
                        with: bench.credentials
                    )
                )
            }
        }
        #expect(error.code == .alteredAnswer, "\(error)")
        try await bench.expectNothingLeft()
    }

    @Test func `that is gone is told as such`() async throws {
        let bench = try await Bench()
        await bench.device.close()
        try bench.chip.tool("evictcontrol", "-C", "o", "-c", common)
        let check = try await bench.run { tpm throws(TPMError) in try tpm.check(bench.root) }
        #expect(check == .missing)
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                try tpm.seal(secret([5]), under: bench.root, policy: bench.policy.digest)
            }
        }
        #expect(error.code == .foreignRoot)
        #expect(error.recovery.contains("whorl vault"))
    }
}
