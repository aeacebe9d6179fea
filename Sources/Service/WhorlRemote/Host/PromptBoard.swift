// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// The prompts that are shown now, by the ids that only those who show them know.
final class PromptBoard: Sendable {
    private let prompts = Mutex<[String: WirePrompt]>([:])

    func add(_ prompt: WirePrompt) { prompts.withLock { $0[prompt.id] = prompt } }

    func remove(_ prompt: WirePrompt) { _ = prompts.withLock { $0.removeValue(forKey: prompt.id) } }

    /// Returns a prompt that a process shows; `nil` for an id that is unknown, that another user or process shows, or of
    /// a prompt that has ended.
    ///
    /// The process is the one that connected, by the kernel's word: a program that learns the id of another's prompt
    /// cannot answer it.
    func prompt(_ id: String, of user: PeerUser) -> WirePrompt? {
        guard let prompt = prompts.withLock({ $0[id] }) else { return nil }
        let shower = prompt.screen.answerer
        return shower.uid == user.uid && shower.pid == user.pid ? prompt : nil
    }
}

/// One prompt that is shown in another process.
final class WirePrompt: Sendable {
    let id = randomID()
    let entry: PromptEntry
    let screen: any PromptScreen
    private let beginning = ContinuousClock.now
    private let over = Atomic(false)
    private let ending: AsyncStream<PromptInterface.Ended?>
    private let sink: AsyncStream<PromptInterface.Ended?>.Continuation

    init(_ entry: PromptEntry, at screen: any PromptScreen) {
        self.entry = entry
        self.screen = screen
        (ending, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Whether the engine has ended the prompt.
    var isOver: Bool { over.load(ordering: .relaxed) }

    func markOver() { over.store(true, ordering: .relaxed) }

    /// Takes the word that the person is typing, which counts for so long after the prompt began: none keeps the reader
    /// by it.
    ///
    /// - Returns: Whether the time limit begins again.
    func typing(within longest: Duration) -> Bool {
        guard ContinuousClock.now - beginning < longest else { return false }
        entry.typing()
        return true
    }

    /// Takes the word that the prompt is no longer shown; `nil` where nothing more is said.
    func end(_ ending: PromptInterface.Ended?) {
        sink.yield(ending)
        sink.finish()
    }

    /// Waits for the word; the wait ends with ``end(_:)`` alone, also in a cancelled task.
    func waitForEnding() async -> PromptInterface.Ended? {
        // A task of its own: the stream of a cancelled task would end at once.
        let ending = ending
        return await Task {
            for await word in ending { return word }
            return nil
        }.value
    }
}
