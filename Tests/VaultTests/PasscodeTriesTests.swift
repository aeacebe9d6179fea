// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
import Testing

@testable import WhorlVault

/// The waits between wrong passcodes.
struct PasscodeTriesTests {
    private static func at(_ seconds: Int64, wall: Int64? = nil, boot: String = "one") -> Moment {
        Moment(bootID: boot, sinceBoot: seconds * 1000, wall: (wall ?? seconds) * 1000)
    }

    @Test func `five tries are free, then the waits grow to eight hours`() {
        var tries = PasscodeTries()
        var now: Int64 = 100
        for left in [4, 3, 2, 1, 0] {
            #expect(tries.reserve(at: Self.at(now)) == nil)
            #expect(tries.left == left)
        }
        for wait in [60, 300, 900, 3600, 10800, 28800, 28800, 28800] as [Int64] {
            #expect(tries.reserve(at: Self.at(now)) == .seconds(wait))
            now += wait - 1
            #expect(tries.reserve(at: Self.at(now)) == .seconds(1))
            now += 1
            #expect(tries.reserve(at: Self.at(now)) == nil)
        }
    }

    @Test func `asking during a wait does not make it longer`() {
        var tries = PasscodeTries(failures: 5, last: Self.at(100))
        for second in 100..<160 { #expect(tries.reserve(at: Self.at(Int64(second))) != nil) }
        #expect(tries.reserve(at: Self.at(160)) == nil)
    }

    @Test func `setting the clock forward or back does not shorten a wait`() {
        let tries = PasscodeTries(failures: 5, last: Self.at(100))
        #expect(tries.wait(at: Self.at(101, wall: 1_000_000)) == .seconds(59))
        #expect(tries.wait(at: Self.at(101, wall: -1_000_000)) == .seconds(59))
    }

    @Test func `a restart with the clock set back leaves what has certainly passed`() {
        let tries = PasscodeTries(failures: 5, last: Self.at(100, wall: 1000))
        #expect(tries.wait(at: Self.at(10, wall: 500, boot: "two")) == .seconds(50))
        #expect(tries.wait(at: Self.at(10, wall: 1030, boot: "two")) == .seconds(30))
        #expect(tries.wait(at: Self.at(10, wall: 1060, boot: "two")) == nil)
    }

    @Test func `a release gives the try back, and no more than that`() {
        var tries = PasscodeTries(failures: 4, last: Self.at(100))
        #expect(tries.reserve(at: Self.at(100)) == nil)
        tries.release()
        #expect(tries.reserve(at: Self.at(100)) == nil)
        #expect(tries.reserve(at: Self.at(100)) == .seconds(60))
        var none = PasscodeTries()
        none.release()
        #expect(none.failures == 0)
    }

    @Test func `nonsense in the database means the longest wait`() {
        #expect(PasscodeTries(failures: -1, last: Self.at(100)).wait(at: Self.at(100)) == .seconds(28800))
        #expect(PasscodeTries(failures: .max, last: nil).wait(at: Self.at(100)) == .seconds(28800))
    }
}
