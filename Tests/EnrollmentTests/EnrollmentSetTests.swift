// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import WhorlStateStore
import Testing

@testable import WhorlEnrollment

// Docs/Security.md: S16
struct EnrollmentSetTests {
    static let first = EnrollmentSet.Member(
        id: id("00112233445566778899aabbccddeeff"),
        finger: .rightIndex,
        reader: ReaderID(rawValue: "elanmoc-1"),
        templateDigest: Data(repeating: 0xA1, count: 32)
    )
    static let second = EnrollmentSet.Member(
        id: id("ffeeddccbbaa99887766554433221100"),
        finger: .leftThumb,
        reader: ReaderID(rawValue: "ü"),
        templateDigest: Data(repeating: 0xB2, count: 32)
    )

    static func id(_ text: String) -> PrintID { PrintID(text) ?? PrintID() }

    /// The bytes are part of the format: every digest that a program has saved depends on them.
    @Test func `the canonical encoding is fixed`() {
        let set = EnrollmentSet(generation: 0x0102, members: [Self.second, Self.first])
        let expected =
            "57484553" + "01" + "0000000000000102" + "0002"
            + "00112233445566778899aabbccddeeff" + "07" + "00000009" + "656c616e6d6f632d31"
            + String(repeating: "a1", count: 32)
            + "ffeeddccbbaa99887766554433221100" + "01" + "00000002" + "c3bc"
            + String(repeating: "b2", count: 32)
        #expect(set.encoded.map { String(format: "%02x", $0) }.joined() == expected)
        #expect(EnrollmentSet(generation: 0, members: []).encoded.count == 15)
    }

    /// Computed with another implementation.
    @Test func `the digest is fixed`() {
        let set = EnrollmentSet(generation: 0x0102, members: [Self.first, Self.second])
        let keys = StateKeys(stateKey: SecretBytes(count: 32) { $0.copyBytes(from: 0..<32) })
        let digest = set.digest(application: "org.example.vault", keys: keys)
        #expect(
            digest.map { String(format: "%02x", $0) }.joined()
                == "ce9787e4faa9fc0019700ac2fe11cd65ef3333ebc84b2ca30eb875ac8382e336"
        )
    }

    @Test func `decoding gives back what was encoded`() {
        let set = EnrollmentSet(generation: .max, members: [Self.first, Self.second])
        #expect(EnrollmentSet(encoded: set.encoded) == set)
    }

    @Test func `no part of an encoding, nor one with more, is decoded`() {
        let bytes = EnrollmentSet(generation: 3, members: [Self.first, Self.second]).encoded
        for size in 0..<bytes.count { #expect(EnrollmentSet(encoded: bytes.prefix(size)) == nil) }
        #expect(EnrollmentSet(encoded: bytes + [0]) == nil)
        var other = bytes
        other[4] = 2
        #expect(EnrollmentSet(encoded: other) == nil)
    }

    @Test func `members in another order are refused: one set has one encoding`() {
        let both = EnrollmentSet(generation: 3, members: [Self.first, Self.second]).encoded
        let one = EnrollmentSet(generation: 3, members: [Self.first]).encoded
        let head = both.prefix(15)
        let first = one.dropFirst(15)
        let second = both.dropFirst(one.count)
        #expect(head + first + second == both)
        #expect(EnrollmentSet(encoded: head + second + first) == nil)
    }

    @Test func `the order of the prints does not matter, everything else does`() {
        func member(
            _ id: PrintID = EnrollmentSetTests.first.id,
            _ finger: Finger = .rightIndex,
            _ reader: String = "elanmoc-1",
            _ digest: UInt8 = 0xA1
        ) -> EnrollmentSet.Member {
            EnrollmentSet.Member(
                id: id,
                finger: finger,
                reader: ReaderID(rawValue: reader),
                templateDigest: Data(repeating: digest, count: 32)
            )
        }
        func bytes(_ generation: UInt64, _ members: EnrollmentSet.Member...) -> Data {
            EnrollmentSet(generation: generation, members: members).encoded
        }
        let one = bytes(1, member())
        #expect(bytes(1, Self.first, Self.second) == bytes(1, Self.second, Self.first))
        let others = [
            bytes(2, member()), bytes(1), bytes(1, member(), Self.second), bytes(1, member(Self.second.id)),
            bytes(1, member(Self.first.id, .leftIndex)),
            bytes(1, member(Self.first.id, .rightIndex, "elanmoc-2")),
            bytes(1, member(Self.first.id, .rightIndex, "elanmoc-1", 0xA2)),
        ]
        #expect(Set(others + [one]).count == others.count + 1)
    }

    @Test func `an intent comes back as it was`() {
        let templates = [Template(bytes: [1, 2, 3]), Template(bytes: [])]
        let intents: [Intent] = [.besides(nil), .besides([]), .besides(templates), .exactly(templates[0])]
        for intent in intents {
            #expect(Intent(encoded: intent.encoded) == intent)
            #expect(Intent(encoded: intent.encoded + [0]) == nil)
        }
        #expect(Intent(encoded: Data()) == nil)
        #expect(Intent(encoded: Data([9])) == nil)
        #expect(Intent(encoded: Data([1, 0, 0, 0, 9, 1])) == nil)
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("  \n ", nil), ("my\u{1B}[31m finger", "my[31m finger"),
            ("a\nb\tc", "a b c"),
            ("\u{202E}left\u{200B}", "left"), ("<b>'; DROP TABLE prints;--", "<b>'; DROP TABLE prints;--"),
            ("\u{2028}x", "x"), ("left\u{3164}\u{2800}", "left"), ("\u{115F}", nil),
            (String(repeating: "é", count: 300), String(repeating: "é", count: 100)),
        ] as [(String?, String?)]
    )
    func `labels lose what is not text, and nothing else`(given: String?, kept: String?) {
        #expect(FingerLabel.clean(given) == kept)
    }
}
