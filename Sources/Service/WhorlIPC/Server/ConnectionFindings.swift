// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The facts that the service has determined about a connection's process, which are stored as long as the connection
/// exists.
///
/// A process can change while it is connected: for example, it can execute a program that its security module does not
/// confine. So its state at the time of connecting is used.
package final class ConnectionFindings: Sendable {
    /// The label that the process had when its connection was accepted; `none` if the socket itself has a label.
    package let label: PeerLabel
    private let kept = Mutex<(any Sendable)?>(nil)

    /// Creates findings that contain only a label.
    package init(label: PeerLabel = .none) { self.label = label }

    /// Returns a stored finding; `nil` if there is none of this type.
    package func finding<Finding: Sendable>(as type: Finding.Type) -> Finding? {
        kept.withLock { $0 as? Finding }
    }

    /// Stores a finding, replacing the previous one.
    package func keep(_ finding: some Sendable) { kept.withLock { $0 = finding } }
}

extension PeerLabel {
    /// Reads the current label of a process.
    ///
    /// Because a process ID can be reused, check afterwards that the process is still running.
    ///
    /// - Parameters:
    ///   - pid: The process ID.
    ///   - folder: The folder in which the kernel lists processes.
    package init(ofProcess pid: Int32, in folder: String = "/proc") {
        let descriptor = open("\(folder)/\(pid)/attr/current", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            self = errno == ENOENT ? .none : .unreadable
            return
        }
        defer { close(descriptor) }
        // The kernel returns a label in one piece, or an error.
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else {
            self = errno == EINVAL || errno == EOPNOTSUPP ? .none : .unreadable
            return
        }
        guard count < bytes.count else {
            self = .unreadable
            return
        }
        var line = bytes.prefix(count).prefix { $0 != 0 }
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        self = String(validating: line, as: UTF8.self).map { .text($0) } ?? .unreadable
    }
}
