// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Testing

@testable import WhorlTerminalPrompt
import WhorlService

private let bare = TerminalStyle(columns: 60, redraws: true, colors: false, ascii: false)

private func prompt(_ parts: Prompt.Parts = [.finger, .passcode], fallback: String? = "Use Password…")
    -> Prompt
{
    Prompt(
        title: "vault-app",
        reason: "unlock the vault",
        purpose: .yes,
        cancelTitle: "Cancel",
        fallbackTitle: fallback,
        readerKind: .hardware,
        scanType: .press,
        parts: parts
    )
}

private func state(_ prompt: Prompt = prompt(), after changes: PromptChange...) -> PromptState {
    var state = PromptState(prompt)
    for change in changes { state.apply(change) }
    return state
}

struct PasscodePromptTests {
    @Test func `it begins as the finger's prompt, and typing opens the line`() {
        #expect(
            state(after: .told(.scan(.touch))).lines(bare) == [
                "vault-app", "  unlock the vault", "  Confirms your identity. Unlocks nothing.",
                "  Touch the reader.",
                "  [Esc] Cancel   [Tab] Use Password…",
            ]
        )
        for change in [PromptChange.opened, .typed(0)] {
            #expect(
                state(after: .told(.scan(.touch)), change).lines(bare)[3...] == [
                    "  Touch the reader.", "  Passcode: ", "  [Esc] Cancel",
                ]
            )
        }
        #expect(state(after: .typed(3)).lines(bare)[4] == "  Passcode: •••")
    }

    @Test func `a finger's hint and a passcode's verdict stand side by side`() {
        let both = state(
            after: .told(.scan(.touch)),
            .told(.noMatch(remaining: 2)),
            .told(.checking),
            .told(.wrongPasscode(triesLeft: 4)),
            .told(.scan(.touch))
        )
        #expect(
            both.lines(bare)[3...] == [
                "  Touch the reader.", "  Not recognized. 2 tries left.", "  Passcode: ",
                "  Wrong passcode. 4 tries left before a delay.", "  [Esc] Cancel",
            ]
        )
    }

    @Test(arguments: [
        (PromptUpdate.wrongPasscode(triesLeft: nil), "Wrong passcode."),
        (.wrongPasscode(triesLeft: 1), "Wrong passcode. 1 try left before a delay."),
        (.wrongPasscode(triesLeft: 0), "Wrong passcode. Wait before you try again."),
        (.throttled(for: .seconds(300)), "Too many wrong passcodes. Wait 5 minutes."),
    ])
    func `a verdict says how it goes on`(_ update: PromptUpdate, _ text: String) {
        #expect(state(after: .told(.checking), .told(update)).lines(bare).contains("  " + text))
        #expect(state().line(for: .told(update), .plain) == text)
    }

    @Test func `when no finger is asked for any more the line opens, and says why`() {
        for fallback in ["Use Password…", nil] {
            let ended = state(prompt(fallback: fallback), after: .told(.fingerEnded("Locked.\u{1B}[2J")))
            #expect(ended.lines(bare)[3...] == ["  Locked.[2J", "  Passcode: ", "  [Esc] Cancel"])
        }
    }

    @Test func `without a fallback title the line is not offered while a finger is asked for`() {
        #expect(state(prompt(fallback: nil)).lines(bare).last == "  [Esc] Cancel")
    }

    @Test func `where only the passcode is asked for there is no word of a finger`() {
        #expect(
            state(prompt(.passcode, fallback: nil)).lines(bare) == [
                "vault-app", "  unlock the vault", "  Confirms your identity. Unlocks nothing.",
                "  Passcode: ", "  [Esc] Cancel",
            ]
        )
    }

    @Test func `the end takes the line and its dots away`() {
        for (update, text) in [
            (PromptUpdate.verified, "✓ Passcode correct."),
            (.matched(.leftThumb), "✓ Matched: left thumb."), (.ended("Nothing came."), "✗ Nothing came."),
        ] {
            let ended = state(after: .typed(9), .told(update), .typed(3))
            #expect(
                ended.lines(bare) == [
                    "vault-app", "  unlock the vault", "  Confirms your identity. Unlocks nothing.",
                    "  " + text,
                ]
            )
        }
    }

    @Test(arguments: [20, 40, 79])
    func `no line is wider than the terminal, however much is typed`(columns: Int) {
        let style = TerminalStyle(columns: columns, redraws: true, colors: false, ascii: true)
        let wide = String(repeating: "W", count: 300)
        let long = state(
            prompt(fallback: wide),
            after: .typed(1024),
            .refused(wide),
            .typed(1024),
            .told(.fingerEnded(wide))
        )
        #expect(long.lines(style).allSatisfy { TerminalText.width(of: $0) <= columns })
        #expect(long.lines(style).contains { $0.hasPrefix("  Passcode: **") })
    }

    @Test func `where nothing is drawn again what is typed leaves no trace`() {
        let plain = TerminalStyle.plain
        #expect(state().line(for: .typed(5), plain) == nil)
        #expect(state().line(for: .told(.checking), plain) == nil)
        #expect(state().line(for: .opened, plain) == "Enter the passcode.")
        #expect(
            state(prompt(.passcode, fallback: nil)).opening(plain) == [
                "vault-app: unlock the vault", "Confirms your identity. Unlocks nothing.",
                "Enter the passcode.",
            ]
        )
    }
}
