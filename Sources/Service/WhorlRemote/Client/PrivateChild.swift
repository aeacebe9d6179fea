// SPDX-License-Identifier: Apache-2.0

import Glibc
package import WhorlIPC
import WhorlSupport

/// The program `whorld` as a child of this process, which serves this process alone.
package struct PrivateChild: Sendable {
    /// Opens connections to the child.
    package let transport: PairTransport
    /// The child's process, which stays this process's to wait for.
    package let process: Int32

    /// An error of starting the child.
    package enum Fault: Error, Sendable, Hashable {
        /// The program is at none of the places where it is looked for.
        case missing
        /// The system refused to start it.
        case system(SystemCallError)
    }

    /// Starts the child; it ends when this process has closed all connections to it, also by ending.
    ///
    /// - Parameter environment: The variables that the child gets, of which it reads its choices.
    /// - Returns: The child.
    /// - Throws: `missing` where the program is not installed, `system` where it cannot be started.
    package static func start(environment: [String: String]) throws(Fault) -> PrivateChild {
        guard let program = candidates().first(where: { access($0, X_OK) == 0 }) else { throw .missing }
        do throws(SystemCallError) {
            let (own, other) = try UnixSocket.pair()
            let process = try spawn(program, other, environment)
            return PrivateChild(transport: PairTransport(own), process: process)
        } catch {
            throw .system(error)
        }
    }

    /// The places: beside this program, as it is built, or where it is installed; never from the PATH.
    private static func candidates() -> [String] {
        guard let folder = ThisProcess.folder else { return [] }
        return [folder + "/whorld", folder + "/../libexec/whorl/whorld"]
    }

    /// The number that the socket has in the child.
    private static let descriptor: Int32 = 3

    private static func spawn(
        _ program: String,
        _ socket: Descriptor,
        _ environment: [String: String]
    ) throws(SystemCallError) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, socket.number, descriptor)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A group of its own: ^C reaches the program, which then ends its calls.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        let words = [program, "--private", String(descriptor)]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process: pid_t = 0
        let fault = posix_spawn(&process, program, &actions, &attributes, &arguments, &variables)
        guard fault == 0 else {
            errno = fault
            throw SystemCallError("posix_spawn")
        }
        return process
    }
}
