// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSupport

/// A note that is shown on a terminal only once a day, so that a user who works with a virtual reader does not see it
/// with every command.
///
/// The time is recorded as an empty file in the user's runtime directory, which the system clears when the user logs
/// out. If the file cannot be written, or the terminal is unknown, the note is printed.
enum DailyNote {
    private static let day: time_t = 86_400

    /// Returns whether to print a note on standard error now, and if so, records the time.
    ///
    /// - Parameter name: The name of the note, which contains only letters.
    /// - Returns: Whether to print the note; `true` if it is unknown when the note was last printed.
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

    /// Returns the file for a note on this terminal; `nil` if standard error is not a terminal, or no directory is
    /// available.
    ///
    /// The file's name includes the session, because terminal numbers are reused.
    private static func path(of name: String) -> String? {
        var terminal = stat()
        guard isatty(STDERR_FILENO) == 1, fstat(STDERR_FILENO, &terminal) == 0,
            let place = ThisProcess.trustedEnvironment["XDG_RUNTIME_DIR"], place.hasPrefix("/")
        else { return nil }
        let folder = place + "/whorl-notes"
        // If the folder is missing, creating a file in it fails.
        _ = mkdir(folder, 0o700)
        return "\(folder)/\(name)-\(terminal.st_rdev)-\(getsid(0))"
    }

    private static func remember(_ path: String) {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { return }
        // Without times, the current time is set; after a failure the note is printed again.
        _ = futimens(descriptor, nil)
        close(descriptor)
    }
}
