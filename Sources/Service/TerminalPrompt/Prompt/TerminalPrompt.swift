// SPDX-License-Identifier: Apache-2.0

public import Authentication
internal import Synchronization
internal import WhorlSupport

/// The prompt of an evaluation on a terminal.
///
/// It shows the title, the reason, the instruction, problems with a presentation, and the keys: Escape for cancel, Tab
/// for the fallback. ^C stays SIGINT. If a passcode is asked for, every other key belongs to it: typing begins it,
/// Enter submits it, Backspace removes the last character, ^W the last word and ^U everything. On a terminal it redraws
/// itself in place; elsewhere it writes a line for each update, without escapes and without keys.
///
/// ``DisplayText`` cleans every text from outside before it reaches the terminal. The prompt makes no decision; it only
/// displays.
public struct TerminalPrompt: PromptPresenter {
    /// Finds the terminal each time, since it may change when the process is put into the background.
    let here: @Sendable () -> Terminal
    let environment: [String: String]

    /// Creates a prompt on the terminal of this process: standard error if that is the terminal, else `/dev/tty`;
    /// without a terminal, lines on standard error.
    public init() {
        self.init(environment: terminalEnvironment(), on: Terminal.controlling)
    }

    /// Creates a prompt on the given terminal.
    package init(environment: [String: String], on terminal: @escaping @Sendable () -> Terminal) {
        here = terminal
        self.environment = environment
    }

    /// Returns a prompt on standard error only, for programs that document this.
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
                    // No key means that the terminal was closed, or that the display ended first: the display continues
                    // or is over.
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
            // Nothing is typed, since no passcode is asked for.
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

    /// The key that ended the prompt, for its last line.
    private final class Pressed: Sendable {
        let action = Mutex<PromptAction?>(nil)
    }
}
