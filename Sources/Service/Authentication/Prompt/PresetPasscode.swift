// SPDX-License-Identifier: Apache-2.0

public import SecretMemory
import Synchronization

/// A presenter that shows what another one shows, and hands in a passcode that was known before.
///
/// It is for programs that get the passcode from elsewhere, such as an open file. The passcode is handed in once: when it
/// is not the right one, the prompt goes on with the finger alone, or ends.
public final class PresetPasscode: PromptPresenter {
    private let presenter: any PromptPresenter
    private let passcode: Mutex<SecretBox?>

    /// Hands in `passcode`, and shows the rest on `presenter`.
    public init(_ passcode: SecretBox, on presenter: any PromptPresenter) {
        self.presenter = presenter
        self.passcode = Mutex(passcode)
    }

    /// `true`: whoever gave the passcode has taken the prompt upon himself.
    public var isInteractive: Bool {
        get async { true }
    }

    /// Whether the passcode was not handed in yet.
    public var takesPasscode: Bool {
        get async { passcode.withLock { $0 != nil } }
    }

    /// Shows the finger's part.
    public func show(_ prompt: Prompt, updates: AsyncStream<PromptUpdate>) async -> PromptAction? {
        await presenter.show(prompt, updates: updates)
    }

    /// Hands the passcode in, and shows the finger's part, where there is one.
    public func show(_ prompt: Prompt, passcode entry: PasscodeEntry) async -> PromptAction? {
        if let box = takePasscode() { entry.submit(box) }
        // What was handed in is still compared.
        entry.close()
        guard prompt.parts.contains(.finger) else {
            for await _ in entry.updates {}
            return nil
        }
        return await presenter.show(prompt, updates: entry.fingerUpdates)
    }

    private func takePasscode() -> SecretBox? {
        passcode.withLock { passcode in
            defer { passcode = nil }
            return passcode
        }
    }
}
