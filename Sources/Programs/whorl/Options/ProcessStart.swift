// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSupport

/// Prevents other files from being opened with the descriptors of the three standard streams.
enum StandardStreams {
    /// Opens missing standard streams; must be called before any other file is opened.
    ///
    /// In a program started with `>&-`, the descriptor of standard output is free. The next file, pipe or reader to be
    /// opened would get that descriptor, and receive all text meant for the user. So `/dev/null` is opened in its
    /// place, in the wrong direction: writing to a closed output still fails, so that lost output is still reported.
    static func fillGaps() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            // open(2) returns the lowest free number, which is this one: those below are filled.
            _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

/// Checks at startup that the program can open enough files.
///
/// GLib and libdispatch abort the process instead of returning an error if no descriptor is available.
enum OpenFiles {
    /// The number of descriptors that must be available, which is more than any command uses at the same time.
    private static let needed = 32
    /// The limit is raised to this value if it is lower; any process may raise its limit up to the hard limit.
    private static let comfortable: rlim_t = 256

    /// Raises the limit if allowed, and returns a failure if too few descriptors are available.
    static func makeRoom() -> Failure? {
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < comfortable {
            limit.rlim_cur = min(limit.rlim_max, comfortable)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return isRoom() ? nil : shortage(errno, limit: limit.rlim_cur)
    }

    /// Returns whether the required descriptors are available now; if not, `errno` contains the reason.
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
            recovery = "Quit programs that have many files open; `cat /proc/sys/fs/file-nr` shows the total."
        } else {
            message =
                "This process may have only \(limit) open files; whorl needs \(needed) free."
            recovery =
                "Raise the limit, for example with `ulimit -n 256`, or close files before starting whorl."
        }
        return Failure(
            code: "tooManyOpenFiles",
            message: message,
            reason: String(cString: strerror(reason)),
            recovery: recovery
        )
    }
}

/// Checks that the arguments and variables are valid UTF-8.
///
/// Linux passes them as bytes. Swift silently replaces invalid UTF-8 with U+FFFD, so the program would use a different
/// name, and with it a different directory or profile.
enum ProcessInput {
    /// Returns the failure for the first argument that is not valid UTF-8; `nil` if all of them are valid.
    static func problemWithArguments() -> Failure? {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil
            else {
                continue
            }
            return problem("Argument \(index)", "“\(shown(argument))”")
        }
        return nil
    }

    /// Returns the failure for the first of these variables that is not valid UTF-8; `nil` if all of them are valid.
    static func problem(withVariables names: [String]) -> Failure? {
        for name in names {
            guard let value = getenv(name), String(validatingCString: value) == nil else { continue }
            return problem("The variable \(name)", "“\(shown(value))”")
        }
        return nil
    }

    private static func problem(_ what: String, _ text: String) -> Failure {
        .usage("\(what) is not valid UTF-8: \(text).", hint: "Type it again, or rename the file.")
    }

    private static func shown(_ bytes: UnsafeMutablePointer<CChar>) -> String {
        DisplayText.clean(String(cString: bytes), limit: 60)
    }
}
