// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Testing

@testable import WhorlTerminalPrompt
import WhorlService

private let bare = TerminalStyle(columns: 60, redraws: true, colors: false, ascii: false)

private func prompt(
    reason: String = "unlock the vault",
    cancel: String = "Cancel",
    fallback: String? = "Enter Password",
    kind: ReaderInfo.Kind = .hardware,
    scan: ReaderInfo.ScanType = .press
) -> Prompt {
    Prompt(
        title: "vault-app",
        reason: reason,
        purpose: .yes,
        cancelTitle: cancel,
        fallbackTitle: fallback,
        readerKind: kind,
        scanType: scan
    )
}

private func state(_ prompt: Prompt, after updates: PromptUpdate...) -> PromptState {
    var state = PromptState(prompt)
    for update in updates { state.apply(.told(update)) }
    return state
}

struct PromptDrawingTests {
    @Test func `a prompt begins with title, reason and keys`() {
        #expect(
            PromptState(prompt()).lines(bare) == [
                "vault-app", "  unlock the vault", "  Confirms your identity. Unlocks nothing.",
                "  Preparing the reader…",
                "  [Esc] Cancel   [Tab] Enter Password",
            ]
        )
    }

    @Test func `a finger is asked for in the way of the reader`() {
        #expect(state(prompt(), after: .scan(.touch)).lines(bare)[3] == "  Touch the reader.")
        #expect(
            state(prompt(scan: .swipe), after: .scan(.touch)).lines(bare)[3]
                == "  Swipe your finger across the reader."
        )
    }

    @Test func `without a fallback there is one key`() {
        #expect(PromptState(prompt(fallback: nil)).lines(bare).last == "  [Esc] Cancel")
    }

    @Test func `a retry hint stays while the next touch is waited for, and goes when it comes`() {
        var prompt = state(prompt(), after: .scan(.touch), .scan(.retry(.centerFinger)), .scan(.touch))
        #expect(
            prompt.lines(bare)[3...4] == [
                "  Touch the reader.", "  Center your finger on the sensor.",
            ]
        )
        prompt.apply(.told(.scan(.finger(present: true))))
        #expect(prompt.lines(bare)[3...] == ["  Reading…", "  [Esc] Cancel   [Tab] Enter Password"])
    }

    @Test(arguments: [(2, "2 tries left."), (1, "1 try left.")])
    func `a finger that does not match says how many tries are left`(remaining: Int, text: String) {
        let prompt = state(prompt(), after: .scan(.touch), .noMatch(remaining: remaining), .scan(.touch))
        #expect(prompt.lines(bare)[4] == "  Not recognized. " + text)
    }

    @Test func `a match names the finger and takes the keys away`() {
        #expect(
            state(prompt(), after: .scan(.touch), .matched(.rightIndex)).lines(bare)
                == [
                    "vault-app", "  unlock the vault", "  Confirms your identity. Unlocks nothing.",
                    "  ✓ Matched: right index finger.",
                ]
        )
    }

    @Test func `an end without success says why, and lifting the finger does not change it`() {
        let prompt = state(
            prompt(),
            after: .ended("The finger did not match."),
            .scan(.finger(present: false))
        )
        #expect(
            prompt.lines(bare) == [
                "vault-app", "  unlock the vault", "  Confirms your identity. Unlocks nothing.",
                "  ✗ The finger did not match.",
            ]
        )
    }

    @Test func `a passcode that comes from elsewhere is not told in a prompt that asks for none`() {
        let updates: [PromptUpdate] = [
            .checking, .wrongPasscode(triesLeft: 4), .throttled(for: .seconds(60)), .passcodeEnded("None."),
        ]
        let shown = state(prompt(), after: .scan(.touch))
        for update in updates {
            #expect(state(prompt(), after: .scan(.touch), update) == shown)
            #expect(shown.line(for: .told(update), .plain) == nil)
        }
    }

    @Test func `a right passcode that comes from elsewhere ends a prompt for a finger as a success`() {
        let waiting = state(prompt(), after: .scan(.touch), .fingerEnded("Locked."))
        #expect(waiting.lines(bare)[3...] == ["  Locked.", "  [Esc] Cancel   [Tab] Enter Password"])
        let over = state(prompt(), after: .scan(.touch), .fingerEnded("Locked."), .verified)
        #expect(over.lines(bare)[3...] == ["  ✓ Passcode correct."])
        #expect(over.line(for: .told(.verified), .plain) == "Passcode correct.")
    }

    @Test(arguments: [
        (ReaderInfo.Kind.mock, "  Test reader: no real fingerprint is read."),
        (.virtual, "  Virtual reader: no real fingerprint is read."),
    ])
    func `a pretended reader is said to be one`(kind: ReaderInfo.Kind, line: String) {
        #expect(PromptState(prompt(kind: kind)).lines(bare)[3] == line)
        #expect(PromptState(prompt(kind: kind)).opening(.plain)[2] == line.dropFirst(2))
    }

    @Test func `stages are a bar`() {
        let prompt = state(prompt(), after: .scan(.stage(completed: 3, total: 5)))
        #expect(prompt.lines(bare)[3] == "  ███░░ 3/5")
        #expect(
            prompt.lines(TerminalStyle(columns: 60, redraws: true, colors: false, ascii: true))[3]
                == "  ###.. 3/5"
        )
    }

    @Test func `colors wrap texts and change nothing else`() {
        let colors = TerminalStyle(columns: 60, redraws: true, colors: true, ascii: false)
        #expect(
            state(prompt(), after: .scan(.touch)).lines(colors) == [
                "\u{1B}[1mvault-app\u{1B}[0m", "  unlock the vault",
                "  Confirms your identity. Unlocks nothing.", "  \u{1B}[1mTouch the reader.\u{1B}[0m",
                "  \u{1B}[1m[Esc]\u{1B}[0m Cancel   \u{1B}[1m[Tab]\u{1B}[0m Enter Password",
            ]
        )
    }

    @Test(arguments: [20, 40, 60, 79])
    func `no line is wider than the terminal, whatever is written on the keys`(columns: Int) {
        let wide = String(repeating: "指👍W", count: 300)
        let style = TerminalStyle(columns: columns, redraws: true, colors: false, ascii: false)
        var prompt = state(
            prompt(reason: wide, cancel: wide, fallback: wide, kind: .virtual),
            after: .scan(.retry(.tooShort))
        )
        #expect(prompt.lines(style).allSatisfy { TerminalText.width(of: $0) <= columns })
        prompt.apply(.told(.ended(wide)))
        #expect(prompt.lines(style).allSatisfy { TerminalText.width(of: $0) <= columns })
    }

    @Test(arguments: [20, 40, 80])
    func `a long reason is shown to its end, with whole words, on more lines`(columns: Int) {
        let reason =
            "transfer 12,000.00 EUR from account DE00 to the account of Example Trading Limited, IE00 7777"
        let style = TerminalStyle(columns: columns, redraws: true, colors: false, ascii: false)
        let shown = prompt(reason: reason)
        let purpose = TerminalText.lines(shown.purposeLine, columns: columns - 2, ascii: false)
        let lines = PromptState(shown).lines(style).dropFirst().dropLast(2)
        #expect(lines.allSatisfy { $0.hasPrefix("  ") && TerminalText.width(of: $0) <= columns })
        #expect(lines.map { $0.dropFirst(2) }.dropLast(purpose.count).joined(separator: " ") == reason)
        #expect(lines.map { String($0.dropFirst(2)) }.suffix(purpose.count) == purpose[...])
        let opening = PromptState(shown).opening(style).joined(separator: " ")
        #expect(
            opening.split(separator: " ").joined(separator: " ")
                == "vault-app: \(reason) \(purpose.joined(separator: " "))"
        )
    }

    @Test func `of a reason without an end, the beginning and the end are shown`() {
        let reason = "pay \(String(repeating: "and so on ", count: 200))to mallory"
        let lines = PromptState(prompt(reason: reason)).lines(bare)
        #expect(lines.count < 14 && lines[1].hasPrefix("  pay and so on"))
        #expect(lines.contains("  …") && lines.contains { $0.hasSuffix("to mallory") })
    }

    @Test func `without a terminal each update is a line`() {
        let plain = TerminalStyle.plain
        var prompt = PromptState(prompt())
        var lines = prompt.opening(plain)
        let updates: [PromptUpdate] = [
            .scan(.touch), .scan(.finger(present: true)), .scan(.retry(.general)), .scan(.touch),
            .noMatch(remaining: 2), .scan(.touch), .matched(.leftThumb),
        ]
        for update in updates {
            prompt.apply(.told(update))
            lines += prompt.line(for: .told(update), plain).map { [$0] } ?? []
        }
        #expect(
            lines == [
                "vault-app: unlock the vault", "Confirms your identity. Unlocks nothing.",
                "Touch the reader.",
                "Could not read the finger. Try again.",
                "Touch the reader.", "Not recognized. 2 tries left.", "Touch the reader.",
                "Matched: left thumb.",
            ]
        )
    }
}

