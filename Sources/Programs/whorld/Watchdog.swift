// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSupport

/// The keep-alive of the service (sd_watchdog_enabled(3)).
///
/// It asks the engine before each message. A timer would go on beside an engine that is stuck.
enum Watchdog {
    /// Sends keep-alives until the process ends, where systemd wants them.
    ///
    /// - Parameter pulse: Returns when the engine has done a piece of work.
    static func begin(_ pulse: @escaping @Sendable () async -> Void) {
        guard let limit = limit() else { return }
        Task {
            while true {
                await pulse()
                ServiceManager.notify("WATCHDOG=1")
                await OffPoolTimer.waitUncancelled(limit / 3)
            }
        }
    }

    private static func limit() -> Duration? {
        let owner = getenv("WATCHDOG_PID").flatMap { Int32(String(cString: $0)) }
        let limit = getenv("WATCHDOG_USEC").flatMap { Int64(String(cString: $0)) }
        guard let limit, limit > 0, owner == nil || owner == getpid() else { return nil }
        return .microseconds(limit)
    }
}
