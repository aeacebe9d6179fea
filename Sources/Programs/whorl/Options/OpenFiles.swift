// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Checks that the program may open enough files, before it begins: GLib and libdispatch end the process, and do not
/// return an error, when they get no descriptor.
enum OpenFiles {
    /// The number of descriptors to check for: more than any command opens at one time.
    private static let needed = 32
    /// The value to which a lower limit is raised; every process may raise it up to its hard limit.
    private static let comfortable: rlim_t = 256

    /// Raises the limit if allowed; returns the failure if there are too few descriptors.
    static func makeRoom() -> Failure? {
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < comfortable {
            limit.rlim_cur = min(limit.rlim_max, comfortable)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return isRoom() ? nil : shortage(errno, limit: limit.rlim_cur)
    }

    /// Whether the needed descriptors are available now; if not, `errno` says why.
    private static func isRoom() -> Bool {
        var taken: [CInt] = []
        taken.reserveCapacity(needed)
        while taken.count < needed {
            // Standard input is open: missing standard streams have been filled.
            let next = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
            guard next >= 0 else { break }
            taken.append(next)
        }
        let reason = errno
        for descriptor in taken { close(descriptor) }
        errno = reason
        return taken.count == needed
    }

    private static func shortage(_ reason: CInt, limit: rlim_t) -> Failure {
        let message: String
        let recovery: String
        if reason == ENFILE {
            message = "The system has too many files open."
            recovery = "End programs that hold many; `cat /proc/sys/fs/file-nr` tells how many there are."
        } else {
            message =
                "This process may have \(limit) files open, which leaves less than the \(needed) it needs."
            recovery =
                "Raise the limit, such as with `ulimit -n 256`, or start it from a program with less open."
        }
        return Failure(
            code: "tooManyOpenFiles",
            rawValue: nil,
            status: .failure,
            message: message,
            reason: String(cString: strerror(reason)),
            recovery: recovery
        )
    }
}
