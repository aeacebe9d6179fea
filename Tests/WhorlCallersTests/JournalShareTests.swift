// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import WhorlIPC
import WhorlService

@testable import WhorlCallers
@testable import WhorlRemote

@Suite struct `A user's share of the journal` {
    /// Keeps what is written.
    private final class Pages: CallJournal {
        private let lines = Mutex<[CallRecord]>([])
        var written: [CallRecord] { lines.withLock(\.self) }
        func write(_ record: CallRecord, of asker: Asker?) { lines.withLock { $0.append(record) } }
    }

    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock(\.self) }
        func advance(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private func record(_ method: String, isDone: Bool) -> CallRecord {
        let answer: Result<Int, ServiceRefusal> =
            isDone ? .success(1) : .failure(ServiceError(.notInteractive).refusal)
        return CallRecord(method, CallPurpose(application: "a", text: "r"), answer)
    }

    private func asker(_ user: UInt32) -> Asker { Asker(user: user) }

    // Docs/Security.md: C14a
    @Test func `is not used up by refusals where a success follows, nor by another user`() {
        let (pages, clock) = (Pages(), Clock())
        let journal = JournalShares(of: pages) { clock.now }
        for _ in 0..<10_000 { journal.write(record("io.whorl.Owner.Evaluate", isDone: false), of: asker(1)) }
        #expect(pages.written.count == JournalShares.burst)
        journal.write(record("io.whorl.Owner.Evaluate", isDone: true), of: asker(1))
        journal.write(record("io.whorl.Passcode.Set", isDone: true), of: asker(1))
        journal.write(record("io.whorl.Owner.Evaluate", isDone: false), of: asker(2))
        #expect(pages.written.count == JournalShares.burst + 3)
    }

    @Test func `grows again, and tells how many lines were left out`() {
        let (pages, clock) = (Pages(), Clock())
        let journal = JournalShares(of: pages) { clock.now }
        for _ in 0..<30 { journal.write(record("m", isDone: false), of: asker(1)) }
        clock.advance(.seconds(2))
        for _ in 0..<5 { journal.write(record("m", isDone: false), of: asker(1)) }
        #expect(pages.written.map(\.unwritten).suffix(2) == [10, 0])
        #expect(pages.written.count == JournalShares.burst + 2)
        let fields = SystemJournal.fields(pages.written[JournalShares.burst], asker(1))
        #expect(fields.contains { $0.name == "WHORL_UNWRITTEN" && $0.value == "10" })
    }
}
