// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import Glibc

/// The log that tpm2-tss writes by itself, to standard error or to a file, as variables tell it.
///
/// A user's own `TSS2_LOG` and `TSS2_LOGFILE` stand. In a program with more rights than its caller (set-user-ID, file
/// capabilities) they do not: it would write traces, with those rights, to any file that the caller names.
///
/// The library reads the variables with plain getenv(3), at its first words.
enum LibraryLog {
    /// Settles the variables, once in a process: setenv(3) while another thread reads the environment is not safe, so it
    /// happens where a ``TPMDevice`` is made, on its maker's thread and before it has one of its own.
    static let isSettled: Bool = {
        // secure_getenv(3) gives nothing in such a program.
        let isQuiet = secure_getenv("TSS2_LOG") != nil || setenv("TSS2_LOG", "all+none", 1) == 0
        let writesNoFile = secure_getenv("TSS2_LOGFILE") != nil || unsetenv("TSS2_LOGFILE") == 0
        return isQuiet && writesNoFile
    }()
}
