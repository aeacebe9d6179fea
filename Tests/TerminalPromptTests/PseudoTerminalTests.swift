// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Glibc
import Synchronization
import Testing

@testable import WhorlTerminalPrompt
import WhorlService

/// The prompt on a real terminal device.
///
/// One at a time: a process has one terminal to take keys from.
@Suite(.serialized)
struct PseudoTerminalTests {
    private let pty: PseudoTerminal
    private let environment = ["TERM": "xterm", "LANG": "C.UTF-8"]

    init() throws { pty = try PseudoTerminal() }

    private func prompt(reason: String = "unlock the vault", fallback: String? = "Password") -> Prompt {
        Prompt(
            title: "vault-app",
            reason: reason,
            purpose: .yes,
            cancelTitle: "Cancel",
            fallbackTitle: fallback,
            readerKind: .hardware,
            scanType: .press
        )
    }

    /// Shows the prompt, runs `during` once it waits for a finger, and gives the action and all that was written.
    private func run(
        _ prompt: Prompt,
        during: @escaping @Sendable (PseudoTerminal, PromptEntry) -> Void,
        until end: String
    ) async -> (action: PromptAction?, output: String) {
        let entry = PromptEntry(.finger)
        let descriptor = pty.slave
        let presenter = TerminalPrompt(environment: environment) { Terminal(testing: descriptor) }
        async let shown = presenter.show(prompt, entry)
        entry.send(.scan(.touch))
        let output = await blocking { [pty] in
            let first = pty.output(until: "Touch the reader.")
            during(pty, entry)
            return first + pty.output(until: end)
        }
        return (await shown, output)
    }

