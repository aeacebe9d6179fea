// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Sends refused clients the reason for the refusal, at a limited rate.
///
/// A client can leave the message unread as long as it likes, and its memory is charged to this service
/// (``ClientMemory``). This costs the client only a refused connection, of which it can open any number. So if there
/// are too many, most clients are disconnected without being sent a reason.
final class Refusals: Sendable {
    private struct State {
        var left: Double
        var last = ContinuousClock.now
    }

    private let most: Double
    private let perSecond: Double
    private let state: Mutex<State>

    /// Creates a limit that allows a number of refusals in a row, and further ones each second.
    init(most: Int, perSecond: Int = 16) {
        self.most = Double(most)
        self.perSecond = Double(perSecond)
        state = Mutex(State(left: Double(most)))
    }

    /// Sends a refusal without waiting.
    ///
    /// If the peer cannot receive it immediately, the refusal is dropped.
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
