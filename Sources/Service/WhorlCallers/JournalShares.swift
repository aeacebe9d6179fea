// SPDX-License-Identifier: Apache-2.0

package import WhorlRemote
import Synchronization
package import WhorlService

/// A journal in which each user has, for each method, a share for successes and another for failures.
///
/// The systemd journal limits the number of lines for the whole unit. Without shares, one user's refusals could use up
/// the space for another user's successes. The next line of the same kind contains the number of dropped lines
/// (`WHORL_UNWRITTEN`).
package final class JournalShares: CallJournal {
    /// The number of lines of one kind that may be written in a row before further lines are limited.
    package static let burst = 20
    /// The time after which one more line may be written.
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

    /// The maximum number of shares in memory; shares that are fully available again are removed first.
    private static let most = 10_000

    private let journal: any CallJournal
    private let now: @Sendable () -> ContinuousClock.Instant
    private let shares = Mutex<[Kind: Share]>([:])

    /// Creates a journal that divides another one into shares.
    ///
    /// - Parameters:
    ///   - journal: The journal to write to.
    ///   - now: Returns the current time.
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

    /// Reserves space for one line.
    ///
    /// - Returns: The number of lines dropped before it; `nil` if no space is left.
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
