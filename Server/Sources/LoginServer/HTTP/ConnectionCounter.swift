// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import RelyingParty
internal import Synchronization

/// A counter of the connections of each address, so that one stranger cannot take all of them.
final class ConnectionCounter: Sendable {
    private let most: Int
    private let isExempt: @Sendable (ClientAddress) -> Bool
    private let state = Mutex(State())

    private struct State {
        var counts: [String: Int] = [:]
        var open = 0
        var refused = 0
    }

    /// - Parameters:
    ///   - most: The maximum number of connections from one address.
    ///   - isExempt: Whether an address may have more, such as a proxy with many clients.
    init(most: Int, isExempt: @escaping @Sendable (ClientAddress) -> Bool = { _ in false }) {
        self.most = most
        self.isExempt = isExempt
    }

    /// The number of addresses that have a connection.
    var addresses: Int { state.withLock { $0.counts.count } }
    /// The number of open connections, those that are not counted for their address too.
    var open: Int { state.withLock { $0.open } }
    /// The number of connections that were refused because their address had as many as it may have.
    var refused: Int { state.withLock { $0.refused } }

    /// Adds a connection to the count.
    ///
    /// - Returns: Whether this peer may have one more connection; a counted connection is removed by ``leave(_:)``.
    func enter(_ peer: SocketAddress?) -> Bool {
        let network = network(of: peer)
        return state.withLock { state in
            if let network {
                guard state.counts[network, default: 0] < most else {
                    state.refused += 1
                    return false
                }
                state.counts[network, default: 0] += 1
            }
            state.open += 1
            return true
        }
    }

    /// Removes a connection that was counted.
    func leave(_ peer: SocketAddress?) {
        let network = network(of: peer)
        state.withLock { state in
            state.open -= 1
            guard let network, let count = state.counts[network] else { return }
            state.counts[network] = count > 1 ? count - 1 : nil
        }
    }

    /// Returns the network that a peer is counted in; `nil` for a peer that is not counted.
    private func network(of peer: SocketAddress?) -> String? {
        guard let address = peer.flatMap(ClientAddress.init), !isExempt(address) else { return nil }
        return address.network
    }
}
