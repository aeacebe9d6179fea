// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import LocalAuthenticationPrompts
import Testing

/// The prompt of a program with a screen of its own.
struct KioskPrompt: PromptPresenter {
    let screen: KioskScreen

    var isInteractive: Bool { true }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        await screen.show("\(prompt.reason) [\(prompt.cancelTitle)]")
        for await update in entry.updates {
            if let message = prompt.message(for: update) { await screen.show(message) }
        }
        return nil
    }
}

/// Where a test looks at what a person would see.
actor KioskScreen {
    private(set) var lines: [String] = []
    func show(_ line: String) { lines.append(line) }
}

struct PresenterExampleTests {
    @Test func `a context's own presenter shows its prompts, and no other one does`() async throws {
        let terminal = TestPresenter()
        let context = LAContext.on(Machine(), terminal)
        let screen = KioskScreen()
        context.promptPresenter = KioskPrompt(screen: screen)
        context.localizedCancelTitle = "Back"
        try await context.evaluatePolicy(
            .deviceOwnerAuthenticationWithBiometrics,
            localizedReason: "open the locker"
        )
        let lines = await screen.lines
        #expect(
            lines == ["open the locker [Back]", "Touch the reader.", "Matched: right index finger."]
        )
        #expect(terminal.prompts.isEmpty)
    }

    @Test func `Docs/Porting.md shows the presenter of this test`() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let source = try String(contentsOf: here, encoding: .utf8)
        let start = try #require(source.range(of: "struct KioskPrompt"))
        let end = try #require(source.range(of: "\n}\n", range: start.lowerBound..<source.endIndex))
        let shown = try String(contentsOf: root.appending(path: "Docs/Porting.md"), encoding: .utf8)
        #expect(shown.contains("```swift\n" + source[start.lowerBound..<end.upperBound] + "```\n"))
    }

    @Test func `without one the prompt is the system's`() async throws {
        let terminal = TestPresenter()
        let context = LAContext.on(Machine(), terminal)
        #expect(context.promptPresenter == nil)
        context.promptPresenter = KioskPrompt(screen: KioskScreen())
        context.promptPresenter = nil
        try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "open the locker")
        #expect(terminal.prompts.count == 1)
    }

    @Test func `what a presenter returns makes no evaluation succeed`() async {
        struct Impatient: PromptPresenter {
            var isInteractive: Bool { true }
            func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? { .cancel }
        }
        let context = LAContext.on(Machine(scan: .nothing))
        context.promptPresenter = Impatient()
        #expect(await context.outcome(.deviceOwnerAuthentication) == LAError.userCancel.rawValue)
    }
}
