// SPDX-License-Identifier: Apache-2.0

internal import Glibc
import Synchronization
package import WhorlIPC
import WhorlService
import WhorlSupport

/// Opens connections to one service.
package protocol ServiceTransport: Sendable {
    /// Opens another connection.
    func connect() throws(SystemCallError) -> Descriptor

    /// The time limits for a service that does not answer; `nil` for a service that is always available.
    var answerLimits: AnswerWatch.Limits? { get }
}

extension ServiceTransport {
    package var answerLimits: AnswerWatch.Limits? { nil }
}

/// The service that listens at a path.
package struct PathTransport: ServiceTransport {
    /// The path of the system service's socket.
    package static let systemPath = "/run/whorl/io.whorl"

    private let path: String
    private let owners: Set<UInt32>
    private let installation: ServiceInstallation
    package let answerLimits: AnswerWatch.Limits?

    /// Creates a transport to the service at a path.
    ///
    /// - Parameters:
    ///   - path: The path of the service's socket.
    ///   - owners: The users whose processes may listen on the socket; a socket of any other user could be a trap.
    ///   - installation: The installation, which explains why no process is listening on the socket.
    ///   - answerLimits: The time limits for a service that does not answer. Connecting can succeed even if the service
    ///     cannot be started, because the service manager owns the socket.
    package init(
        path: String = systemPath,
        owners: Set<UInt32> = [0],
        installation: ServiceInstallation = ServiceInstallation(),
        answerLimits: AnswerWatch.Limits = AnswerWatch.Limits()
    ) {
        self.answerLimits = answerLimits
        self.path = path
        self.owners = owners
        self.installation = installation
    }

    package func connect() throws(SystemCallError) -> Descriptor {
        let socket = try listening()
        // The kernel tells who made the socket listen: systemd, before the service runs.
        let listener = try PeerUser(of: socket)
        guard owners.contains(listener.uid) else { throw SystemCallError(refusing: "connect") }
        return socket
    }

    private func listening() throws(SystemCallError) -> Descriptor {
        do throws(SystemCallError) {
            return try UnixSocket.connect(to: path)
        } catch {
            guard path == Self.systemPath, installation.isSwitchedOff else { throw error }
            throw SystemCallError(switchedOff: "connect")
        }
    }
}

/// A service at the other end of a socket pair; it runs in a child of this process, or in this process.
///
/// To open another connection, one end of a new pair is sent to the service.
package final class PairTransport: ServiceTransport {
    private let control: Mutex<BlockingCall>

    /// Takes over one end of a socket pair; the service serves the other end.
    package init(_ control: Descriptor) { self.control = Mutex(BlockingCall(control)) }

    package func connect() throws(SystemCallError) -> Descriptor {
        let (own, other) = try UnixSocket.pair()
        do throws(ServiceCallError) {
            try control.withLock { control throws(ServiceCallError) in
                let reply: CallReply<NoValue> = try control.call(
                    "io.whorl.Connection.Adopt",
                    Valued(0),
                    descriptors: [other]
                )
                _ = reply
            }
        } catch .connection(let error?) {
            throw error
        } catch {
            throw SystemCallError(refusing: "adopt")
        }
        return own
    }
}

/// A child process that runs the program `whorld`, which serves only this process.
package struct PrivateChild: Sendable {
    /// Opens connections to the child.
    package let transport: PairTransport
    /// The process ID of the child.
    ///
    /// A thread of this process waits for the child to exit, so that it does not become a zombie.
    package let process: Int32

    /// An error that occurred while starting the child.
    package enum Fault: Error, Sendable, Hashable {
        /// The program was not found.
        case missing
        /// The system failed to start the program.
        case system(SystemCallError)
    }

    /// Starts the child.
    ///
    /// It exits when this process has closed all connections to it or has exited.
    ///
    /// - Parameter choices: The directory, profile, reader and TPM to use.
    /// - Returns: The child.
    /// - Throws: `missing` if the program is not installed, `system` if it cannot be started.
    package static func start(_ choices: ServiceChoices) throws(Fault) -> PrivateChild {
        guard let program = HelperProgram(named: "whorld") else { throw .missing }
        do throws(SystemCallError) {
            let (own, other) = try UnixSocket.pair()
            let process = try spawn(program, other, choices)
            return PrivateChild(transport: PairTransport(own), process: process)
        } catch {
            throw .system(error)
        }
    }

    /// The number of the socket's descriptor in the child.
    private static let descriptor: Int32 = 3

    private static func spawn(
        _ program: HelperProgram,
        _ socket: Descriptor,
        _ choices: ServiceChoices
    ) throws(SystemCallError) -> Int32 {
        let process = program.start(
            ["--private", String(descriptor)] + choices.arguments,
            environment: choices.environment,
            passing: [.init(socket.number, as: descriptor)]
        )
        guard let process else { throw SystemCallError("posix_spawn") }
        // A zombie would stay for as long as this program runs, and tests of Swift Testing that wait for a process of their own
        // (`processExitsWith`) wait forever beside one. Without a thread left, it stays.
        _ = startThread("whorl.child") { while waitpid(process, nil, 0) < 0, errno == EINTR {} }
        return process
    }
}
