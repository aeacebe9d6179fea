// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

@Suite struct `Addresses` {
    @Test(arguments: [
        "device:/dev/tpmrm0", "device:/dev/tpm0", "tabrmd:bus_type=system", "swtpm:path=/run/x",
        "mssim:host=localhost,port=2321", "cmd:tpm2_send", "pcap:device:/dev/tpmrm0", "none",
    ])
    func `that are known are taken`(text: String) throws {
        #expect(try TPMAddress(text).text == text)
    }

    @Test(arguments: [
        "", "device", "device:", "device:tpm0", "swtpm", "swtpm:", "mssim", "pcap", "pcap:", "pcap:none",
        "pcap:pcap:device:/dev/tpm0", "libevil.so", "/tmp/libevil.so", "../libevil.so:x",
        "libtss2-tcti-swtpm.so:path=x",
        "device:/dev/tpm0\n", "device:/dev/tpm\u{0}0", "tcti:device:/dev/tpm0", "DEVICE:/dev/tpm0", " none",
        "swtpm:" + String(repeating: "x", count: 600), "device:/dev/ö",
    ])
    func `that are anything else are refused before a library is loaded`(text: String) {
        let error = #expect(throws: TPMError.self) { try TPMAddress(text) }
        #expect(error?.code == .invalidAddress)
    }

    // Docs/Security.md: A9d
    @Test func `tell simulators from chips`() throws {
        for text in ["swtpm:x", "mssim:x", "cmd:x", "pcap:swtpm:x", "pcap:mssim:x", "pcap:cmd:x"] {
            #expect(try TPMAddress(text).isSimulated, "\(text)")
        }
        // What anybody can make looks like a node or a service, and is none that the kernel or the system made.
        for text in [
            "device:/dev/pts/3", "device:/tmp/tpmrm0", "device:/dev/shm/tpm0", "device:/dev/tpmrm0/../shm/x",
            "device:/dev/tpm", "device:/dev/tpmrm0x", "pcap:device:/home/ada/tpm0", "tabrmd:bus_type=session",
            "tabrmd:bus_name=com.example,bus_type=session", "device:/proc/self/fd/3",
        ] {
            #expect(try TPMAddress(text).isSimulated, "\(text)")
        }
        for text in [
            "device:/dev/tpmrm0", "device:/dev/tpm0", "device:/dev/tpmrm12", "tabrmd:bus_type=system",
            "pcap:device:/dev/tpm0", "none",
        ] {
            #expect(try !TPMAddress(text).isSimulated, "\(text)")
        }
        #expect(TPMAddress.none.isNone && !TPMAddress.standard.isNone)
        #expect(TPMAddress.standard.text == "device:/dev/tpmrm0")
    }

    // Docs/Security.md: A9c
    /// GLib finds the system bus by it.
    @Test func `count a resource manager as a simulator while a variable names the system bus`() async {
        await #expect(processExitsWith: .success) {
            let before = try TPMAddress("tabrmd:bus_type=system").isSimulated
            setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/home/ada/bus", 1)
            let after = try TPMAddress("tabrmd:bus_type=system").isSimulated
            let chip = try TPMAddress("device:/dev/tpmrm0").isSimulated
            exit(!before && after && !chip ? 0 : 1)
        }
    }

    @Test(arguments: [
        "none", "device:/dev/there-is-no-such-node", "swtpm:path=/nowhere/s", "tabrmd:bus_name=no.such.name",
    ])
    func `where there is nothing are told as such, with a remedy`(text: String) async throws {
        let device = TPMDevice(try TPMAddress(text))
        let error = try await failure { () async throws(TPMError) in
            try await device.perform { tpm throws(TPMError) in try tpm.properties() }
        }
        #expect(error.code == .noDevice, "\(error)")
        #expect(error.recovery.contains("--tcti"))
    }

    @Test func `that may not be opened name the group`() {
        #expect(TPMError(.permission).recovery.contains("tss"))
        #expect(TPMError(.deviceBusy).recovery.contains("/dev/tpmrm0"))
    }
}

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A list of the TPM's` {
    // Docs/Security.md: A6c
    /// TPM2_GetCapability with the same page again and again, and the word that there is more.
    @Test(.timeLimit(.minutes(5)))
    func `that repeats itself ends`() async throws {
        let chip = try SoftwareTPM()
        let bus = try Interposer(inFrontOf: chip)
        let bench = try await Bench(through: bus.address, chip: chip)
        let first = bus.heard.filter { $0.code == 0x17a }.count
        bus.decide { _, code in
            guard code == 0x17a else { return .pass }
            return .serve { command, tpm in
                // From the lowest handle, or property, of the kind.
                var all = command
                if command[13] == 1 { all.replaceSubrange(15..<18, with: [0, 0, 0]) }
                guard var answer = tpm(all) else { return nil }
                answer[10] = 1
                return answer
            }
        }
        bus.forget()
        let (handles, properties) = try await bench.run { tpm throws(TPMError) in
            (try tpm.handles(.persistent), try tpm.properties())
        }
        #expect(Set(handles) == [StorageRoot.commonHandle])
        #expect(!properties.manufacturer.isEmpty)
        #expect(first > 0 && bus.heard.count < 12, "\(bus.names)")
    }
}

