// SPDX-License-Identifier: Apache-2.0

package import WhorlSecretMemory
package import WhorlService

/// Somebody at the prompt: the finger is laid on by the reader's script, the passcode is typed here.
package struct Person: PromptPresenter {
    package static let passcode = "1234"

    package let showing: Showing

    /// What the reader of this person's prompts does.
    var reader: String { showing == .passcode ? "mock:then=wait" : "mock:then=match" }

    package var isInteractive: Bool { get async { true } }
    package var takesPasscode: Bool { get async { showing != .finger } }

    /// A prompt for a finger alone is cancelled by a person who gives none.
    package func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        if showing == .passcode, prompt.parts == .finger { return .cancel }
        if showing == .passcode || !prompt.parts.contains(.finger) { type(entry) }
        for await update in entry.updates {
            if case .fingerEnded = update { type(entry) }
        }
        return nil
    }

    private func type(_ entry: PromptEntry) { entry.submit(Self.secret(Self.passcode)) }

    package static func secret(_ text: String) -> SecretBytes {
        SecretBytes(copying: Array(text.utf8).span.bytes)
    }
}
