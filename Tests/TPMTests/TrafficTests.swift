// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import WhorlSecretMemory
import SoftwareTPM
import WhorlTPM
import Testing

/// What goes over the bus: how much, and what never does.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `Traffic on the bus` {
    @Test func `a warm agreement takes four commands`() async throws {
        let (bench, bus, policy) = try await current()
        let point = try #require(
            ECPoint(x963: Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation))
        )
        let key = try await bench.run { tpm throws(TPMError) in
            try tpm.create(.agreementKey, under: bench.root, policy: policy.digest)
        }
        for _ in 0..<2 {
            bus.forget()
            _ = try await bench.run { tpm throws(TPMError) in
                SecretBox(
                    try tpm.sharedSecret(
                        with: point,
                        of: key,
                        under: bench.root,
                        meeting: policy,
                        with: bench.credentials
                    )
                )
            }
        }
        #expect(
            bus.names.suffix(4) == ["StartAuthSession", "PolicySecret", "PolicyNV", "ECDH_ZGen"]
        )
        try await bench.expectNothingLeft()
    }

    @Test func `a warm signature and a warm unsealing take four commands`() async throws {
        let (bench, bus, policy) = try await current()
        let (key, object) = try await items(bench, policy)
        // Warm: authority and item loaded, and the session that the authority is asked by.
        try await use(bench, key, object, policy, bus, forget: false)
        bus.forget()
        let warm = ["StartAuthSession", "PolicySecret", "PolicyNV"]
        try await sign(bench, key, policy)
        bus.forget()
        try await sign(bench, key, policy)
        #expect(bus.names == warm + ["Sign"])
        try await unseal(bench, object, policy)
        bus.forget()
        try await unseal(bench, object, policy)
        #expect(bus.names == warm + ["Unseal"])
        try await bench.expectNothingLeft()
    }

    @Test func `cold, with what is stored alone, they take at most twelve with closing`() async throws {
        let (bench, bus, policy) = try await current()
        let (key, object) = try await items(bench, policy)
        await bench.device.close()
        bus.forget()
        try await sign(bench, key, policy)
        await bench.device.close()
        #expect(
            bus.names == [
                "StartAuthSession", "StartAuthSession", "Load", "PolicySecret", "PolicyNV", "Load", "Sign",
                "FlushContext", "FlushContext", "FlushContext",
            ]
        )
        bus.forget()
        try await unseal(bench, object, policy)
        await bench.device.close()
        #expect(bus.names.count == 10)
    }

    @Test func `two keys in turns leave the authority loaded`() async throws {
        let (bench, bus, policy) = try await current()
        let (key, object) = try await items(bench, policy)
        try await use(bench, key, object, policy, bus, forget: true)
        try await sign(bench, key, policy)
        // Only the other item makes place: one flush, one load.
        #expect(
            bus.names == [
                "StartAuthSession", "PolicySecret", "PolicyNV", "FlushContext", "Load", "Sign",
            ]
        )
    }

    /// By the recorder of tpm2-tss itself, over everything in which a secret travels.
    ///
    /// `TCTI_PCAP_FILE` belongs to the process, so this is the only test that records.
    @Test func `no secret and no authorization value is ever in it`() async throws {
        let chip = try SoftwareTPM()
        let file = chip.directory.appending(path: "traffic.pcapng")
        setenv("TCTI_PCAP_FILE", file.path, 1)
        let bench = try await Bench(through: "pcap:\(chip.address)", chip: chip)
        let sealed = SecretBox(SecretBytes(randomCount: 128))
        let passcode = SecretBox(SecretBytes(randomCount: 32))
        let changed = SecretBox(SecretBytes(randomCount: 32))
        let application = SecretBox(SecretBytes(randomCount: 32))
        var credentials = bench.credentials
        credentials.authValue = application
        let means = credentials
        let policy = TPMPolicy.all([bench.policy, .authValue])
        let other = P256.KeyAgreement.PrivateKey()
        let point = try #require(ECPoint(x963: Array(other.publicKey.x963Representation)))
        let (shared, key) = try await bench.run { tpm throws(TPMError) in
            let key = try tpm.create(.agreementKey, under: bench.root, policy: bench.policy.digest)
            let secret = try tpm.sharedSecret(
                with: point,
                of: key,
                under: bench.root,
                meeting: bench.policy,
                with: bench.credentials
            )
            return (SecretBox(secret), key)
        }
        let mac = try await bench.run { tpm throws(TPMError) in
            let first = try tpm.createAuthority(under: bench.root, auth: passcode, dictionaryAttack: true)
            _ = try tpm.verify(passcode, of: first, under: bench.root)
            let second = try tpm.changeAuth(of: first, under: bench.root, from: passcode, to: changed)
            _ = try tpm.verify(changed, of: second, under: bench.root)
            let object = try tpm.create(
                .sealed(sealed),
                under: bench.root,
                policy: policy.digest,
                auth: application
            )
            let result = try tpm.unseal(object, under: bench.root, meeting: policy, with: means)
            guard SecretBytes.areEqual(result, sealed.bytes) else { throw TPMError(.other) }
            _ = try tpm.defineCounter(
                writePolicy: bench.policy,
                under: bench.root,
                credentials: bench.credentials
            )
            return SecretBox(
                try tpm.hmac([1], with: bench.authority, under: bench.root, auth: bench.auth)
            )
        }
        await bench.device.close()
        let recording = try TrafficRecording(contentsOf: file)
        #expect(recording.names.filter { $0 == "Unseal" }.count == 1)
        #expect(recording.commands.count == recording.answers.count && recording.commands.count > 20)
        #expect(try shared.bytes.copy == sharedSecret(of: other, with: #require(key.publicPoint)))
        for secret in [sealed, passcode, changed, application, bench.auth, mac, shared] {
            let bytes = secret.bytes.copy
            // Not even a part of it.
            for start in stride(from: 0, through: bytes.count - 8, by: 8) {
                #expect(!recording.holds(Array(bytes[start..<start + 8])))
            }
        }
        // The search does find what is there.
        #expect(recording.holds(point.x))
        #expect(recording.holds(bench.root.name.bytes) || recording.holds([0x80, 0x02]))
        #expect(try chip.leaks() == [])
    }

    @Test func `a recording that is cut off or damaged is refused`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-pcap-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "x")
        for bytes: [UInt8] in [
            [1], [6, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0], Array(repeating: 0, count: 12),
        ] {
            try Data(bytes).write(to: file)
            #expect(throws: SoftwareTPMError.badRecording) { try TrafficRecording(contentsOf: file) }
        }
    }

    // MARK: Parts

    /// A bench behind an interposer, and the policy of an item that dies with the next finger.
    private func current() async throws -> (Bench, Interposer, TPMPolicy) {
        let chip = try SoftwareTPM()
        let bus = try Interposer(inFrontOf: chip)
        let bench = try await Bench(through: bus.address, chip: chip)
        let counter = try await bench.counter()
        let value = try await bench.run { tpm throws(TPMError) in try tpm.read(counter) }
        // From stored bytes, as another process has it.
        let stored = try NVCounter(serialized: counter.serialized)
        return (bench, bus, .all([bench.policy, .counter(stored, equals: value)]))
    }

    private func items(_ bench: Bench, _ policy: TPMPolicy) async throws -> (TPMObject, TPMObject) {
        try await bench.run { tpm throws(TPMError) in
            (
                try tpm.create(.signingKey, under: bench.root, policy: policy.digest),
                try tpm.create(.sealed(secret([1])), under: bench.root, policy: policy.digest)
            )
        }
    }

    private func use(
        _ bench: Bench,
        _ key: TPMObject,
        _ object: TPMObject,
        _ policy: TPMPolicy,
        _ bus: Interposer,
        forget: Bool
    ) async throws {
        try await sign(bench, key, policy)
        try await unseal(bench, object, policy)
        if forget { bus.forget() }
    }

    private func sign(_ bench: Bench, _ key: TPMObject, _ policy: TPMPolicy) async throws {
        _ = try await bench.run { tpm throws(TPMError) in
            try tpm.sign(
                digest: Array(repeating: 7, count: 32),
                with: key,
                under: bench.root,
                meeting: policy,
                with: bench.credentials
            )
        }
    }

    private func unseal(_ bench: Bench, _ object: TPMObject, _ policy: TPMPolicy) async throws {
        _ = try await bench.run { tpm throws(TPMError) in
            SecretBox(try tpm.unseal(object, under: bench.root, meeting: policy, with: bench.credentials))
        }
    }
}
