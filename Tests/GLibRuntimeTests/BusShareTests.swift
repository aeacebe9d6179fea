// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WhorlGLib

// Docs/Security.md: C13n
/// The calls of a client of the bus that wait for their answers.
@Suite struct `The share of a client of the bus` {
    @Test func `is refused when it is used up, and another client has its own`() {
        let share = BusShare()
        for _ in 0..<BusShare.mostCalls { #expect(share.take(":1.7")) }
        #expect(!share.take(":1.7"))
        #expect(share.take(":1.8"))
        share.end(":1.7")
        #expect(share.take(":1.7"))
        #expect(!share.take(":1.7"))
    }

    @Test func `an answer that was not counted gives no more than the share`() {
        let share = BusShare()
        for _ in 0..<9 { share.end(":1.7") }
        for _ in 0..<BusShare.mostCalls { #expect(share.take(":1.7")) }
        #expect(!share.take(":1.7"))
    }

    @Test func `clients that left without answers take no memory for good`() {
        let share = BusShare()
        for number in 0..<100_000 { #expect(share.take(":1.\(number)")) }
        #expect(share.clientCount < 20_000)
    }
}
