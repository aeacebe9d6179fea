// SPDX-License-Identifier: Apache-2.0

package import WhorlRemote
import Synchronization
package import WhorlService

/// A journal in which each user has a share for each method's successes, and one for its failures.
///
/// The journal limits the lines of the whole unit. Without shares, one user's refusals would use up the room for another
/// user's successes. A line that is left out is counted in the next one of its kind (`WHORL_UNWRITTEN`).
package final class JournalShares: CallJournal {
    /// The lines of one kind that are written one after the other before the share counts.
    package static let burst = 20
    /// The time after which one more line is written.
    package static let pause = Duration.seconds(1)

    private struct Kind: Hashable {
        let user: UInt32?
        let method: String
        let isDone: Bool
    }

    private struct Share {
        var room = JournalShares.burst
        var since: ContinuousClock.Instant
        var unwritten = 0
    }

    /// The most shares that are remembered; those that are full again are forgotten first.
    private static let most = 10_000

    private let journal: any CallJournal
    private let now: @Sendable () -> ContinuousClock.Instant
    private let shares = Mutex<[Kind: Share]>([:])

    /// Makes shares of a journal.
    ///
    /// - Parameters:
    ///   - journal: The journal that is written.
    ///   - now: The present time.
    package init(
        of journal: any CallJournal,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.journal = journal
        self.now = now
    }

    package func write(_ record: CallRecord, of asker: Asker?) {
        let kind = Kind(user: asker?.user, method: record.method, isDone: record.outcome == "done")
        guard let unwritten = take(kind) else { return }
        var record = record
        record.unwritten = unwritten
        journal.write(record, of: asker)
    }

    /// Takes room for one line.
    ///
    /// - Returns: The number of lines that were left out before it; `nil` if there is no room.
    private func take(_ kind: Kind) -> Int? {
        let now = now()
        return shares.withLock { shares in
            if shares.count >= Self.most { shares = shares.filter { !Self.isFull($0.value, now) } }
            var share = shares[kind] ?? Share(since: now)
            let gained = Int((now - share.since) / Self.pause)
            if gained > 0 {
                share.room = min(Self.burst, share.room + min(gained, Self.burst))
                share.since = now
            }
            defer { shares[kind] = share }
            guard share.room > 0 else {
                share.unwritten += 1
                return nil
            }
            share.room -= 1
            defer { share.unwritten = 0 }
            return share.unwritten
        }
    }

    private static func isFull(_ share: Share, _ now: ContinuousClock.Instant) -> Bool {
        share.unwritten == 0 && now - share.since >= pause * burst
    }
}
