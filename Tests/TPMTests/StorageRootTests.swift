// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `The storage root` {
    private let common = "0x81000001"

    @Test func `is made once and found again`() async throws {
        let bench = try await Bench()
        #expect(bench.root.handle == StorageRoot.commonHandle)
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
        #expect(0x8157_4801...0x8157_4808 ~= bench.root.handle)
        let again = try await bench.run { tpm throws(TPMError) in try tpm.findOrMakeStorageRoot() }
        #expect(again == bench.root)
        #expect(try chip.tool("readpublic", "-c", common).output == before)
        try await bench.expectNothingLeft()
    }

    @Test func `is not made while the owner's value is set, and no counter is either`() async throws {
        let bench = try await Bench()
        let chip = try SoftwareTPM()
        for tpm in [bench.chip, chip] {
            #expect(try tpm.tool("changeauth", "-c", "o", "owner-value").status == 0)
        }
        let device = TPMDevice(try TPMAddress(chip.address))
        let properties = try await device.perform { tpm throws(TPMError) in try tpm.properties() }
        #expect(properties.ownerAuthSet && !properties.lockoutAuthSet)
        let noRoot = try await failure { () async throws(TPMError) in
            try await device.perform { tpm throws(TPMError) in try tpm.findOrMakeStorageRoot() }
        }
        #expect(noRoot.code == .ownerAuthNeeded && noRoot.command == "TPM2_CreatePrimary")
        let noCounter = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                try tpm.defineCounter(
                    writePolicy: bench.policy,
                    under: bench.root,
                    credentials: bench.credentials
                )
            }
        }
        #expect(noCounter.code == .ownerAuthNeeded && noCounter.command == "TPM2_NV_DefineSpace")
        await device.close()
        #expect(try chip.leaks() == [])
        try await bench.expectNothingLeft()
    }

    /// Another TPM with a key of its own at the same handle answers in the chip's place.
    @Test func `of another TPM is found out before a secret is told`() async throws {
        let chip = try SoftwareTPM()
        let bus = try Interposer(inFrontOf: chip)
        let bench = try await Bench(through: bus.address, chip: chip)
        let object = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.sealed(secret([5])), under: bench.root, policy: bench.policy.digest)
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
                try tpm.create(.sealed(secret(value)), under: bench.root, policy: bench.policy.digest)
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
                let object = try tpm.create(
                    .sealed(secret([5])),
                    under: bench.root,
                    policy: bench.policy.digest
                )
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
                try tpm.create(.sealed(secret([5])), under: bench.root, policy: bench.policy.digest)
            }
        }
        #expect(error.code == .foreignRoot)
        #expect(error.recovery.contains("whorl vault"))
    }
}
