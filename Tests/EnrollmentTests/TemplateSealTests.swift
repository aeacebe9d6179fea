// SPDX-License-Identifier: Apache-2.0

import Crypto
import Fingerprint
import Foundation
import Testing

@testable import Enrollment

struct TemplateSealTests {
    private let seal = TemplateSeal(key: SymmetricKey(size: .bits256))
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
        #expect(TemplateSeal(key: SymmetricKey(size: .bits256)).open(Self.row(sealed: sealed)) == nil)
        #expect(try seal.seal(template, for: Self.row()) != sealed)
        let intent = try seal.seal(Intent.exactly(template), for: Self.row())
        #expect(seal.open(Self.row(sealed: intent)) == nil)
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
