// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyntheticFingers

@Suite struct RandomSourceTests {
    @Test func `the stream is that of the published splitmix64`() {
        var random = RandomSource(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        #expect(expected.map { _ in random.next() } == expected)
    }

    @Test func `presses of one finger have streams of their own`() {
        let firsts = (-50..<50).map { index in
            var random = RandomSource(seed: 7, press: index)
            return random.next()
        }
        #expect(Set(firsts).count == firsts.count)
    }

    @Test func `uniform and normal numbers keep to their range and spread`() {
        var random = RandomSource(seed: 3)
        let uniform = (0..<10_000).map { _ in random.within(2) }
        #expect(uniform.allSatisfy { $0 >= -2 && $0 < 2 })
        #expect(abs(uniform.reduce(0, +) / 10_000) < 0.1)

        let normal = (0..<10_000).map { _ in random.gaussian() }
        let variance = normal.reduce(0) { $0 + $1 * $1 } / 10_000
        #expect(abs(normal.reduce(0, +) / 10_000) < 0.05)
        #expect(abs(variance - 1) < 0.05)
    }
}
