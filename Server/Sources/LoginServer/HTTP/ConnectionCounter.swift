// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import RelyingParty
internal import Synchronization

/// Counts the connections of each address, so that one client cannot use all of them.
final class ConnectionCounter: Sendable {
    private let most: Int
    private let isExempt: @Sendable (ClientAddress) -> Bool
    private let state = Mutex(State())

    private struct State {
        var counts: [String: Int] = [:]
        var open = 0
        var refused = 0
    }

    /// Creates a counter.
    ///
    /// - Parameters:
    ///   - most: The maximum number of connections from one address.
    ///   - isExempt: Whether an address is exempt, such as a proxy with many clients.
    init(most: Int, isExempt: @escaping @Sendable (ClientAddress) -> Bool = { _ in false }) {
        self.most = most
        self.isExempt = isExempt
    }

    /// The number of addresses with a connection.
    var addresses: Int { state.withLock { $0.counts.count } }
    /// The number of open connections, including those not counted for their address.
    var open: Int { state.withLock { $0.open } }
    /// The number of connections refused because their address had reached its limit.
    var refused: Int { state.withLock { $0.refused } }

    /// Counts a connection.
    ///
    /// - Returns: Whether this peer may have one more connection; ``leave(_:)`` removes it from the count.
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

    /// Returns the network that a peer is counted for; `nil` for a peer that is not counted.
    private func network(of peer: SocketAddress?) -> String? {
        guard let address = peer.flatMap(ClientAddress.init), !isExempt(address) else { return nil }
        return address.network
    }
}
