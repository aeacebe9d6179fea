// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import RelyingParty
internal import Synchronization

/// Counts the connections of each address, so that one stranger does not take all that there may be.
final class ConnectionCounter: Sendable {
    private let most: Int
    private let isExempt: @Sendable (ClientAddress) -> Bool
    private let counts = Mutex<[String: Int]>([:])

    /// - Parameters:
    ///   - most: How many one address may have.
    ///   - isExempt: Whether an address may have more, as a proxy that many stand behind.
    init(most: Int, isExempt: @escaping @Sendable (ClientAddress) -> Bool = { _ in false }) {
        self.most = most
        self.isExempt = isExempt
    }

    /// How many addresses have a connection.
    var addresses: Int { counts.withLock { $0.count } }

    /// Counts a connection in.
    ///
    /// - Returns: Whether there may be one more of this peer; one that is counted in is counted out by ``leave(_:)``.
    func enter(_ peer: SocketAddress?) -> Bool {
        guard let network = network(of: peer) else { return true }
        return counts.withLock { counts in
            guard counts[network, default: 0] < most else { return false }
            counts[network, default: 0] += 1
            return true
        }
    }

    /// Counts a connection out that was counted in.
    func leave(_ peer: SocketAddress?) {
        guard let network = network(of: peer) else { return }
        counts.withLock { counts in
            guard let count = counts[network] else { return }
            counts[network] = count > 1 ? count - 1 : nil
        }
    }

    /// Whom a peer counts with; `nil` for one that is not counted.
    private func network(of peer: SocketAddress?) -> String? {
        guard let address = peer.flatMap(ClientAddress.init), !isExempt(address) else { return nil }
        return address.network
    }
}
