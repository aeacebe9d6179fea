// SPDX-License-Identifier: Apache-2.0

public import WhorlSecretMemory
import Synchronization

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

    /// Whether the presenter hands in a passcode that it has, and shows nothing for it; `false` by default.
    ///
    /// If `true`, what finger and passcode can both meet is met by that passcode alone: no finger is waited for behind it.
    var handsPasscodeIn: Bool { get async }

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

    /// `false`, since a person types the passcode, if anyone does.
    public var handsPasscodeIn: Bool {
        get async { false }
    }
}

/// A presenter that shows the same as another one, and hands in a passcode that was known before.
///
/// It is for programs that get the passcode from elsewhere, such as an open file. The passcode gets one verdict. What only
/// a finger can open is asked for at the other presenter.
public final class PresetPasscode: PromptPresenter {
    private let presenter: any PromptPresenter
    private let passcode: Mutex<SecretBox?>

    /// Makes a presenter that hands in `passcode`, and shows the rest on `presenter`.
    public init(_ passcode: SecretBox, on presenter: any PromptPresenter) {
        self.presenter = presenter
        self.passcode = Mutex(passcode)
    }

    /// `true`, since the program that gave the passcode answers the prompt itself.
    public var isInteractive: Bool {
        get async { true }
    }

    /// Whether the passcode is still to be handed in.
    public var takesPasscode: Bool {
        get async { passcode.withLock { $0 != nil } }
    }

    /// Whether the passcode is still to be handed in.
    public var handsPasscodeIn: Bool {
        get async { await takesPasscode }
    }

    /// Hands the passcode in where the prompt asks for it alone; shows any other prompt.
    public func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        guard prompt.parts == .passcode else { return await presenter.show(prompt, entry) }
        let box = takePasscode()
        if let box { entry.submit(box) }
        // A later prompt gets what this one has not compared.
        defer { if !entry.isDecided { passcode.withLock { $0 = box } } }
        // A passcode that was handed in is still compared.
        entry.close()
        for await _ in entry.updates {}
        return nil
    }

    private func takePasscode() -> SecretBox? {
        passcode.withLock { passcode in
            defer { passcode = nil }
            return passcode
        }
    }
}
