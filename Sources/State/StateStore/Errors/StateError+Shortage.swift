// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService

extension StateError {
    /// Returns the error for too many open files; `nil` for every other error number.
    static func shortage(_ code: Int32, path: String) -> StateError? {
        let whose: String
        let recovery: String
        switch code {
        case EMFILE:
            whose = "this process has too many files open."
            recovery = "Have the program close some, or raise its limit: `ulimit -n 1024`."
        case ENFILE:
            whose = "the system has too many files open."
            recovery = "End programs that hold many; `cat /proc/sys/fs/file-nr` tells how many there are."
        default: return nil
        }
        return StateError(
            .failed,
            path: path,
            message: "\(path) cannot be opened: \(whose)",
            recovery: recovery,
            cause: "errno \(code): \(String(cString: strerror(code)))"
        )
    }
}

/// Returns the `errno` of a shortage of descriptors that keeps a database from opening; 0 if there is no shortage.
///
/// SQLite needs one each for the database, its log, its index and their directory, and has closed them at this point.
func nextDescriptorFailure() -> Int32 {
    var taken: [Int32] = []
    defer { for descriptor in taken { close(descriptor) } }
    while taken.count < 4 {
        let next = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard next >= 0 else { return errno }
        taken.append(next)
    }
    return 0
}
