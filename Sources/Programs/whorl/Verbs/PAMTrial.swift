// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSupport

/// A trial authentication that uses a file before it takes effect.
///
/// libpam reads the file from a folder that only root can access and that also has links to the files in effect.
/// `/etc/pam.d` is not changed before the trial has succeeded, and a trial that is killed leaves nothing there.
struct PAMTrial {
    let files: PAMFolder
    let service: String
    let stack: PAMStack

    /// Authenticates the user at the terminal; throws unless this succeeds.
    func run() throws(Failure) {
        guard isatty(STDIN_FILENO) == 1, let terminal = ttyname(STDIN_FILENO).map({ String(cString: $0) })
        else {
            throw .trial("Cannot test the new file: there is no terminal.")
        }
        guard let libpam = LibPAM() else {
            throw .trial("This system's libpam cannot test a file before it is used.")
        }
        let folder = try makeFolder()
        defer { Self.removeFolder(folder) }
        try fill(folder)
        let person = Self.person
        let signals = ForwardedSignals()
        let result = Self.asProgramOf(person) {
            libpam.authenticate(service, ThisProcess.userName(of: person), in: folder, on: terminal)
        }
        signals.end()
        if let result {
            throw Failure(
                code: "pamFailed",
                message: "Authentication with the new file failed, so nothing was changed: \(result).",
                recovery:
                    "Check the password and the system log, then try again."
            )
        }
    }

    /// The user who must authenticate: the one who ran sudo, or who logged in.
    private static var person: UInt32 {
        if geteuid() == 0 {
            let named = getenv("SUDO_UID").flatMap { UInt32(String(cString: $0)) }
            // The largest number stands for a process outside any login.
            if let person = named ?? login, person != .max { return person }
        }
        return getuid()
    }

    /// The user who logged in, as recorded by the kernel; it stays the same after switching to another user.
    private static var login: UInt32? {
        let file = open("/proc/self/loginuid", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var digits = [UInt8](repeating: 0, count: 16)
        let count = read(file, &digits, digits.count)
        return UInt32(String(decoding: digits.prefix(max(count, 0)), as: UTF8.self))
    }

    /// Runs a function with the privileges of a set-user-ID root program that the user started.
    ///
    /// Otherwise, modules that admit root without authentication would make the trial succeed without testing anything.
    private static func asProgramOf<Value>(_ person: UInt32, _ body: () -> Value) -> Value {
        guard geteuid() == 0 else { return body() }
        let nobody: UInt32 = 65_534
        let real = getuid()
        // If this fails, a module checks less, and the trial is less meaningful.
        _ = setreuid(person == 0 ? nobody : person, .max)
        defer { _ = setreuid(real, .max) }
        return body()
    }

    // MARK: - The folder

    private func makeFolder() throws(Failure) -> String {
        let place = access("/run", W_OK) == 0 ? "/run" : "/tmp"
        var name = Array("\(place)/whorl-pam-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw .pam("Cannot create a folder for the test", errno) }
        return String(decoding: name.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    private func fill(_ folder: String) throws(Failure) {
        guard let real = realpath(files.path, nil) else { throw .pam("Cannot read \(files.path)", errno) }
        defer { free(real) }
        // libpam looks nowhere else in a trial. An existing name belongs to a file that takes precedence.
        for source in [String(cString: real)] + files.folders.dropFirst() {
            for name in Self.names(in: source) where name != service {
                symlink("\(source)/\(name)", "\(folder)/\(name)")
            }
        }
        let file = open("\(folder)/\(service)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .pam("Cannot write \(folder)/\(service)", errno) }
        defer { close(file) }
        let bytes = Array(stack.text.utf8)
        guard write(file, bytes, bytes.count) == bytes.count else {
            throw .pam("Cannot write \(folder)/\(service)", errno)
        }
    }

    private static func removeFolder(_ folder: String) {
        for name in names(in: folder) { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    private static func names(in folder: String) -> [String] {
        guard let opened = opendir(folder) else { return [] }
        defer { closedir(opened) }
        var names: [String] = []
        while let entry = readdir(opened) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

extension Failure {
    /// Returns the failure for a trial that cannot begin.
    fileprivate static func trial(_ message: String) -> Failure {
        Failure(
            code: "pamFailed",
            message: message,
            recovery: "Run it in a terminal, or add --no-try and keep a root shell open."
        )
    }
}

/// Forwards the signals that terminate a program to one thread while a PAM module prompts in that thread.
///
/// A module blocks these signals only in its own thread until the terminal echoes keys again, so another thread of this
/// program would receive them. Each signal ends the module's prompt, and the program continues.
struct ForwardedSignals {
    private static let ending = [SIGINT, SIGQUIT, SIGTERM, SIGHUP]
    /// An unprotected variable, because a signal handler must not take a lock.
    ///
    /// It is written before the handlers are installed, and they only read it.
    nonisolated(unsafe) private static let thread = {
        let memory = UnsafeMutablePointer<pthread_t>.allocate(capacity: 1)
        memory.initialize(to: pthread_self())
        return memory
    }()

    private let before: [(number: CInt, action: sigaction)]
    private let mask: sigset_t

    /// Starts forwarding signals to the current thread.
    init() {
        Self.thread.pointee = pthread_self()
        var all = sigset_t()
        var mask = sigset_t()
        sigemptyset(&all)
        for number in Self.ending { sigaddset(&all, number) }
        pthread_sigmask(SIG_UNBLOCK, &all, &mask)
        self.mask = mask
        var action = sigaction()
        // No SA_RESTART, so that reading a line is interrupted.
        action.__sigaction_handler.sa_handler = { number in
            let thread = ForwardedSignals.thread.pointee
            if pthread_equal(pthread_self(), thread) == 0 { pthread_kill(thread, number) }
        }
        var stop = sigaction()
        stop.__sigaction_handler.sa_handler = SIG_IGN
        // A stop would leave the terminal without echo: the other threads are stopped with this one.
        before = (Self.ending + [SIGTSTP]).map { number in
            var old = sigaction()
            sigaction(number, nil, &old)
            var new = number == SIGTSTP ? stop : action
            sigaction(number, &new, nil)
            return (number, old)
        }
    }

    /// Restores the previous signal handlers.
    func end() {
        var mask = mask
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        for (number, action) in before {
            var action = action
            sigaction(number, &action, nil)
        }
    }
}
