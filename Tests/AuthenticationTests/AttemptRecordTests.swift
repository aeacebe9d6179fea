// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlStateStore
import Testing
import WhorlService

/// Minutes as the milliseconds that moments are made of.
private func minutes(_ count: Int64) -> Int64 { count * 60_000 }

private func moment(_ boot: Int64, wall: Int64? = nil, bootID: String = "first") -> Moment {
    Moment(bootID: bootID, sinceBoot: boot, wall: wall ?? 1_700_000_000_000 + boot)
}

/// A record after so many failures at one moment.
private func record(failures: Int, at time: Moment) -> AttemptRecord {
    var record = AttemptRecord.fresh()
    for _ in 0..<failures {
        _ = record.reserve(at: time, endsByTime: true)
        record.charge(at: time)
    }
    return record
}

@Suite struct `The rules of tries` {
    @Test func `five failures in a row lock, and not four`() {
        let start = moment(1000)
        for failures in 0...4 {
            var tried = record(failures: failures, at: start)
            #expect(tried.reserve(at: start, endsByTime: true) == .open)
            #expect(tried.remaining == 5 - failures)
        }
        var locked = record(failures: 5, at: start)
        #expect(locked.reserve(at: start, endsByTime: true) == .for(.seconds(300)))
        #expect(!locked.isPending)
    }

    @Test func `a reservation that a dead run left counts as a failure`() {
        var tried = record(failures: 2, at: moment(0))
        #expect(tried.reserve(at: moment(1), endsByTime: true) == .open)
        #expect(tried.reserve(at: moment(2), endsByTime: true) == .open)
        #expect(tried.failures == 3)
        #expect(tried.totalFailures == 3)
    }

    @Test func `the dead run's try can be the one that locks`() {
        var tried = record(failures: 4, at: moment(0))
        #expect(tried.reserve(at: moment(1), endsByTime: true) == .open)
        #expect(tried.reserve(at: moment(2), endsByTime: true) == .for(.seconds(300)))
        #expect(tried.lockedAt == moment(2))
    }

    @Test func `a scan without an answer costs nothing`() {
        var tried = record(failures: 3, at: moment(0))
        _ = tried.reserve(at: moment(1), endsByTime: true)
        tried.release()
        #expect(tried.failures == 3)
        #expect(tried.reserve(at: moment(2), endsByTime: true) == .open)
        #expect(tried.failures == 3)
    }

    @Test func `a match sets everything to zero but the sum of failures`() {
        var tried = record(failures: 5, at: moment(0))
        tried.reset()
        #expect(tried.failures == 0)
        #expect(tried.lockouts == 0)
        #expect(tried.lockedAt == nil)
        #expect(tried.totalFailures == 5)
    }

    @Test func `a verified passcode unlocks and keeps the reservation of a scan that goes on`() {
        var tried = record(failures: 3, at: moment(0))
        _ = tried.reserve(at: moment(1), endsByTime: true)
        tried.unlock()
        #expect(tried.isPending)
        #expect(tried.failures == 0)
    }

    @Test func `each lock is twice as long as the last one, up to a day`() {
        let lengths = (1...12).map { AttemptRules.standard.lockLength(number: $0) / 60_000 }
        #expect(lengths == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440, 1440])
        #expect(AttemptRules.standard.lockLength(number: 0) == minutes(5))
        #expect(AttemptRules.standard.lockLength(number: .max) == minutes(1440))
    }

    @Test func `after a timed lock there is one try, and a failed one locks for longer`() {
        var tried = record(failures: 5, at: moment(0))
        #expect(tried.reserve(at: moment(minutes(5) - 1), endsByTime: true) == .for(.milliseconds(1)))
        #expect(tried.reserve(at: moment(minutes(5)), endsByTime: true) == .open)
        #expect(tried.remaining == 1)
        tried.charge(at: moment(minutes(5)))
        #expect(tried.lock(at: moment(minutes(5)), endsByTime: true) == .for(.seconds(600)))
        #expect(tried.lock(at: moment(minutes(15)), endsByTime: true) == .open)
    }

    @Test func `after a timed lock a try without an answer leaves one try`() {
        var tried = record(failures: 5, at: moment(0))
        #expect(tried.reserve(at: moment(minutes(6)), endsByTime: true) == .open)
        tried.release()
        #expect(tried.reserve(at: moment(minutes(7)), endsByTime: true) == .open)
        #expect(tried.remaining == 1)
    }

    @Test(arguments: 1...5) func `stricter rules lock after fewer failures`(_ tries: Int) {
        let rules = AttemptRules(tries: tries, firstLockMinutes: 60)
        var tried = AttemptRecord.fresh(under: rules)
        for number in 1...tries {
            #expect(tried.remaining == tries - number + 1)
            #expect(tried.reserve(at: moment(0), endsByTime: true) == .open)
            tried.charge(at: moment(0))
        }
        #expect(tried.remaining == 0 && tried.failures == AttemptRecord.limit && tried.totalFailures == tries)
        #expect(tried.lock(at: moment(0), endsByTime: false) == .untilPasscode)
        #expect(tried.reserve(at: moment(minutes(59)), endsByTime: true) == .for(.seconds(60)))
        #expect(tried.reserve(at: moment(minutes(60)), endsByTime: true) == .open)
        #expect(tried.remaining == 1)
        tried.charge(at: moment(minutes(60)))
        #expect(tried.lock(at: moment(minutes(60)), endsByTime: true) == .for(.seconds(7200)))
    }

