// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Sends clients the reason why they are refused, at a limited rate.
///
/// A client can keep the received message as long as it likes, and it is charged to this service (``ClientMemory``). It
/// costs the client only a refused connection, and there can be any number of those. So in a flood, most clients are
/// disconnected without a reason.
final class Refusals: Sendable {
    private struct State {
        var left: Double
        var last = ContinuousClock.now
    }

    private let most: Double
    private let perSecond: Double
    private let state: Mutex<State>

    /// Allows a number of refusals immediately, and more with each second.
    init(most: Int, perSecond: Int = 16) {
        self.most = Double(most)
        self.perSecond = Double(perSecond)
        state = Mutex(State(left: Double(most)))
    }

    /// Sends a refusal without waiting; a peer that cannot receive now gets none.
    func say(_ refusal: ServiceRefusal, on socket: Descriptor) {
        if mayTell() { Channel.say(refusal, on: socket) }
    }

    private func mayTell() -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            state.left = min(most, state.left + (now - state.last) / .seconds(1) * perSecond)
            state.last = now
            guard state.left >= 1 else { return false }
            state.left -= 1
            return true
        }
    }
}
