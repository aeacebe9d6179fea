// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import Glibc

/// The log that tpm2-tss itself writes to standard error or to a file, as environment variables say.
///
/// A user's own `TSS2_LOG` and `TSS2_LOGFILE` are kept. In a program with more rights than its caller (set-user-ID,
/// file capabilities) they are not: the library would write traces, with those rights, to any file that the caller
/// names.
///
/// The library reads the variables with plain getenv(3), when it first writes to the log.
enum LibraryLog {
    /// Sets the variables once per process: setenv(3) while another thread reads the environment is not safe, so this
    /// happens when a ``TPMDevice`` is created, on the caller's thread and before the device has its own.
    static let isSettled: Bool = {
        // secure_getenv(3) returns nothing in such a program.
        let isQuiet = secure_getenv("TSS2_LOG") != nil || setenv("TSS2_LOG", "all+none", 1) == 0
        let writesNoFile = secure_getenv("TSS2_LOGFILE") != nil || unsetenv("TSS2_LOGFILE") == 0
        return isQuiet && writesNoFile
    }()
}
