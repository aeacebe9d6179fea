// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A program, to be started by one of Whorl's.
package struct HelperProgram: Sendable {
    /// The path of the executable.
    package let path: String

    /// Finds a program in the folder of this program, as after a build, or in its installed location, but never in
    /// PATH.
    ///
    /// Returns `nil` if it is in neither place.
    ///
    /// - Parameter name: The file name of the executable.
    package init?(named name: String) {
        guard let folder = ThisProcess.folder else { return nil }
        let places = [folder + "/" + name, folder + "/../libexec/whorl/" + name]
        guard let path = places.first(where: { access($0, X_OK) == 0 }) else { return nil }
        self.path = path
    }

    /// Uses a program of the system.
    package init(at path: String) { self.path = path }

    /// A descriptor of this process that is passed to the program.
    package struct Passed {
        let descriptor: CInt
        let number: CInt

        /// Passes `descriptor` as `number`.
        package init(_ descriptor: Int32, as number: Int32) {
            self.descriptor = descriptor
            self.number = number
        }
    }

    /// Starts the program in a separate process group, so that ^C reaches only this process, which then ends the
    /// program.
    ///
    /// It inherits standard error and the descriptors that are passed, and no others: a socket or a device of this
    /// program would stay open until the helper exits. Standard input and output are /dev/null if they are not passed.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the program's name.
    ///   - environment: The environment variables; `nil` passes those of this process.
    ///   - passed: The descriptors to pass.
    /// - Returns: The process ID, which the caller must wait for; `nil` if the program was not started, with the reason
    ///   in `errno`.
    package func start(
        _ arguments: [String] = [],
        environment: [String: String]? = nil,
        passing passed: [Passed]
    ) -> Int32? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for one in passed { posix_spawn_file_actions_adddup2(&actions, one.descriptor, one.number) }
        for number in [STDIN_FILENO, STDOUT_FILENO] where !passed.contains(where: { $0.number == number }) {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        }
        typealias Call = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt
        let last = max(STDERR_FILENO, passed.map(\.number).max() ?? 0)
        _ = gnuFunction("posix_spawn_file_actions_addclosefrom_np", as: Call.self)?(&actions, last + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            (environment ?? [:]).map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process: pid_t = 0
        let fault = variables.withUnsafeMutableBufferPointer { own in
            let chosen = environment == nil ? environ : own.baseAddress
            return posix_spawn(&process, path, &actions, &attributes, &words, chosen)
        }
        guard fault == 0 else {
            errno = fault
            return nil
        }
        return process
    }

    /// Runs the program to completion, without input, blocking the caller.
    ///
    /// - Parameter arguments: The arguments after the program's name.
    /// - Returns: The exit status and at most 64 KiB of its standard output; `nil` if it did not exit normally.
    package func output(of arguments: [String]) -> (status: Int32, text: String)? {
        guard let pipe = PipeEnds() else { return nil }
        let process = start(arguments, passing: [Passed(pipe.writeEnd, as: STDOUT_FILENO)])
        Glibc.close(pipe.writeEnd)
        guard let process else {
            Glibc.close(pipe.readEnd)
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        var count = 0
        while count < bytes.count {
            let got = bytes[count...].withUnsafeMutableBytes { read(pipe.readEnd, $0.baseAddress, $0.count) }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { break }
            count += got
        }
        // Otherwise a program with more output would wait for a reader, while this one waits for it to exit.
        Glibc.close(pipe.readEnd)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        // WIFEXITED and WEXITSTATUS, which are macros.
        guard status & 0x7f == 0 else { return nil }
        return (status >> 8 & 0xff, String(decoding: bytes.prefix(count), as: UTF8.self))
    }
}
