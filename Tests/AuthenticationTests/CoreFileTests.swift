// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import Crypto
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import WhorlSecretHash
import WhorlStateStore
import Testing
import WhorlService

/// What stays in memory that a core file holds, after fingers were enrolled and evaluated.
@Suite(.serialized) struct `A core file` {
    /// A copy that only locked memory holds.
    private func secret(_ file: String) throws -> SecretBytes {
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        return SecretBytes(count: 32) { _ = read(descriptor, $0.baseAddress, 32) }
    }

    private func evaluateOften(_ fixture: Fixture) async throws {
        for _ in 0..<3 {
            fixture.reader.add([.match(0)])
            _ = try await #require(fixture.evaluate().success)
            _ = try await #require(fixture.evaluate(Fixture.request(reuse: .seconds(60))).success)
        }
    }

    @Test func `holds what is in ordinary memory, or this test finds nothing`() throws {
        let secret = SecretBytes(randomCount: 32)
        let before = try ProcessMemory.count(of: secret)
        let copy = secret.withUnsafeBytes { Array($0) }
        let after = try ProcessMemory.count(of: secret)
        #expect(before == 0)
        #expect(after >= 1)
        withExtendedLifetime(copy) {}
    }

    @Test func `holds neither the state key nor a key that is derived from it`() async throws {
        let fixture = try await Fixture.enrolled([])
        try await evaluateOften(fixture)
        let database = try fixture.database()
        let stateKey = try secret(fixture.directory.path + "/state.key")
        var found = ["state": try ProcessMemory.count(of: stateKey)]
        for purpose in KeyPurpose.allCases where purpose != .check {
            let key = database.keys.plainKey(purpose).secret
            found["\(purpose)"] = try ProcessMemory.count(of: key.bytes)
        }
        #expect(found.allSatisfy { $0.value == 0 }, "\(found)")
    }

    @Test func `holds no secret that was hashed`() throws {
        try check(SHA256.self)
        try check(SHA384.self)
        try check(SHA512.self)
        try check(Insecure.SHA1.self)
    }

    /// Of several sizes: what does not fill a block is what the library keeps.
    private func check<Function: HashFunction>(_ function: Function.Type) throws {
        for size in [32, 48, 96, 200] {
            let secret = SecretBytes(randomCount: size)
            _ = secret.withUnsafeBytes { SecretHash<Function>.hash($0) }
            let rest = min(size % Function.blockByteCount, 32)
            let end = secret.withBytes { SecretBytes(copying: $0.extracting(last: rest)) }
            #expect(try ProcessMemory.count(of: end) == 0, "\(function), \(size) bytes")
        }
    }

    @Test func `holds no template once the evaluation has ended`() async throws {
        let fixture = try Fixture([])
        // Of several sizes: freed memory is soon taken by what is as large.
        let templates = [900, 3000, 12_000].map { SecretBox(SecretBytes(randomCount: $0)) }
        for (template, finger) in zip(templates, Finger.allCases) {
            let store = try fixture.store()
            _ = try await store.add(
                Template(bytes: template.bytes.withUnsafeBytes { Array($0) }),
                as: finger,
                label: nil,
                profile: fixture.profile,
                on: await fixture.reader.info,
                at: fixture.clock.time.now().date,
                consent: try await store.agreed(.add(finger), fixture.profile)
            )
        }
        try await evaluateOften(fixture)
        for template in templates {
            // The beginning of freed memory is the allocator's.
            let found = try ProcessMemory.count(of: template.part(100..<164).bytes)
            #expect(found == 0)
        }
    }
}

extension SecretBox {
    fileprivate func part(_ range: Range<Int>) -> SecretBox {
        bytes.withUnsafeBytes { bytes in
            SecretBox(SecretBytes(count: range.count) { $0.copyBytes(from: bytes[range]) })
        }
    }
}

extension SymmetricKey {
    /// A copy that only locked memory holds.
    fileprivate var secret: SecretBox {
        withUnsafeBytes { bytes in
            SecretBox(SecretBytes(count: bytes.count) { $0.copyMemory(from: bytes) })
        }
    }
}
