// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A point in time by both of the machine's clocks.
///
/// The boot clock cannot be set and does not outlive a restart; the wall clock outlives a restart and can be
/// set. Whatever is a matter of safety trusts the wall clock only where the boot clock has nothing to say.
package struct Moment: Sendable, Hashable {
    /// The kernel's name for this start of the machine; empty when it cannot be read, and then equal to no
    /// other.
    package let bootID: String
    /// Milliseconds since the machine started, time asleep included.
    package let sinceBoot: Int64
    /// Milliseconds since 1970-01-01 by the wall clock.
    package let wall: Int64

    /// Names a point in time; what no clock shows (beyond some 280,000 years) is cut off, so that sums are
    /// safe.
    package init(bootID: String, sinceBoot: Int64, wall: Int64) {
        let furthest: Int64 = 1 << 53
        self.bootID = bootID
        self.sinceBoot = min(max(sinceBoot, -furthest), furthest)
        self.wall = min(max(wall, -furthest), furthest)
    }

    /// The wall clock's time as a date.
    package var date: Date { Date(timeIntervalSince1970: Double(wall) / 1000) }

    /// Whether both points lie between the same two starts of the machine.
    package func isSameBoot(as other: Moment) -> Bool {
        !bootID.isEmpty && bootID == other.bootID
    }

    /// Milliseconds that have certainly passed since `earlier`, never negative.
    ///
    /// Within one boot, the boot clock says it. After a restart, the wall clock does; where that went
    /// backwards, the time since the restart is what remains certain. So setting the wall clock of a running
    /// machine changes nothing, and setting it back over a restart only makes the time shorter.
    package func certainlyAfter(_ earlier: Moment) -> Int64 {
        guard !isSameBoot(as: earlier) else { return max(0, sinceBoot - earlier.sinceBoot) }
        // Without a boot's name nothing says that `earlier` lies before this boot.
        let sinceRestart = bootID.isEmpty || earlier.bootID.isEmpty ? 0 : max(0, sinceBoot)
        return max(sinceRestart, wall - earlier.wall)
    }
}

/// Where the engine reads the time; tests give their own.
package struct MachineTime: Sendable {
    /// The present moment.
    package let now: @Sendable () -> Moment

    /// Reads the time from `now`.
    package init(now: @escaping @Sendable () -> Moment) { self.now = now }

    /// The machine's own clocks: `CLOCK_BOOTTIME`, `CLOCK_REALTIME` and `/proc/sys/kernel/random/boot_id`.
    package static let system = MachineTime {
        Moment(
            bootID: systemBootID,
            sinceBoot: milliseconds(of: CLOCK_BOOTTIME),
            wall: milliseconds(of: CLOCK_REALTIME)
        )
    }

    /// It cannot change while a process lives.
    private static let systemBootID: String = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }()

    private static func milliseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
