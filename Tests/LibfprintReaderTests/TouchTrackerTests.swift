// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Testing

@testable import WhorlLibfprint

/// When a touch is asked for, over the ways in which drivers tell or do not tell.
@Suite struct `A touch is asked for` {
    private let needed = FingerStatus(needed: true, present: false)
    private let there = FingerStatus(needed: true, present: true)
    private let gone = FingerStatus(needed: false, present: false)

    @Test func `once when the reader begins to wait`() {
        var tracker = TouchTracker(presentations: 3)
        #expect(tracker.statusChanged(to: needed) == [.touch])
        #expect(tracker.statusChanged(to: needed) == [])
        #expect(tracker.driverStaysSilent() == [])
    }

    @Test func `again at the next stage when the reader waits all the time`() {
        var tracker = TouchTracker(presentations: 3)
        _ = tracker.statusChanged(to: needed)
        #expect(tracker.statusChanged(to: there) == [.finger(present: true)])
        #expect(tracker.statusChanged(to: needed) == [.finger(present: false), .touch])
        // The result of the first presentation comes after the reader waits for the second one.
        #expect(tracker.presentationEnded(wasRead: true) == [])
    }

    @Test func `when the result comes before the finger is lifted, only after it is lifted`() {
        var tracker = TouchTracker(presentations: 3)
        _ = tracker.statusChanged(to: needed)
        _ = tracker.statusChanged(to: there)
        #expect(tracker.presentationEnded(wasRead: true) == [])
        #expect(tracker.statusChanged(to: needed) == [.finger(present: false), .touch])
    }

    @Test func `at each stage when the driver never says that a finger is there`() {
        var tracker = TouchTracker(presentations: 3)
        #expect(tracker.statusChanged(to: needed) == [.touch])
        #expect(tracker.presentationEnded(wasRead: true) == [.touch])
        #expect(tracker.presentationEnded(wasRead: true) == [.touch])
    }

    @Test func `after a silence when the driver tells nothing at all`() {
        var tracker = TouchTracker(presentations: 3)
        #expect(tracker.driverStaysSilent() == [.touch])
        #expect(tracker.driverStaysSilent() == [])
        #expect(tracker.presentationEnded(wasRead: true) == [])
        #expect(tracker.driverStaysSilent() == [.touch])
    }

    @Test func `not while the driver analyzes the last finger, however long that takes`() {
        var tracker = TouchTracker(presentations: 3)
        _ = tracker.statusChanged(to: needed)
        _ = tracker.statusChanged(to: there)
        #expect(tracker.statusChanged(to: gone) == [.finger(present: false)])
        for _ in 1...100 { #expect(tracker.driverStaysSilent() == []) }
        #expect(tracker.presentationEnded(wasRead: true) == [])
        #expect(tracker.statusChanged(to: needed) == [.touch])
    }

    @Test func `after a long silence when the driver tells of fingers, and not when it needs one`() {
        var tracker = TouchTracker(presentations: 3)
        #expect(tracker.driverStaysSilent() == [.touch])
        _ = tracker.statusChanged(to: FingerStatus(needed: false, present: true))
        _ = tracker.statusChanged(to: gone)
        for _ in 1...4 { #expect(tracker.driverStaysSilent() == []) }
        #expect(tracker.driverStaysSilent() == [.touch])
    }

    @Test func `not while a finger is there`() {
        var tracker = TouchTracker(presentations: 3)
        _ = tracker.statusChanged(to: FingerStatus(needed: false, present: true))
        #expect(tracker.driverStaysSilent() == [])
        #expect(tracker.statusChanged(to: gone) == [.finger(present: false)])
    }

    @Test func `once only by an operation of one presentation, whatever the driver reports at its end`() {
        var tracker = TouchTracker(presentations: 1)
        #expect(tracker.statusChanged(to: needed) == [.touch])
        #expect(tracker.statusChanged(to: there) == [.finger(present: true)])
        #expect(tracker.statusChanged(to: needed) == [.finger(present: false)])
        #expect(tracker.presentationEnded(wasRead: true) == [])
        #expect(tracker.driverStaysSilent() == [])
    }

    /// libfprint's virtual reader without images does so: the finger is gone, needed, and then the last stage told.
    @Test func `not again after the last finger, though the driver still says that one is needed`() {
        var tracker = TouchTracker(presentations: 2)
        for stage in 1...2 {
            #expect(tracker.statusChanged(to: needed) == (stage == 1 ? [.touch] : []))
            #expect(tracker.statusChanged(to: there) == [.finger(present: true)])
            #expect(
                tracker.statusChanged(to: needed)
                    == (stage == 1 ? [.finger(present: false), .touch] : [.finger(present: false)])
            )
            #expect(tracker.presentationEnded(wasRead: true) == [])
        }
    }

    @Test func `again when the last finger could not be read`() {
        var tracker = TouchTracker(presentations: 2)
        _ = tracker.statusChanged(to: needed)
        _ = tracker.presentationEnded(wasRead: true)
        _ = tracker.statusChanged(to: there)
        #expect(tracker.statusChanged(to: needed) == [.finger(present: false)])
        #expect(tracker.presentationEnded(wasRead: false) == [.touch])
    }

    @Test func `again when nothing is heard of the last finger for long`() {
        var tracker = TouchTracker(presentations: 2)
        _ = tracker.statusChanged(to: needed)
        _ = tracker.presentationEnded(wasRead: true)
        _ = tracker.statusChanged(to: there)
        _ = tracker.statusChanged(to: needed)
        for _ in 1...4 { #expect(tracker.driverStaysSilent() == []) }
        #expect(tracker.driverStaysSilent() == [.touch])
        #expect(tracker.driverStaysSilent() == [])
    }

    /// libfprint's virtual reader does so when another finger comes amid an enrollment.
    @Test func `again after a while when the driver forgets to say that the finger is gone`() {
        var tracker = TouchTracker(presentations: 2)
        _ = tracker.statusChanged(to: needed)
        _ = tracker.statusChanged(to: there)
        #expect(tracker.presentationEnded(wasRead: false) == [])
        for _ in 1...4 { #expect(tracker.driverStaysSilent() == []) }
        #expect(tracker.driverStaysSilent() == [.touch])
        #expect(tracker.statusChanged(to: needed) == [.finger(present: false)])
    }

    /// However a driver mixes its reports, there is never more than one open request for a finger.
    @Test func `never more often than fingers or results, whatever the order of reports`() {
        var generator = SplitMix(state: 7)
        for _ in 0..<2_000 {
            var tracker = TouchTracker(presentations: Int(generator.next() % 50) + 1)
            var touches = 0
            var answers = 0
            for _ in 0..<40 {
                let before = touches
                let events: [ScanEvent]
                switch generator.next() % 5 {
                case 0: events = tracker.statusChanged(to: needed)
                case 1:
                    events = tracker.statusChanged(to: there)
                    answers += 1
                case 2: events = tracker.statusChanged(to: gone)
                case 3:
                    answers += 1
                    events = tracker.presentationEnded(wasRead: generator.next() % 2 == 0)
                default: events = tracker.driverStaysSilent()
                }
                touches += events.count { $0 == .touch }
                #expect(touches - before <= 1)
                #expect(touches <= answers + 1)
            }
        }
    }
}

/// A small generator, so that a failing order can be seen again.
private struct SplitMix {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
