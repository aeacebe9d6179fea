// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSupport

/// Prevents other files from getting the descriptors of the three standard streams.
enum StandardStreams {
    /// Opens missing standard streams; must be called before anything is opened.
    ///
    /// A program that is started with `>&-` has a free descriptor. The next file, pipe or reader to be opened would get
    /// it, and with it every text meant for the user. So `/dev/null` is opened there, in the wrong direction: writing
    /// to a closed output still fails, and a lost answer is still reported.
    static func fillGaps() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            // open(2) returns the lowest free number, which is this one: those below are filled.
            _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

/// Checks at the start that the program may open enough files: GLib and libdispatch abort the process, instead of
/// returning an error, if they get no descriptor.
enum OpenFiles {
    /// The number of descriptors to check for: more than any command opens at the same time.
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

    /// Returns whether the needed descriptors are available now; if not, `errno` says why.
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
            recovery = "Quit programs that hold many; `cat /proc/sys/fs/file-nr` shows the total."
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
/// Linux passes bytes. Swift silently replaces invalid UTF-8 with U+FFFD, which produces another name: another
/// directory, another profile.
enum ProcessInput {
    /// Returns the failure for arguments that are not text; `nil` if all of them are.
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

    /// Returns the failure for the first of these variables that is not text; `nil` if all of them are.
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
