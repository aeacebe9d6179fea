// SPDX-License-Identifier: Apache-2.0

public import Authentication
internal import Synchronization
internal import WhorlSupport

/// The prompt of an evaluation on a terminal.
///
/// It shows the title, the reason, what to do, what went wrong with a presentation, and the keys: Escape for cancel, Tab
/// for the fallback. ^C stays SIGINT. Every other key is a passcode's, where one is asked for: typing begins it, Enter
/// submits it, Backspace, ^W and ^U take the last character, the last word and all of it away. On a terminal it draws
/// itself again in place; elsewhere it writes a line for each update, without escapes and without keys.
///
/// Nothing that comes from outside reaches the terminal before ``DisplayText`` has cleaned it. It decides nothing:
/// what it shows is for the eye.
public struct TerminalPrompt: PromptPresenter {
    /// Looks for the terminal, which may change: a process is put into the background.
    let here: @Sendable () -> Terminal
    let environment: [String: String]

    /// A prompt on the terminal of this process: standard error where that is the terminal, else `/dev/tty`; where
    /// there is none, lines on standard error.
    public init() {
        self.init(environment: terminalEnvironment(), on: Terminal.controlling)
    }

    /// A prompt on a terminal of the caller's choice.
    package init(environment: [String: String], on terminal: @escaping @Sendable () -> Terminal) {
        here = terminal
        self.environment = environment
    }

    /// A prompt on standard error only, for programs that say so in their manual.
    public static func onStandardError() -> TerminalPrompt {
        TerminalPrompt(environment: terminalEnvironment(), on: Terminal.standardError)
    }

    /// Whether the prompt goes to a terminal and this process is in the terminal's foreground.
    public var isInteractive: Bool {
        get async { here().isInteractive }
    }

    /// Shows the prompt until `updates` ends, a key ends it, or the task is cancelled.
    public func show(_ prompt: Prompt, updates: AsyncStream<PromptUpdate>) async -> PromptAction? {
        let terminal = here()
        guard let input = terminal.input, let mode = TerminalMode(input) else {
            await display(prompt, updates, on: terminal)
            return nil
        }
        return await withKeys(prompt, updates, on: terminal, input, mode)
    }

    private func withKeys(
        _ prompt: Prompt,
        _ updates: AsyncStream<PromptUpdate>,
        on terminal: Terminal,
        _ input: CInt,
        _ mode: consuming TerminalMode
    ) async -> PromptAction? {
        guard let reader = KeyReader(input) else {
            await display(prompt, updates, on: terminal)
            return nil
        }
        let keys = reader.keys
        let pressed = Pressed()
        let board = Board(PromptState(prompt), terminal, environment)
        let action = await withTaskGroup(of: End.self) { group in
            group.addTask { .display(await Self.display(updates, on: board, pressed)) }
            group.addTask { .key(await Self.action(keys, board, hasFallback: prompt.fallbackTitle != nil)) }
            var action: PromptAction?
            for await end in group {
                switch end {
                case .display:
                    group.cancelAll()
                case .key(let key):
                    // Without a key the terminal went away, or the display ended first: the display goes on or is over.
                    guard let key else { continue }
                    action = key
                    pressed.action.withLock { $0 = key }
                    group.cancelAll()
                }
            }
            return action
        }
        withExtendedLifetime(reader) {}
        _ = consume mode
        return action
    }

    private enum End: Sendable {
        case display(Void)
        case key(PromptAction?)
    }

    private static func action(
        _ keys: AsyncStream<Key>,
        _ board: Board<PromptState>,
        hasFallback: Bool
    ) async -> PromptAction? {
        for await key in keys {
            switch key {
            case .cancel: return .cancel
            case .fallback where hasFallback: return .fallback
            case .resumed: board.showAgain()
            // Nothing is typed where no passcode is asked for.
            case .fallback, .typed, .refused, .submitted: continue
            }
        }
        return nil
    }

    /// Draws each update, until they end or the task is cancelled.
    private func display(
        _ prompt: Prompt,
        _ updates: AsyncStream<PromptUpdate>,
        on terminal: Terminal
    ) async {
        await Self.display(updates, on: Board(PromptState(prompt), terminal, environment))
    }

    private static func display(
        _ updates: AsyncStream<PromptUpdate>,
        on board: Board<PromptState>,
        _ pressed: Pressed = Pressed()
    ) async {
        await board.show(updates) {
            switch pressed.action.withLock(\.self) {
            case .fallback: .ended("The other way was chosen.")
            case .cancel, nil: PromptState.interrupted
            }
        }
    }

    /// The key that ended the prompt, for what the prompt says at last.
    private final class Pressed: Sendable {
        let action = Mutex<PromptAction?>(nil)
    }
}