    @Test func `rules that become stricter leave one try, and ones that become laxer end no lock`() {
        func record(failures: Int, lockedAt: Moment?, tries: Int) -> AttemptRecord {
            AttemptRecord(
                failures: failures,
                totalFailures: failures,
                lockouts: lockedAt == nil ? 0 : 1,
                isPending: false,
                lockedAt: lockedAt,
                rules: AttemptRules(tries: tries)
            )
        }
        var stricter = record(failures: 4, lockedAt: nil, tries: 2)
        #expect(stricter.remaining == 1)
        #expect(stricter.reserve(at: moment(0), endsByTime: true) == .open)
        stricter.charge(at: moment(0))
        #expect(stricter.remaining == 0)
        var locked = record(failures: 1, lockedAt: nil, tries: 2)
        _ = locked.reserve(at: moment(0), endsByTime: false)
        locked.charge(at: moment(0))
        let laxer = record(failures: locked.failures, lockedAt: locked.lockedAt, tries: 5)
        #expect(laxer.remaining == 0 && laxer.lock(at: moment(1), endsByTime: false) == .untilPasscode)
    }

    @Test func `rules are never laxer than the standard ones`() {
        #expect(AttemptRules(tries: 9, firstLockMinutes: 0) == .standard)
        #expect(
            AttemptRules(tries: 0, firstLockMinutes: 99_999) == AttemptRules(tries: 1, firstLockMinutes: 1440)
        )
        #expect(AttemptRules(tries: 1, firstLockMinutes: 1440).lockLength(number: .max) == minutes(1440))
    }

    @Test func `time does not end a lock where a passcode is set`() {
        var tried = record(failures: 5, at: moment(0))
        #expect(tried.reserve(at: moment(minutes(100_000)), endsByTime: false) == .untilPasscode)
    }

    @Test func `nonsense in the store is a lock, never a trap or a gift`() {
        let negative = AttemptRecord(
            failures: -3,
            totalFailures: .min,
            lockouts: .min,
            isPending: false,
            lockedAt: nil
        )
        #expect(negative.lock(at: moment(0), endsByTime: true) == .for(.seconds(300)))
        var huge = AttemptRecord(
            failures: .max,
            totalFailures: .max,
            lockouts: .max,
            isPending: true,
            lockedAt: Moment(bootID: "first", sinceBoot: .min, wall: .max)
        )
        #expect(huge.reserve(at: moment(minutes(10)), endsByTime: true) != .open)
    }
}

@Suite struct `The two clocks` {
    struct Case: Sendable {
        let title: String
        let now: Moment
        let passed: Int64
    }

    private static let start = Moment(bootID: "first", sinceBoot: minutes(60), wall: minutes(1_000_000))

    static let cases = [
        Case(
            title: "the same boot, the wall clock untouched",
            now: Moment(bootID: "first", sinceBoot: minutes(63), wall: minutes(1_000_003)),
            passed: minutes(3)
        ),
        Case(
            title: "the same boot, the wall clock set far ahead",
            now: Moment(bootID: "first", sinceBoot: minutes(63), wall: minutes(2_000_000)),
            passed: minutes(3)
        ),
        Case(
            title: "the same boot, the wall clock set back",
            now: Moment(bootID: "first", sinceBoot: minutes(63), wall: 0),
            passed: minutes(3)
        ),
        Case(
            title: "the same boot, a boot clock that runs backwards",
            now: Moment(bootID: "first", sinceBoot: minutes(1), wall: minutes(1_000_100)),
            passed: 0
        ),
        Case(
            title: "after a restart, by the wall clock",
            now: Moment(bootID: "second", sinceBoot: minutes(1), wall: minutes(1_000_004)),
            passed: minutes(4)
        ),
        Case(
            title: "after a restart with the wall clock set back, from the restart",
            now: Moment(bootID: "second", sinceBoot: minutes(1), wall: 0),
            passed: minutes(1)
        ),
        Case(
            title: "the boot's name unknown, the wall clock set back",
            now: Moment(bootID: "", sinceBoot: minutes(63), wall: 0),
            passed: minutes(3)
        ),
        Case(
            title: "the boot's name unknown, the wall clock set far ahead",
            now: Moment(bootID: "", sinceBoot: minutes(63), wall: minutes(2_000_000)),
            passed: minutes(3)
        ),
        Case(
            title: "the boot's name unknown, certainly after a restart",
            now: Moment(bootID: "", sinceBoot: minutes(1), wall: minutes(1_000_004)),
            passed: minutes(4)
        ),
        Case(
            title: "the boot's name unknown, certainly after a restart with the wall clock set back",
            now: Moment(bootID: "", sinceBoot: minutes(1), wall: 0),
            passed: minutes(1)
        ),
    ]

    // Docs/Security.md: S3
    @Test(arguments: cases) func `so much time has certainly passed`(_ example: Case) {
        #expect(example.now.certainlyAfter(Self.start) == example.passed, "\(example.title)")
    }

    @Test func `moments without a boot's name are of no common boot`() {
        let nameless = Moment(bootID: "", sinceBoot: 5, wall: 5)
        #expect(!nameless.isSameBoot(as: nameless))
    }

    @Test func `the system's clocks run`() {
        let first = MachineTime.system.now()
        let second = MachineTime.system.now()
        #expect(first.isSameBoot(as: second))
        #expect(second.certainlyAfter(first) >= 0)
        #expect(first.wall > 1_600_000_000_000)
    }
}
