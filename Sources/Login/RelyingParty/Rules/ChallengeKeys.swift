// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// The seal of challenges with the store's key, which is read now and then.
final class ChallengeKeys: Sendable {
    /// The time after which the key is read again, in seconds.
    private static let age = 60

    private struct State {
        let seal: ChallengeSeal
        let readAt: Int
    }

    private let state = Mutex<State?>(nil)

    /// Returns the seal for a new challenge.
    func seal(
        at now: Int,
        from store: any RelyingPartyStore
    ) async throws(RelyingPartyError) -> ChallengeSeal {
        // A clock that was set back must not keep an old key in use.
        let state = state.withLock { $0 }
        if let state, (state.readAt..<state.readAt + Self.age).contains(now) { return state.seal }
        return try await read(at: now, from: store)
    }

    /// Returns the nonce of a challenge that was issued for these terms; `nil` for any other bytes.
    ///
    /// If the seal is wrong, another instance may know a newer key. The store is read at most about once a second: any
    /// client can send a wrong seal.
    func nonce(
        of challenge: Data,
        for terms: ChallengeSeal.Terms,
        at now: Int,
        from store: any RelyingPartyStore
    ) async throws(RelyingPartyError) -> Nonce? {
        if let nonce = try await seal(at: now, from: store).nonce(of: challenge, for: terms) { return nonce }
        guard state.withLock({ $0?.readAt != now }) else { return nil }
        return try await read(at: now, from: store).nonce(of: challenge, for: terms)
    }

    private func read(
        at now: Int,
        from store: any RelyingPartyStore
    ) async throws(RelyingPartyError) -> ChallengeSeal {
        guard let seal = ChallengeSeal(key: try await store.challengeKey()) else {
            throw RelyingPartyError(.store, cause: "the key of challenges is damaged")
        }
        state.withLock { $0 = State(seal: seal, readAt: now) }
        return seal
    }
}
