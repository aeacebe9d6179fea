// SPDX-License-Identifier: Apache-2.0

package import WhorlService
internal import WhorlSupport

/// A prompt for an evaluation, shown in a terminal.
///
/// It shows the title, the reason, the instruction, problems with a touch, and the available keys: Escape to cancel,
/// and Tab for the fallback. ^C still sends SIGINT. If a passcode is accepted, all other keys edit the passcode: Enter
/// submits it, Backspace removes the last character, ^W the last word, and ^U all input. On a terminal, the prompt
/// redraws itself in place. Elsewhere, it writes a line for each update, does not use escape sequences, and does not
/// read keys.
///
/// ``DisplayText`` cleans all text from outside before it reaches the terminal. The prompt only displays information,
/// and does not make decisions.
package struct TerminalPrompt: PromptPresenter {
    /// A closure that finds the terminal for each prompt, because it may change when the process is moved to the
    /// background.
    let here: @Sendable () -> Terminal
    let environment: [String: String]

    /// Creates a prompt.
    ///
    /// By default, the prompt uses this process's terminal: standard error if it is the terminal, otherwise `/dev/tty`.
    /// If there is no terminal, the prompt writes lines to standard error.
    package init(
        environment: [String: String] = terminalEnvironment(),
        on terminal: @escaping @Sendable () -> Terminal = Terminal.controlling
    ) {
        here = terminal
        self.environment = environment
    }

    /// Returns a prompt that uses only standard error, for programs that document this behavior.
    package static func onStandardError() -> TerminalPrompt {
        TerminalPrompt(on: Terminal.standardError)
    }

    /// Whether the prompt is shown on a terminal with this process in its foreground.
    package var isInteractive: Bool {
        get async { here().isInteractive }
    }

    /// Whether the prompt is shown on a terminal that can send keys.
    package var takesPasscode: Bool {
        get async {
            let terminal = here()
            return terminal.isInteractive && terminal.input != nil
        }
    }

    /// Shows the prompt until its updates end, a key ends it, or the task is canceled.
    ///
    /// While a passcode is typed, it is shown as dots. Pressing Enter passes it to `entry`.
    package func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        let terminal = here()
        guard let input = terminal.input,
            let mode = TerminalMode(input, takesPasscode: prompt.parts.contains(.passcode)),
            let keys = KeyReader(input, typing: prompt.typing)
        else {
            await showWithoutKeys(prompt, entry, on: terminal)
            return nil
        }
        let board = Board(PromptState(prompt), terminal, environment)
        let action = await PromptSession(prompt: prompt, entry: entry, keys: keys, board: board).run()
        _ = consume mode
        return action
    }

    /// Shows only the fingerprint part of the prompt, because no passcode can be typed.
    private func showWithoutKeys(_ prompt: Prompt, _ entry: PromptEntry, on terminal: Terminal) async {
        entry.close()
        var ofFinger = prompt
        ofFinger.parts = .finger
        let board = Board(PromptState(ofFinger), terminal, environment)
        await board.show(entry.updates.map { PromptChange.told($0) })
    }
}

extension Prompt {
    /// The way in which typed input is used when the prompt appears.
    ///
    /// Input is ignored if the prompt does not accept a passcode, or does not accept one yet because the program hides
    /// the fallback.
    var typing: TypedLine.Typing {
        guard parts.contains(.passcode) else { return .ignored }
        return parts.contains(.finger) && fallbackTitle == nil ? .ignored : .taken
    }

    /// Returns how typed input is used after an update, or `nil` if the update does not change this.
    func typing(after update: PromptUpdate) -> TypedLine.Typing? {
        guard parts.contains(.passcode) else { return nil }
        return switch update {
        case .fingerEnded, .wrongPasscode, .throttled: .taken
        case .passcodeEnded, .matched, .verified, .ended: .ignored
        case .scan, .noMatch, .anotherFinger, .checking: nil
        }
    }
}

/// A prompt in a terminal that sends keys, together with its keys, updates and drawing.
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
                // No key means that the terminal was closed. The updates continue.
                case .keys(nil): entry.close()
                // The display is drawn completely before the group ends.
                case .updates: sink.finish()
                case .display: group.cancelAll()
                }
            }
            return pressed
        }
    }

    /// Forwards the engine's updates, and changes how typed input is used accordingly.
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
