// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import Testing

@testable import WhorlVault
import WhorlService

/// Secrets that are larger than the chip takes.
struct SecretEnvelopeTests {
    private static let item = Data("item".utf8)

    private static func random(_ count: Int) -> SecretBox { SecretBox(SecretBytes(randomCount: count)) }

    @Test(arguments: [1, 2, 127, 128]) func `up to 128 bytes the chip holds the secret itself`(count: Int)
        throws
    {
        let secret = Self.random(count)
        let parts = try SecretEnvelope.close(secret, for: Self.item)
        #expect(parts.body == nil)
        #expect(data(parts.sealed) == data(secret))
    }

    @Test(arguments: [129, 4096, 1 << 20])
    func `a larger one is encrypted with a key of its own, and comes back`(count: Int) throws {
        let secret = Self.random(count)
        let first = try SecretEnvelope.close(secret, for: Self.item)
        let second = try SecretEnvelope.close(secret, for: Self.item)
        #expect(first.sealed.bytes.count == 32)
        #expect(data(first.sealed) != data(second.sealed))
        let body = try #require(first.body)
        #expect(body.count == count + 28)
        let opened = try #require(SecretEnvelope.open(first.sealed, body: body, for: Self.item))
        #expect(data(opened) == data(secret))
        let start = secret.bytes.withUnsafeBytes { Data($0.prefix(16)) }
        #expect(body.range(of: start) == nil)
    }

    @Test func `an empty secret and one beyond 1 MiB are refused`() {
        let empty = #expect(throws: ServiceError.self) {
            try SecretEnvelope.close(Self.random(0), for: Self.item)
        }
        #expect(empty?.code == .secretEmpty)
        let large = #expect(throws: ServiceError.self) {
            try SecretEnvelope.close(Self.random(1 << 20 + 1), for: Self.item)
        }
        #expect(large == ServiceError(.secretTooLarge, details: [.bytes: "\(1 << 20 + 1)"]))
    }

    @Test func `another item, another key, and every changed byte are refused`() throws {
        let secret = Self.random(129)
        let parts = try SecretEnvelope.close(secret, for: Self.item)
        let body = try #require(parts.body)
        #expect(SecretEnvelope.open(parts.sealed, body: body, for: Data("other".utf8)) == nil)
        #expect(SecretEnvelope.open(Self.random(32), body: body, for: Self.item) == nil)
        #expect(SecretEnvelope.open(Self.random(31), body: body, for: Self.item) == nil)
        for index in body.indices {
            var changed = body
            changed[index] ^= 1
            #expect(SecretEnvelope.open(parts.sealed, body: changed, for: Self.item) == nil)
        }
        for length in [0, 1, 27, 28, body.count - 1] {
            #expect(SecretEnvelope.open(parts.sealed, body: body.prefix(length), for: Self.item) == nil)
        }
    }
}