struct ScanActivityTests {
    private let start = ScanActivityState(
        title: "Enroll the right index finger",
        readerName: "Reader\u{1B}[31m of somebody",
        readerKind: .hardware,
        scanType: .press
    )

    private func state(after updates: ScanActivityUpdate...) -> ScanActivityState {
        var state = start
        for update in updates { state.apply(update) }
        return state
    }

    @Test func `a guided enrollment names the part of the finger, and says when it was shown before`() {
        let shown = state(
            after: .area(.tip),
            .scan(.touch),
            .scan(.alike),
            .scan(.stage(completed: 2, total: 5)),
            .area(.left),
            .scan(.touch)
        )
        #expect(
            shown.lines(bare).suffix(3) == [
                "  ██░░░ 2/5", "  Touch with the left side of your fingertip.",
                "  " + FingerArea.alikeHint,
            ]
        )
        var next = shown
        next.apply(.scan(.stage(completed: 3, total: 5)))
        #expect(!next.lines(bare).contains("  " + FingerArea.alikeHint))
        next.apply(.part("Touch once more to confirm."))
        next.apply(.scan(.touch))
        #expect(next.lines(bare).last == "  Touch the reader.")
    }

    @Test func `an enrollment shows its stages`() {
        #expect(
            state(
                after: .scan(.touch),
                .scan(.stage(completed: 2, total: 5)),
                .scan(.retry(.tooFast)),
                .scan(.touch)
            )
            .lines(bare) == [
                "Enroll the right index finger", "  Reader[31m of somebody", "  ██░░░ 2/5",
                "  Touch the reader.",
                "  Too fast. Swipe more slowly.",
            ]
        )
    }

    @Test func `a part of the work is named until it ends`() {
        let checking = state(
            after: .scan(.stage(completed: 5, total: 5)),
            .part("Touch once more to confirm."),
            .scan(.touch)
        )
        #expect(
            checking.lines(bare)[2...] == [
                "  █████ 5/5", "  Touch once more to confirm.", "  Touch the reader.",
            ]
        )
    }

    @Test func `the end stays, and is the last word`() {
        let end = state(after: .finished("Enrolled."), .failed("No."), .scan(.touch))
        #expect(end.lines(bare).last == "  ✓ Enrolled.")
    }

    @Test func `without a terminal it is lines`() {
        #expect(start.opening(.plain) == ["Enroll the right index finger (Reader[31m of somebody)"])
        #expect(start.line(for: .scan(.stage(completed: 1, total: 5)), .plain) == "1 of 5.")
        #expect(start.line(for: .failed("Bad\u{07} end."), .plain) == "Bad end.")
    }
}
