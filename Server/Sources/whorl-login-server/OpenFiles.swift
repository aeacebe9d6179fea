// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The limit for open files, and therefore for connections, of the process.
enum OpenFiles {
    /// Raises the limit as far as allowed: the initial limit of a shell or systemd, usually 1,024, is intended for
    /// programs that use select(2).
    ///
    /// - Returns: The current limit; `nil` if there is none.
    static func raiseLimit() -> Int? {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        // If the system refuses the change, the limit stays unchanged.
        let holds = setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before
        return Int(exactly: holds)
    }

    /// Returns the number of possible connections, at most the requested number.
    ///
    /// The database, the certificate, the event loops of all cores and the log require descriptors as well, and must
    /// not run out of them.
    static func connections(atMost wanted: Int, limit: Int?) -> Int {
        guard let limit else { return wanted }
        let others = 64 + 8 * ProcessInfo.processInfo.activeProcessorCount
        return min(wanted, max(limit - others, limit / 4, 1))
    }
}
