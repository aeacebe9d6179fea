// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// How many files, and so connections, the process may have open.
enum OpenFiles {
    /// Raises the limit as far as it may be: what a shell or systemd gives at first, 1,024 mostly, is for programs that use
    /// select(2).
    ///
    /// - Returns: The limit that holds now; `nil` where there is none.
    static func raiseLimit() -> Int? {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        // Where the system refuses what it allows, the limit is as it was.
        let holds = setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before
        return Int(exactly: holds)
    }

    /// How many connections are possible, of so many that are wanted.
    ///
    /// The database, the certificate, the event loops of all cores and the log need descriptors too, and must not find
    /// that there are none left.
    static func connections(atMost wanted: Int, limit: Int?) -> Int {
        guard let limit else { return wanted }
        let others = 64 + 8 * ProcessInfo.processInfo.activeProcessorCount
        return min(wanted, max(limit - others, limit / 4, 1))
    }
}