@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Stored bytes` {
    @Test func `are read as they were written`() async throws {
        let bench = try await Bench()
        let key = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.signingKey, under: bench.root, policy: bench.policy.digest)
        }
        #expect(try TPMObject(serialized: key.serialized) == key)
        #expect(key.kind == .signingKey && key.policy == bench.policy.digest)
        #expect(bench.authority.kind == .authority)
    }

    @Test func `tpm2-tools see the attributes, the policy and the name of a key`() async throws {
        let bench = try await Bench()
        let key = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.signingKey, under: bench.root, policy: bench.policy.digest)
        }
        await bench.device.close()
        #expect(try bench.load(key, as: "key.ctx").status == 0)
        let words = try bench.chip.tool("readpublic", "-c", "key.ctx").output
        try bench.chip.flushObjects()
        #expect(
            words.contains("value: fixedtpm|fixedparent|sensitivedataorigin|adminwithpolicy|noda|sign\n"),
            "\(words)"
        )
        #expect(words.contains("name: " + hexadecimal(key.name.bytes)), "\(words)")
        #expect(
            words.lowercased().contains("authorization policy: " + hexadecimal(bench.policy.digest.bytes))
        )
        // Without the policy nobody signs, not even with the key loaded.
        try bench.chip.write(Array(repeating: 1, count: 32), to: "digest")
        #expect(try bench.load(key, as: "key.ctx").status == 0)
        let signed = try bench.chip.tool("sign", "-c", "key.ctx", "-d", "digest", "-o", "signature")
        #expect(signed.status != 0)
    }

    /// Every cut, every byte changed, and a thousand random changes: a clear error, or an object that the TPM refuses.
    @Test func `that are cut off, changed or random never do harm`() async throws {
        let bench = try await Bench()
        let (key, sealed) = try await bench.run { tpm throws(TPMError) in
            (
                try tpm.create(.signingKey, under: bench.root, policy: bench.policy.digest),
                try tpm.create(.sealed(secret([1])), under: bench.root, policy: bench.policy.digest)
            )
        }
        let counter = try await bench.counter()
        for form in [key.serialized, sealed.serialized, bench.authority.serialized] {
            for end in 0..<form.count { expectMalformed { try TPMObject(serialized: Array(form[..<end])) } }
            expectMalformed { try TPMObject(serialized: form + [0]) }
        }
        for form in [bench.root.serialized, counter.serialized] {
            for end in 0..<form.count {
                expectMalformed { try StorageRoot(serialized: Array(form[..<end])) }
                expectMalformed { try NVCounter(serialized: Array(form[..<end])) }
            }
        }
        expectMalformed { try StorageRoot(serialized: counter.serialized) }
        expectMalformed { try NVCounter(serialized: bench.root.serialized) }
        expectMalformed { try TPMObject(serialized: Array(repeating: 1, count: 100_000)) }

        var random = Random(state: 42)
        var readable: [TPMObject] = []
        for _ in 0..<3000 {
            var bytes = [key, sealed, bench.authority][Int(random.next() % 3)].serialized
            for _ in 0..<(1 + random.next() % 4) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            if let object = try? TPMObject(serialized: bytes),
                ![key, sealed, bench.authority].contains(object)
            {
                readable.append(object)
            }
        }
        #expect(!readable.isEmpty)
        for object in readable.prefix(300) {
            let error = try await failure { () async throws(TPMError) in
                try await bench.run { tpm throws(TPMError) in try tpm.load(object, under: bench.root) }
            }
            #expect([.foreignBlob, .unsupported, .malformed].contains(error.code), "\(error)")
        }
        try await bench.expectNothingLeft()
    }

    /// The root's public area decides whom secrets are encrypted to; it is pinned by its name.
    @Test func `of a root whose public key was exchanged are refused`() async throws {
        let bench = try await Bench()
        let other = try await Bench()
        let form = bench.root.serialized
        let foreign = other.root.serialized
        #expect(form.count == foreign.count)
        // Handle and name of ours, everything else of theirs.
        let mixed = Array(form[..<42]) + Array(foreign[42...])
        let root = try StorageRoot(serialized: mixed)
        #expect(root.name == bench.root.name && root != bench.root)
        let error = try await failure { () async throws(TPMError) in
            try await bench.run { tpm throws(TPMError) in
                try tpm.create(.sealed(secret([1])), under: root, policy: bench.policy.digest)
            }
        }
        #expect(error.code == .malformed)
        try await bench.expectNothingLeft()
    }

    private func expectMalformed<Value>(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Value
    ) {
        let error = #expect(throws: TPMError.self, sourceLocation: sourceLocation) { _ = try body() }
        #expect(error?.code == .malformed, sourceLocation: sourceLocation)
    }
}

/// SplitMix64, for runs that are the same each time.
private struct Random {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
