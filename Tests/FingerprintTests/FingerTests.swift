// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Testing

@Suite struct FingerTests {
    @Test func `there are ten fingers, numbered as in libfprint`() {
        #expect(Finger.allCases.map(\.number) == Array(1...10))
        #expect(Finger.leftThumb.number == 1)
        #expect(Finger.rightIndex.number == 7)
        #expect(Set(Finger.allCases.map(\.rawValue)).count == 10)
    }

    @Test(arguments: Finger.allCases)
    func `a finger is found by its name, its short name, and however that is written`(finger: Finger) {
        for name in [finger.rawValue, finger.shortName, finger.spokenName, finger.rawValue.uppercased()] {
            #expect(Finger(name: name) == finger)
        }
        #expect(Finger(name: finger.rawValue.replacing("-", with: "_")) == finger)
        #expect(Finger.nearest(to: finger.rawValue) == finger)
    }

    @Test(
        arguments: [
            ("rigth-index-finger", .rightIndex), ("left-indx", .leftIndex), ("right thum", .rightThumb),
            ("left-midle-finger", .leftMiddle), ("right-litle", .rightLittle),
        ] as [(String, Finger)]
    )
    func `a mistyped finger has a nearest one`(typed: String, finger: Finger) {
        #expect(Finger(name: typed) == nil)
        #expect(Finger.nearest(to: typed) == finger)
    }

    @Test(arguments: ["", "x", "toe", "completely unrelated words", "\u{1F4A5}"])
    func `what is near to no finger has none`(typed: String) {
        #expect(Finger(name: typed) == nil)
        #expect(Finger.nearest(to: typed) == nil)
    }

    @Test func `a very long name is no finger, and is refused quickly`() {
        let long = String(repeating: "right-index-finger", count: 100_000)
        #expect(ContinuousClock().measure { _ = Finger.nearest(to: long) } < .seconds(5))
        #expect(Finger(name: long) == nil)
    }
}

@Suite struct ModelTests {
    @Test func `an error's texts name what happened and what to do, for each code`() {
        for code in ReaderError.Code.allCases {
            let error = ReaderError(code, operation: "enroll", cause: "because")
            #expect(error.message.hasSuffix("."))
            #expect(!error.recovery.isEmpty)
            #expect(error.description == "enroll: \(code.rawValue) (because)")
        }
    }

    @Test(arguments: [
        "", "0", String(repeating: "0", count: 31), String(repeating: "0", count: 33),
        String(repeating: "G", count: 32), String(repeating: "A", count: 32),
        String(repeating: "é", count: 16),
    ])
    func `what is not 32 lower-case hexadecimal digits is no print identity`(text: String) {
        #expect(PrintID(text) == nil)
    }

    @Test func `print identities read back and do not repeat`() {
        let ids = (0..<1000).map { _ in PrintID() }
        #expect(Set(ids).count == 1000)
        #expect(ids.allSatisfy { PrintID($0.description) == $0 })
    }

    @Test func `a template's description does not show it`() {
        #expect(Template(bytes: Array("secret".utf8)).description == "Template(6 bytes)")
        #expect(!"\(Template(bytes: Array("secret".utf8)))".contains("secret"))
    }

    @Test(arguments: [(0, 4, 0), (4, 0, 0), (2, 2, 3), (-1, -4, 4), (1 << 15, 1, 1 << 15)])
    func `a picture whose pixels do not fit its size is none`(width: Int, height: Int, count: Int) {
        let pixels = [UInt8](repeating: 0, count: count)
        #expect(FingerprintImage(width: width, height: height, pixels: pixels) == nil)
    }

    @Test func `features have their names in libfprint's order, and unknown ones none`() {
        #expect(ReaderFeatures(rawValue: 0b101 | 1 << 20).names == ["capture", "verify"])
        #expect(ReaderFeatures(rawValue: 0x3ff).names.count == 10)
    }

    @Test(arguments: [(40, "strong"), (39, "fair"), (20, "fair"), (19, "weak"), (0, "weak")])
    func `a matcher's threshold says how strong it is`(threshold: Int, name: String) {
        #expect(ReaderStrength.minutiaeScore(threshold: threshold).name == name)
    }
}
