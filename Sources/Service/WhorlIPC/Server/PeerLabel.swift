// SPDX-License-Identifier: Apache-2.0

internal import CSocket
internal import Glibc

/// The security module's label of the process that connected, such as an AppArmor profile.
package enum PeerLabel: Sendable, Hashable {
    /// The kernel keeps no labels for such sockets.
    case none
    /// The label, as it was when the process connected.
    case text(String)
    /// The label cannot be read.
    case unreadable

    /// The longest label that is read, in bytes.
    static let longest = 4096

    /// Asks the kernel about a connected socket (`SO_PEERSEC`).
    init(of socket: Descriptor) {
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        var size = socklen_t(bytes.count)
        guard getsockopt(socket.number, SOL_SOCKET, Int32(WHORL_SO_PEERSEC), &bytes, &size) == 0 else {
            self = errno == ENOPROTOOPT ? .none : .unreadable
            return
        }
        // Some modules count a zero at the end, and some do not.
        let text = String(validating: bytes.prefix(Int(size)).prefix { $0 != 0 }, as: UTF8.self)
        self = text.map { .text($0) } ?? .unreadable
    }
}
