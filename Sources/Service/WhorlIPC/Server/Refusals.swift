// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Tells clients why they are refused, so many of them a second and no more.
///
/// A client keeps what it was told for as long as it likes, and it counts as this service's memory (``ClientMemory``). It
/// costs the client a connection that was refused, of which it may have any number. So in a flood most are hung up on without
/// a reason.
final class Refusals: Sendable {
    private struct State {
        var left: Double
        var last = ContinuousClock.now
    }

    private let most: Double
    private let perSecond: Double
    private let state: Mutex<State>

    /// Allows so many at once, and so many more with each second.
    init(most: Int, perSecond: Int = 16) {
        self.most = Double(most)
        self.perSecond = Double(perSecond)
        state = Mutex(State(left: Double(most)))
    }

    /// Sends a refusal without waiting; a peer that takes nothing now is not told.
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
