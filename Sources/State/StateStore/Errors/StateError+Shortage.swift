// SPDX-License-Identifier: Apache-2.0

import Glibc

extension StateError {
    /// The error where no file can be opened since too many are; `nil` for every other reason.
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

/// Why a database cannot be opened now for want of descriptors; 0 when it is not for that.
///
/// SQLite needs one for the database, its log, its index and their directory, and has closed them when this is asked.
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
