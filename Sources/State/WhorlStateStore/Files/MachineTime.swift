// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
internal import Glibc
import WhorlSupport

/// A point in time on both of the machine's clocks.
///
/// The boot clock cannot be set and does not survive a restart. The wall clock survives a restart, but can be set.
/// Security decisions use the wall clock only if the boot clock cannot be used.
package struct Moment: Sendable, Hashable {
    /// The kernel's ID for this boot of the machine.
    ///
    /// It is empty if it cannot be read, and then does not count as equal to any other ID.
    package let bootID: String
    /// The number of milliseconds since the machine started, including the time it was asleep.
    package let sinceBoot: Int64
    /// The number of milliseconds since 1970-01-01 on the wall clock.
    package let wall: Int64
    /// The number of milliseconds that the machine has been asleep since it started.
    package let asleep: Int64

    /// Creates a point in time.
    ///
    /// Values that no clock can show (beyond some 280,000 years) are clamped so that sums cannot overflow.
    package init(bootID: String, sinceBoot: Int64, wall: Int64, asleep: Int64 = 0) {
        let furthest: Int64 = 1 << 53
        self.bootID = bootID
        self.sinceBoot = min(max(sinceBoot, -furthest), furthest)
        self.wall = min(max(wall, -furthest), furthest)
        self.asleep = min(max(asleep, -furthest), furthest)
    }

    /// The wall-clock time as a date.
    package var date: Date { Date(timeIntervalSince1970: Double(wall) / 1000) }

    /// Returns whether both points in time are in the same boot of the machine.
    package func isSameBoot(as other: Moment) -> Bool {
        !bootID.isEmpty && bootID == other.bootID
    }

    /// Returns the number of milliseconds that have certainly passed since `earlier`, which is never negative.
    ///
    /// Within one boot, the boot clock is used. After a restart, the wall clock is used, but if it went backward, only
    /// the time since the restart is certain. Setting the wall clock of a running machine therefore has no effect, and
    /// setting it back during a restart only shortens the time.
    ///
    /// The same is true if the boot ID cannot be read. At least as much time has passed as the boot clock has advanced,
    /// whether or not there was a restart. If the boot clock shows less than before, there must have been a restart.
    package func certainlyAfter(_ earlier: Moment) -> Int64 {
        let advance = sinceBoot - earlier.sinceBoot
        guard !isSameBoot(as: earlier) else { return max(0, advance) }
        let isNameless = bootID.isEmpty || earlier.bootID.isEmpty
        if isNameless, advance >= 0 { return advance }
        return max(0, sinceBoot, wall - earlier.wall)
    }
}

extension Moment {
    /// The maximum difference between two readings of the time asleep that still counts as no sleep.
    ///
    /// A difference can occur because the clocks are read one after the other.
    private static let jitter: Int64 = 50

    /// Returns whether less than `limit` has passed since `earlier`, in the same boot and without any sleep.
    ///
    /// Use this for state that a process keeps only in memory, because it does not need the boot ID.
    package func isAwake(since earlier: Moment, within limit: Duration) -> Bool {
        guard bootID == earlier.bootID, sinceBoot >= earlier.sinceBoot else { return false }
        return .milliseconds(sinceBoot - earlier.sinceBoot) < limit && asleep - earlier.asleep <= Self.jitter
    }
}

/// A source of the time for the engine.
///
/// Tests use sources of their own.
package struct MachineTime: Sendable {
    package let now: @Sendable () -> Moment

    /// Creates a source that reads the time from `now`.
    package init(now: @escaping @Sendable () -> Moment) { self.now = now }

    /// The machine's own clocks, which are `CLOCK_BOOTTIME` and `CLOCK_REALTIME`, and
    /// `/proc/sys/kernel/random/boot_id`.
    ///
    /// The installed service cannot read that file, because its `/proc` shows processes only. systemd reads it instead
    /// and passes it on as a credential (`LoadCredential=` in whorld.service).
    package static let system = MachineTime {
        Moment(
            bootID: systemBootID,
            sinceBoot: milliseconds(of: CLOCK_BOOTTIME),
            wall: milliseconds(of: CLOCK_REALTIME),
            asleep: millisecondsAsleep()
        )
    }

    /// The boot ID, which cannot change while a process is running.
    private static let systemBootID: String = {
        let files = ["/proc/sys/kernel/random/boot_id", credential("whorl.boot-id")].compactMap(\.self)
        // A file that cannot be read is not an error here: without an ID, nothing that depends on it succeeds.
        let text = files.lazy.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }.first
        return text.map { String($0.prefix { !$0.isWhitespace }) } ?? ""
    }()

    /// Returns the path of a credential that systemd passed to this process (systemd.exec(5)).
    private static func credential(_ name: String) -> String? {
        ThisProcess.trustedEnvironment["CREDENTIALS_DIRECTORY"].map { "\($0)/\(name)" }
    }

    /// Returns the number of milliseconds that the machine has been asleep.
    ///
    /// The boot clock continues during sleep, but `CLOCK_MONOTONIC` does not. Because the thread may be stopped between
    /// two readings, the fastest of several pairs of readings is used.
    private static func millisecondsAsleep() -> Int64 {
        var best = (width: Int64.max, asleep: Int64(0))
        for _ in 0..<8 where best.width > 1 {
            let before = milliseconds(of: CLOCK_MONOTONIC)
            let boot = milliseconds(of: CLOCK_BOOTTIME)
            let width = milliseconds(of: CLOCK_MONOTONIC) - before
            if width < best.width { best = (width, boot - before) }
        }
        return best.asleep
    }

    private static func milliseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
