// SPDX-License-Identifier: Apache-2.0

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
        guard let program = SiblingProgram(named: "whorld") else { throw .missing }
        do throws(SystemCallError) {
            let (own, other) = try UnixSocket.pair()
            let process = try spawn(program, other, environment)
            return PrivateChild(transport: PairTransport(own), process: process)
        } catch {
            throw .system(error)
        }
    }

    /// The number that the socket has in the child.
    private static let descriptor: Int32 = 3

    private static func spawn(
        _ program: SiblingProgram,
        _ socket: Descriptor,
        _ environment: [String: String]
    ) throws(SystemCallError) -> Int32 {
        let process = program.start(
            ["--private", String(descriptor)],
            environment: environment,
            passing: [.init(socket.number, as: descriptor)]
        )
        guard let process else { throw SystemCallError("posix_spawn") }
        return process
    }
}
