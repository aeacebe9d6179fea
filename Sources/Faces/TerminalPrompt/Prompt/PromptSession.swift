// SPDX-License-Identifier: Apache-2.0

import WhorlService

extension Prompt {
    /// The use of typed input: ignored where no passcode is asked for, or not yet, since the program hides the fallback.
    var typing: TypedLine.Typing {
        guard parts.contains(.passcode) else { return .ignored }
        return parts.contains(.finger) && fallbackTitle == nil ? .ignored : .taken
    }

    /// Returns the use of typed input from an update on; `nil` if the update does not change it.
    func typing(after update: PromptUpdate) -> TypedLine.Typing? {
        guard parts.contains(.passcode) else { return nil }
        return switch update {
        case .fingerEnded, .wrongPasscode, .throttled: .taken
        case .passcodeEnded, .matched, .verified, .ended: .ignored
        case .scan, .noMatch, .anotherFinger, .checking: nil
        }
    }
}

/// A prompt on a terminal that sends keys: its keys, updates and drawing.
struct PromptSession: Sendable {
    private enum End: Sendable {
        case display
        case updates
        case keys(PromptAction?)
    }

    let prompt: Prompt
    let entry: PromptEntry
    let keys: KeyReader
    let board: Board<PromptState>

    func run() async -> PromptAction? {
        let (changes, sink) = AsyncStream.makeStream(of: PromptChange.self)
        return await withTaskGroup(of: End.self) { group in
            group.addTask {
                await board.show(changes)
                return .display
            }
            group.addTask {
                await passOn(sink)
                return .updates
            }
            group.addTask { .keys(await press(sink)) }
            var pressed: PromptAction?
            for await end in group {
                switch end {
                case .keys(.some(let action)):
                    pressed = action
                    sink.yield(.left(action))
                    sink.finish()
                // No key means that the terminal was closed: the updates continue.
                case .keys(nil): entry.close()
                // The display is drawn to its end before the group ends.
                case .updates: sink.finish()
                case .display: group.cancelAll()
                }
            }
            return pressed
        }
    }

    /// Passes on the updates of the engine, and adapts the use of typed input to them.
    private func passOn(_ sink: AsyncStream<PromptChange>.Continuation) async {
        for await update in entry.updates {
            if let typing = prompt.typing(after: update) { keys.take(typing) }
            sink.yield(.told(update))
        }
    }

    private func press(_ sink: AsyncStream<PromptChange>.Continuation) async -> PromptAction? {
        for await key in keys.keys {
            switch key {
            case .cancel: return .cancel
            case .resumed: board.showAgain()
            case .fallback where prompt.fallbackTitle == nil: continue
            case .fallback where !prompt.parts.contains(.passcode): return .fallback
            // The fallback is the passcode, in the same prompt.
            case .fallback: sink.yield(.opened)
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
