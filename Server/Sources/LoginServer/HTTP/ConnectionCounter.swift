// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import RelyingParty
internal import Synchronization

/// A counter of the connections of each address, so that one stranger cannot take all of them.
final class ConnectionCounter: Sendable {
    private let most: Int
    private let isExempt: @Sendable (ClientAddress) -> Bool
    private let counts = Mutex<[String: Int]>([:])

    /// - Parameters:
    ///   - most: The maximum number of connections from one address.
    ///   - isExempt: Whether an address may have more, such as a proxy with many clients.
    init(most: Int, isExempt: @escaping @Sendable (ClientAddress) -> Bool = { _ in false }) {
        self.most = most
        self.isExempt = isExempt
    }

    /// The number of addresses that have a connection.
    var addresses: Int { counts.withLock { $0.count } }

    /// Adds a connection to the count.
    ///
    /// - Returns: Whether this peer may have one more connection; a counted connection is removed by ``leave(_:)``.
    func enter(_ peer: SocketAddress?) -> Bool {
        guard let network = network(of: peer) else { return true }
        return counts.withLock { counts in
            guard counts[network, default: 0] < most else { return false }
            counts[network, default: 0] += 1
            return true
        }
    }

    /// Removes a connection that was counted.
    func leave(_ peer: SocketAddress?) {
        guard let network = network(of: peer) else { return }
        counts.withLock { counts in
            guard let count = counts[network] else { return }
            counts[network] = count > 1 ? count - 1 : nil
        }
    }

    /// Returns the network that a peer is counted in; `nil` for a peer that is not counted.
    private func network(of peer: SocketAddress?) -> String? {
        guard let address = peer.flatMap(ClientAddress.init), !isExempt(address) else { return nil }
        return address.network
    }
}