    /// Runs what waits on a thread of its own.
    private func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in
            let thread = DetachedThread { done.resume(returning: body()) }
            thread.start()
        }
    }

    /// The control characters and sequences in what came to the terminal, each once.
    private func commands(in output: String) -> Set<String> {
        var found: Set<String> = []
        var rest = Substring(output)
        while let start = rest.firstIndex(where: {
            $0.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }) {
            rest = rest[start...]
            if rest.hasPrefix("\u{1B}["), let end = rest.dropFirst(2).firstIndex(where: { $0.isLetter }) {
                found.insert("CSI " + rest[end...end])
                rest = rest[rest.index(after: end)...]
            } else {
                found.insert(rest.prefix(1).debugDescription)
                rest = rest.dropFirst()
            }
        }
        return found
    }

    @Test func `what is typed after the end is left to whoever reads next`() throws {
        guard let mode = TerminalMode(pty.slave) else {
            Issue.record("the terminal is not free")
            return
        }
        #expect(!pty.isOrdinary)
        for round in 0..<2000 {
            take(one: pty)
            pty.type("b")
            var all: [UInt8] = []
            while all.last != UInt8(ascii: "b") {
                var wait = pollfd(fd: pty.slave, events: Int16(POLLIN), revents: 0)
                try #require(poll(&wait, 1, 20_000) == 1, "round \(round)")
                var bytes = [UInt8](repeating: 0, count: 8)
                let count = read(pty.slave, &bytes, bytes.count)
                all += bytes.prefix(max(0, count))
            }
        }
        extendLifetime(mode)
    }

    /// Reads for as long as one key takes to be typed.
    private func take(one pty: PseudoTerminal) {
        let reader = KeyReader(pty.slave)
        #expect(reader != nil)
        pty.type("a")
        extendLifetime(reader)
    }

    @Test func `Escape cancels, and the terminal is as it was`() async {
        #expect(pty.isOrdinary)
        let (action, _) = await run(
            prompt(),
            during: { pty, _ in
                #expect(!pty.isOrdinary)  // no echo, no waiting for the end of a line
                pty.type("\u{1B}")
            },
            until: "Canceled."
        )
        #expect(action == .cancel)
        #expect(pty.isOrdinary)
    }

    @Test func `an arrow key does not cancel`() async {
        let (none, output) = await run(
            prompt(),
            during: { pty, entry in
                pty.type("\u{1B}[A")
                entry.send(.matched(.rightIndex))
                entry.end()
            },
            until: "Matched"
        )
        #expect(none == nil)
        #expect(output.contains("Matched: right index finger."))
    }

    /// A reader waits for the second part for 50 ms: if this test was slower than that, it begins anew.
    @Test func `an arrow key that a slow line brings in two parts does not cancel`() async throws {
        let gap = Mutex(Duration.zero)
        var action: PromptAction?
        repeat {
            (action, _) = try await PseudoTerminalTests().run(
                prompt(),
                during: { pty, entry in
                    let start = ContinuousClock.now
                    pty.type("\u{1B}")
                    pty.type("[B")
                    gap.withLock { $0 = ContinuousClock.now - start }
                    entry.send(.matched(.rightIndex))
                    entry.end()
                },
                until: "\r\n"
            )
        } while gap.withLock { $0 >= .milliseconds(50) }
        #expect(action == nil)
    }

    @Test func `Tab chooses the fallback where there is one, and letters choose nothing`() async {
        let (action, _) = await run(
            prompt(),
            during: { pty, _ in pty.type("qf\t") },
            until: "Fallback chosen."
        )
        #expect(action == .fallback)

        let (other, _) = await run(
            prompt(fallback: nil),
            during: { pty, _ in pty.type("\tqf\u{1B}") },
            until: "Canceled."
        )
        #expect(other == .cancel)
    }

    @Test func `the end of the updates ends the prompt and gives the terminal back`() async {
        let (action, output) = await run(
            prompt(),
            during: { _, entry in
                entry.send(.noMatch(remaining: 2))
                entry.send(.ended("The finger did not match."))
                entry.end()
            },
            until: "did not match."
        )
        #expect(action == nil)
        #expect(pty.isOrdinary)
        #expect(output.contains("Not recognized. 2 tries left."))
    }

    @Test func `cancelling the task gives the terminal back`() async {
        let descriptor = pty.slave
        let presenter = TerminalPrompt(environment: environment) { Terminal(testing: descriptor) }
        let entry = PromptEntry(.finger)
        let task = Task { await presenter.show(prompt(), entry) }
        _ = await blocking { [pty] in pty.output(until: "Preparing the reader") }
        #expect(!pty.isOrdinary)
        task.cancel()
        #expect(await task.value == nil)
        #expect(pty.isOrdinary)
        entry.end()
    }

    @Test func `a hostile reason arrives as text, and only our own commands act`() async {
        let hostile =
            "x\u{1B}[2J\u{9B}31m\u{1B}]0;owned\u{07}\u{1B}]52;c;eA==\u{1B}\\\r\n\u{202E}evil\u{8}\u{0}\u{1B}c"
        let (_, output) = await run(
            prompt(reason: hostile, fallback: "\u{1B}[8mhidden"),
            during: { _, entry in
                entry.send(.ended("no\u{1B}[1;1Hway"))
                entry.end()
            },
            until: "way"
        )
        #expect(output.contains("  x[2J31m]0;owned]52;c;eA==\\ evilc"))
        #expect(output.contains("[8mhidden"))
        #expect(output.contains("no[1;1Hway"))
        #expect(commands(in: output) == ["CSI A", "CSI K", "CSI J", "CSI m", "\"\\r\\n\"", "\"\\r\""])
        #expect(!output.contains("\u{1B}[2J") && !output.contains("\u{1B}[8m") && !output.contains("\u{1B}]"))
    }

    @Test func `a second prompt in the process draws and leaves the keys to the first`() async throws {
        let other = try PseudoTerminal()
        let descriptor = other.slave
        let second = TerminalPrompt(environment: environment) { Terminal(testing: descriptor) }
        let (action, _) = await run(
            prompt(),
            during: { pty, _ in
                let entry = PromptEntry(.finger)
                let shown = Task {
                    [
                        prompt = Prompt(
                            title: "Second",
                            reason: "r",
                            purpose: .yes,
                            cancelTitle: "c",
                            fallbackTitle: nil,
                            readerKind: .mock,
                            scanType: .press
                        )
                    ] in
                    await second.show(prompt, entry)
                }
                #expect(other.output(until: "Second").contains("Second"))
                #expect(other.isOrdinary)
                entry.end()
                _ = shown
                pty.type("\u{1B}")
            },
            until: "Canceled."
        )
        #expect(action == .cancel)
    }

    @Test func `a pipe gets lines without escapes and is not interactive`() async {
        var ends: [CInt] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let output = ends[1]
        let presenter = TerminalPrompt(environment: environment) { Terminal(output: output) }
        #expect(await !presenter.isInteractive)
        let entry = PromptEntry(.finger)
        entry.send(.scan(.touch))
        entry.send(.matched(.rightIndex))
        entry.end()
        #expect(await presenter.show(prompt(), entry) == nil)
        close(output)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let got = read(ends[0], &buffer, buffer.count)
        close(ends[0])
        #expect(
            String(decoding: buffer.prefix(max(0, got)), as: UTF8.self)
                == "vault-app: unlock the vault\nConfirms your identity. Unlocks nothing.\nTouch the reader.\nMatched: right index finger.\n"
        )
    }
}
