// SPDX-License-Identifier: Apache-2.0

public import WhorlSecretMemory
import Synchronization

/// An object that shows the prompt of an evaluation, for example on a terminal, a desktop or a kiosk.
///
/// Programs that embed Whorl provide their own presenter. A presenter cannot make an evaluation succeed: it shows
/// updates, ends the prompt, and submits passcodes that are compared elsewhere.
public protocol PromptPresenter: Sendable {
    /// Whether a user can see the prompt; if `false`, an evaluation on real hardware fails with `notInteractive`.
    var isInteractive: Bool { get async }

    /// Whether a user can type a passcode into the prompt; `false` by default.
    ///
    /// If `false`, an evaluation accepts only a finger.
    var takesPasscode: Bool { get async }

    /// Whether the presenter submits a passcode that it already has, without showing a prompt; `false` by default.
    ///
    /// If `true` and the passcode is sufficient, only the passcode is used and the evaluation does not wait for a
    /// finger.
    var handsPasscodeIn: Bool { get async }

    /// Shows the prompt until the updates of `entry` end or its task is cancelled, and returns the user's action.
    ///
    /// If ``takesPasscode`` is `true`, the prompt may ask for the passcode (``Prompt/parts``) from the start. If it
    /// also accepts a finger but has no fallback title, the program hides the fallback: ask for the passcode only after
    /// ``PromptUpdate/fingerEnded(_:)``. Do not return ``PromptAction/fallback`` for the passcode, because that would
    /// end the evaluation.
    ///
    /// - Parameters:
    ///   - prompt: The content of the prompt.
    ///   - entry: Provides the updates to show, and accepts the passcodes that the user types.
    /// - Returns: The button that was pressed; `nil` if the updates ended first. The function must return soon after
    ///   either event.
    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction?
}

extension PromptPresenter {
    /// `false`, because this presenter does not support passcodes.
    public var takesPasscode: Bool {
        get async { false }
    }

    /// `false`, because passcodes are typed by the user, if at all.
    public var handsPasscodeIn: Bool {
        get async { false }
    }
}

/// A presenter that wraps another one and submits a passcode that is already known.
///
/// Use it in programs that get the passcode from elsewhere, such as an open file. The passcode is compared only once.
/// For anything that requires a finger, the other presenter shows the prompt.
public final class PresetPasscode: PromptPresenter {
    private let presenter: any PromptPresenter
    private let passcode: Mutex<SecretBox?>

    /// Creates a presenter that submits `passcode`, and shows everything else on `presenter`.
    public init(_ passcode: SecretBox, on presenter: any PromptPresenter) {
        self.presenter = presenter
        self.passcode = Mutex(passcode)
    }

    /// `true`, because the program that provided the passcode handles the prompt itself.
    public var isInteractive: Bool {
        get async { true }
    }

    /// Whether the passcode has not been submitted yet.
    public var takesPasscode: Bool {
        get async { passcode.withLock { $0 != nil } }
    }

    /// Whether the passcode has not been submitted yet.
    public var handsPasscodeIn: Bool {
        get async { await takesPasscode }
    }

    /// Submits the passcode if the prompt accepts only a passcode; otherwise shows the prompt.
    public func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        guard prompt.parts == .passcode else { return await presenter.show(prompt, entry) }
        let box = takePasscode()
        if let box { entry.submit(box) }
        // Keep a passcode that was not compared for a later prompt.
        defer { if !entry.isDecided { passcode.withLock { $0 = box } } }
        // A passcode that was submitted is still compared.
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
