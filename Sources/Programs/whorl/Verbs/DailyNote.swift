// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSystem

/// Whether a note was on this terminal within a day, so that whoever works with a pretended reader reads it once and
/// not at each command.
///
/// It is remembered by the time of an empty file in the user's runtime directory, which the system empties at the
/// login's end. Whatever keeps it from being remembered, or makes the terminal unclear, has the note printed.
enum DailyNote {
    private static let day: time_t = 86_400

    /// Whether a note is to be printed on standard error now; then it is remembered as printed.
    ///
    /// - Parameter name: Letters, which tell the note apart from others.
    /// - Returns: `true` also where that cannot be told.
    static func isDue(_ name: String) -> Bool {
        guard let path = path(of: name) else { return true }
        var file = stat()
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if lstat(path, &file) == 0, file.st_mode & S_IFMT == S_IFREG, file.st_uid == geteuid() {
            let age = now.tv_sec - file.st_mtim.tv_sec
            if (0..<day).contains(age) { return false }
        }
        remember(path)
        return true
    }

    /// The file for a note on this terminal; `nil` where standard error is no terminal, or there is no place for it.
    ///
    /// The session tells a terminal from an earlier one of the same number.
    private static func path(of name: String) -> String? {
        var terminal = stat()
        guard isatty(STDERR_FILENO) == 1, fstat(STDERR_FILENO, &terminal) == 0,
            let place = SystemConfiguration.processEnvironment["XDG_RUNTIME_DIR"], place.hasPrefix("/")
        else { return nil }
        let folder = place + "/whorl-notes"
        // Whether it is there shows when a file is made in it.
        _ = mkdir(folder, 0o700)
        return "\(folder)/\(name)-\(terminal.st_rdev)-\(getsid(0))"
    }

    private static func remember(_ path: String) {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { return }
        // Without times it is now; a failure has the note printed again.
        _ = futimens(descriptor, nil)
        close(descriptor)
    }
}
