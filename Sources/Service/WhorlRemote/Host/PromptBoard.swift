// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// The prompts that are currently shown, keyed by IDs known only to the programs that show them.
final class PromptBoard: Sendable {
    private let prompts = Mutex<[String: WirePrompt]>([:])

    func add(_ prompt: WirePrompt) { prompts.withLock { $0[prompt.id] = prompt } }

    func remove(_ prompt: WirePrompt) { _ = prompts.withLock { $0.removeValue(forKey: prompt.id) } }

    /// Returns a prompt that a process shows.
    ///
    /// Returns `nil` for an unknown ID, a prompt shown by another user or process, and a prompt that has ended. The
    /// kernel reports which process connected, so a program that learns the ID of another program's prompt cannot
    /// answer it.
    func prompt(_ id: String, of user: PeerUser) -> WirePrompt? {
        guard let prompt = prompts.withLock({ $0[id] }) else { return nil }
        let shower = prompt.screen.answerer
        return shower.uid == user.uid && shower.pid == user.pid ? prompt : nil
    }
}

/// One prompt that another process shows.
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

    /// Handles a report that the user is typing.
    ///
    /// It counts only for a limited time after the prompt began, so that typing cannot block the reader.
    ///
    /// - Returns: Whether the time limit starts again.
    func typing(within longest: Duration) -> Bool {
        guard ContinuousClock.now - beginning < longest else { return false }
        entry.typing()
        return true
    }

    /// Records that the prompt is no longer shown; `ending` is `nil` if the program did not report how it ended.
    func end(_ ending: PromptInterface.Ended?) {
        sink.yield(ending)
        sink.finish()
    }

    /// Waits until the prompt is no longer shown.
    ///
    /// Even in a cancelled task, only ``end(_:)`` ends the wait.
    func waitForEnding() async -> PromptInterface.Ended? {
        // A separate task, because the stream of a cancelled task would end immediately.
        let ending = ending
        return await Task {
            for await word in ending { return word }
            return nil
        }.value
    }
}
