// SPDX-License-Identifier: Apache-2.0

import SyntheticFingers
import Testing

@Suite struct SyntheticFingerTests {
    private static let finger = SyntheticFinger(seed: 1, cache: nil)

    @Test func `a seed and an index are the same press on every machine and in every build`() {
        #expect(Self.fnv(Self.finger.press(0).pixels) == 3_333_189_797_624_809_022)
        #expect(Self.fnv(Self.finger.press(11, quality: .hard).pixels) == 18_270_477_203_962_550_887)
    }

    @Test func `a finger made twice gives the same presses`() {
        let again = SyntheticFinger(seed: 1, cache: nil)
        for quality in PressQuality.allCases {
            #expect(again.press(3, quality: quality) == Self.finger.press(3, quality: quality))
        }
    }

    @Test func `no two presses are the same`() {
        let presses = (-2..<4).flatMap { index in
            [PressQuality.careful, .normal, .hard, .partial].map {
                Self.finger.press(index, quality: $0).pixels
            }
        }
        #expect(Set(presses).count == presses.count)
    }

    @Test func `fingers of neighbouring seeds are unlike`() {
        let other = SyntheticFinger(seed: 2, cache: nil)
        // Alike pictures would share the ridges, so most of the pixels would be dark or light in both.
        let (mine, theirs) = (Self.finger.press(0, quality: .careful), other.press(0, quality: .careful))
        let agreeing = zip(Self.middle(of: mine), Self.middle(of: theirs))
            .filter { ($0 < 128) == ($1 < 128) }.count
        #expect((0.35...0.65).contains(Double(agreeing) / Double(Self.middle(of: mine).count)))
    }

    @Test(arguments: [PressQuality.careful, .normal, .hard])
    func `a press shows ridges and valleys in equal parts, about nine pixels apart`(quality: PressQuality) {
        for seed in SyntheticFinger.testSeeds.prefix(3) {
            let middle = Self.middle(of: SyntheticFinger(seed: seed, cache: nil).press(0, quality: quality))
            let dark = Double(middle.filter { $0 < 128 }.count) / Double(middle.count)
            #expect((0.3...0.7).contains(dark), "seed \(seed): \(dark) of it is dark")
        }
    }

    @Test func `the background is white, and a partial press is nearly all background`() {
        func touched(_ image: GrayImage) -> Double {
            Double(image.pixels.filter { $0 < 200 }.count) / Double(image.pixels.count)
        }
        #expect(touched(Self.finger.press(0)) > 0.25)
        #expect((0.001...0.1).contains(touched(Self.finger.press(0, quality: .partial))))
        #expect(Self.finger.press(0).pixels.prefix(10).allSatisfy { $0 > 200 })
    }

    @Test func `a blank press is white all over`() {
        let blank = Self.finger.press(0, quality: .blank)
        #expect(blank.pixels == [UInt8](repeating: 255, count: 192 * 256))
    }

    @Test func `every press has the size it promises`() {
        for quality in PressQuality.allCases {
            let press = Self.finger.press(0, quality: quality)
            #expect(press.width == SyntheticFinger.width && press.height == SyntheticFinger.height)
            #expect(press.pixels.count == SyntheticFinger.width * SyntheticFinger.height)
        }
    }

    @Test func `extreme seeds and indices are as good as others`() {
        let finger = SyntheticFinger(seed: .max, cache: nil)
        #expect(finger.press(.min) != finger.press(.max))
    }

    @Test func `the seeds for tests are distinct`() {
        #expect(SyntheticFinger.testSeeds.count == 24)
        #expect(Set(SyntheticFinger.testSeeds).count == 24)
    }

    /// The middle ninth of a press, which skin covers at any quality but a partial one.
    private static func middle(of image: GrayImage) -> [UInt8] {
        var pixels: [UInt8] = []
        for y in image.height / 3..<2 * image.height / 3 {
            let row = image.pixels[(y * image.width)...].prefix(image.width)
            pixels += row.dropFirst(image.width / 3).dropLast(image.width / 3)
        }
        return pixels
    }

    /// FNV-1a, 64 bits.
    private static func fnv(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

// Not covered here: whether libfprint takes presses as it takes real ones. `Bench/matcher` measures that.
