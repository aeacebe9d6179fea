// SPDX-License-Identifier: Apache-2.0

/// A presenter that shows the prompt of an evaluation: on a terminal, a desktop, a kiosk.
///
/// Programs that embed Whorl provide their own presenter. Nothing that a presenter does makes an evaluation succeed: it
/// shows updates, ends the prompt, and hands in passcodes that are compared elsewhere.
public protocol PromptPresenter: Sendable {
    /// Whether a person can see the prompt. If not, an evaluation on real hardware ends with `notInteractive`.
    var isInteractive: Bool { get async }

    /// Whether a person can type a passcode into the prompt; `false` by default.
    ///
    /// If `false`, an evaluation asks for a finger alone.
    var takesPasscode: Bool { get async }

    /// Shows the prompt until the updates of `entry` end or its task is cancelled, and returns the person's action.
    ///
    /// Where ``takesPasscode`` is `true`, the prompt may ask for the passcode (``Prompt/parts``), from the beginning. If
    /// it has a finger part and no fallback title, the passcode is asked for only after
    /// ``PromptUpdate/fingerEnded(_:)``, since the program hides the fallback then. Do not return
    /// ``PromptAction/fallback`` for the passcode: that would end the evaluation.
    ///
    /// - Parameters:
    ///   - prompt: The content of the prompt.
    ///   - entry: The updates to show; it takes the passcodes that are typed.
    /// - Returns: The button that was pressed; `nil` when the updates ended first. The function must return soon after
    ///   either end.
    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction?
}

extension PromptPresenter {
    /// `false`, since this presenter does not support passcodes.
    public var takesPasscode: Bool {
        get async { false }
    }
}
