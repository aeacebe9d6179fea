// SPDX-License-Identifier: Apache-2.0

import Crypto
import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import WhorlStateStore
import Testing

@testable import WhorlEnrollment

struct TemplateCipherTests {
    private let seal = TemplateCipher(keys: TemplateCipherTests.anyKeys)
    private static var anyKeys: StateKeys { StateKeys(stateKey: SecretBytes(randomCount: 32)) }
    private let template = Template(bytes: [1, 2, 3])

    private static func row(
        id: String = "00112233445566778899aabbccddeeff",
        profile: String = "ada",
        finger: Finger = .rightIndex,
        reader: String = "r",
        digest: UInt8 = 1,
        sealed: Data? = nil
    ) -> PrintRow {
        PrintRow(
            id: EnrollmentSetTests.id(id),
            profile: profile,
            finger: finger,
            label: nil,
            reader: ReaderID(rawValue: reader),
            readerName: "",
            storage: .host,
            sealed: sealed,
            templateDigest: Data(repeating: digest, count: 32),
            enrolledAt: 0,
            lastMatchedAt: nil,
            state: .enrolled
        )
    }

    @Test func `what was sealed opens in its own row`() throws {
        let sealed = try seal.seal(template, for: Self.row())
        #expect(seal.open(Self.row(sealed: sealed)) == template)
    }

    @Test(arguments: [
        row(id: "00112233445566778899aabbccddeef0"), row(profile: "bob"), row(finger: .rightThumb),
        row(reader: "s"), row(digest: 2), row(profile: "ad", reader: "ar"),
    ])
    func `it opens in no other row`(other: PrintRow) throws {
        var other = other
        other.sealed = try seal.seal(template, for: Self.row())
        #expect(seal.open(other) == nil)
    }

    @Test func `a template is no intent, another key opens nothing, and each sealing differs`() throws {
        let sealed = try seal.seal(template, for: Self.row())
        #expect(seal.openIntent(Self.row(sealed: sealed)) == nil)
        #expect(TemplateCipher(keys: Self.anyKeys).open(Self.row(sealed: sealed)) == nil)
        #expect(try seal.seal(template, for: Self.row()) != sealed)
        let intent = try seal.seal(Intent.exactly(template), for: Self.row())
        #expect(seal.open(Self.row(sealed: intent)) == nil)
    }

    @Test func `each ciphertext has a key of its own`() throws {
        let keys = Self.anyKeys
        let salts = [1, 2].map { Data(repeating: $0, count: 16) }
        #expect(keys.cipherKey(.templates, salt: salts[0]) != keys.cipherKey(.templates, salt: salts[1]))
        let sealed = try TemplateCipher(keys: keys).seal(template, for: Self.row())
        #expect(
            try AES.GCM.open(
                AES.GCM.SealedBox(combined: sealed.dropFirst(20)),
                using: keys.cipherKey(.templates, salt: Data(sealed.dropFirst(4).prefix(16))),
                authenticating: TemplateCipher(keys: keys).context(Self.row(), "template")
            ) == Data(template.bytes)
        )
    }

    @Test func `no changed or shortened bytes open`() throws {
        let sealed = try seal.seal(template, for: Self.row())
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(seal.open(Self.row(sealed: changed)) == nil)
            #expect(seal.open(Self.row(sealed: sealed.prefix(index))) == nil)
        }
    }
}
