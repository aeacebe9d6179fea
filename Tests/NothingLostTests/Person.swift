// SPDX-License-Identifier: Apache-2.0

import Authentication
import SecretMemory
import WhorlService

/// Somebody at the prompt: the finger is laid on by the reader's script, the passcode is typed here.
struct Person: PromptPresenter {
    static let passcode = "1234"

    let showing: Showing

    /// What the reader of this person's prompts does.
    var reader: String { showing == .passcode ? "mock:then=wait" : "mock:then=match" }

    var isInteractive: Bool { get async { true } }
    var takesPasscode: Bool { get async { showing != .finger } }

    /// A prompt for a finger alone is cancelled by a person who gives none.
    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        if showing == .passcode, prompt.parts == .finger { return .cancel }
        if showing == .passcode || !prompt.parts.contains(.finger) { type(entry) }
        for await update in entry.updates {
            if case .fingerEnded = update { type(entry) }
        }
        return nil
    }

    private func type(_ entry: PromptEntry) { entry.submit(Self.secret(Self.passcode)) }

    static func secret(_ text: String) -> SecretBytes {
        SecretBytes(copying: Array(text.utf8).span.bytes)
    }
}
