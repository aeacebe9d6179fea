// SPDX-License-Identifier: Apache-2.0

public import Authentication
internal import Synchronization

extension TerminalPrompt {
    /// Whether the prompt goes to a terminal that can send keys.
    public var takesPasscode: Bool {
        get async {
            let terminal = here()
            return terminal.isInteractive && terminal.input != nil
        }
    }

    /// Shows the prompt until its updates end, Escape ends it, or the task is cancelled.
    ///
    /// The input is shown as dots; Enter passes it to `passcode`.
    public func show(_ prompt: Prompt, passcode entry: PasscodeEntry) async -> PromptAction? {
        let terminal = here()
        guard let input = terminal.input, let mode = TerminalMode(input, takesPasscode: true),
            let keys = KeyReader(input, typing: prompt.typing)
        else {
            entry.close()
            return await show(prompt, updates: entry.fingerUpdates)
        }
        let action = await PasscodeSession(
            entry: entry,
            keys: keys,
            board: Board(PasscodePromptState(prompt), terminal, environment)
        ).run(hasFallback: prompt.fallbackTitle != nil)
        _ = consume mode
        return action
    }
}

extension Prompt {
    /// The use of typed input: ignored while a finger is asked for, if the program hides the fallback.
    var typing: TypedLine.Typing {
        parts.contains(.finger) && fallbackTitle == nil ? .ignored : .taken
    }
}

/// A prompt on a terminal that accepts the passcode: its keys, updates and drawing.
private struct PasscodeSession: Sendable {
    private enum End: Sendable {
        case display
        case updates
        case keys(PromptAction?)
    }

    let entry: PasscodeEntry
    let keys: KeyReader
    let board: Board<PasscodePromptState>

    func run(hasFallback: Bool) async -> PromptAction? {
        let (changes, sink) = AsyncStream.makeStream(of: PasscodePromptChange.self)
        return await withTaskGroup(of: End.self) { group in
            group.addTask {
                await board.show(changes)
                return .display
            }
            group.addTask {
                await passOn(sink)
                return .updates
            }
            group.addTask { .keys(await press(sink, hasFallback)) }
            for await end in group {
                switch end {
                case .keys(.some(let action)):
                    group.cancelAll()
                    return action
                // No key means that the terminal was closed: the updates continue.
                case .keys(nil): entry.close()
                // The display is drawn to its end before the group ends.
                case .updates: sink.finish()
                case .display:
                    group.cancelAll()
                    return nil
                }
            }
            return nil
        }
    }

    /// Passes on the updates of the engine, and adapts the use of typed input to them.
    private func passOn(_ sink: AsyncStream<PasscodePromptChange>.Continuation) async {
        for await update in entry.updates {
            switch update {
            case .fingerEnded, .wrongPasscode, .throttled: keys.take(.taken)
            case .passcodeEnded, .matched, .verified, .ended: keys.take(.ignored)
            case .scan, .noMatch, .checking: break
            }
            sink.yield(.told(update))
        }
    }

    private func press(
        _ sink: AsyncStream<PasscodePromptChange>.Continuation,
        _ hasFallback: Bool
    ) async -> PromptAction? {
        for await key in keys.keys {
            switch key {
            case .cancel: return .cancel
            case .resumed: board.showAgain()
            case .fallback: if hasFallback { sink.yield(.opened) }
            case .typed(let characters):
                entry.typing()
                sink.yield(.typed(characters))
            case .refused(let fault): sink.yield(.refused(fault.text))
            case .submitted(let box):
                sink.yield(.typed(0))
                if !entry.submit(box) { keys.take(.taken) }
            }
        }
        return nil
    }
}
