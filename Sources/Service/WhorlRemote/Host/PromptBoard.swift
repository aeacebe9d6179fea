// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// The prompts that callers show now, by the ids that only their callers know.
final class PromptBoard: Sendable {
    private struct Place {
        let uid: UInt32
        let prompt: WirePrompt
    }

    private let places = Mutex<[String: Place]>([:])

    func add(_ prompt: WirePrompt, of user: PeerUser) {
        places.withLock { $0[prompt.id] = Place(uid: user.uid, prompt: prompt) }
    }

    func remove(_ prompt: WirePrompt) { _ = places.withLock { $0.removeValue(forKey: prompt.id) } }

    /// Returns a prompt of the user; `nil` for an id that is unknown, another user's, or of a prompt that has ended.
    func prompt(_ id: String, of user: PeerUser) -> WirePrompt? {
        guard let place = places.withLock({ $0[id] }), place.uid == user.uid else { return nil }
        return place.prompt
    }
}

/// One prompt that a caller shows.
final class WirePrompt: Sendable {
    let id = randomID()
    let entry: PromptEntry
    private let ending: AsyncStream<PromptInterface.Ending?>
    private let sink: AsyncStream<PromptInterface.Ending?>.Continuation

    init(_ entry: PromptEntry) {
        self.entry = entry
        (ending, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Takes the caller's word that the prompt is no longer shown; `nil` where the caller says nothing more.
    func end(_ ending: PromptInterface.Ending?) {
        sink.yield(ending)
        sink.finish()
    }

    /// Waits for the caller's word; the wait ends with ``end(_:)`` alone, also in a cancelled task.
    func waitForEnding() async -> PromptInterface.Ending? {
        // A task of its own: the stream of a cancelled task would end at once.
        let ending = ending
        return await Task {
            for await word in ending { return word }
            return nil
        }.value
    }
}
