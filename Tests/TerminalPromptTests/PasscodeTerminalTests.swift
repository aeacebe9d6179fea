// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Glibc
import WhorlSecretMemory
import Synchronization
import Testing

@testable import WhorlTerminalPrompt
import WhorlService

extension PseudoTerminalTests {
    /// A passcode on a real terminal device; one at a time, as there.
    @Suite(.serialized)
    struct Passcodes {
        private let pty: PseudoTerminal
        private let environment = ["TERM": "xterm", "LANG": "C.UTF-8"]

        init() throws { pty = try PseudoTerminal() }

        private var presenter: TerminalPrompt {
            let descriptor = pty.slave
            return TerminalPrompt(environment: environment) { Terminal(testing: descriptor) }
        }

        private var reader: PasscodeReader {
            let descriptor = pty.slave
            return PasscodeReader(environment: environment) { Terminal(testing: descriptor) }
        }

        private func prompt(_ parts: Prompt.Parts = [.finger, .passcode], fallback: String? = "Password")
            -> Prompt
        {
            Prompt(
                title: "vault-app",
                reason: "unlock\u{1B}[2J the vault",
                purpose: .yes,
                cancelTitle: "Cancel",
                fallbackTitle: fallback,
                readerKind: .hardware,
                scanType: .press,
                parts: parts
            )
        }

        private func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
            await withCheckedContinuation { done in
                DetachedThread { done.resume(returning: body()) }.start()
            }
        }

        /// The passcodes that come to an entry, each answered by the update that `verdict` gives.
        private func comparing(
            _ entry: PromptEntry,
            _ verdict: @escaping @Sendable ([UInt8]) -> PromptUpdate
        ) -> Task<[[UInt8]], Never> {
            Task {
                var seen: [[UInt8]] = []
                await entry.each { box in
                    let bytes = box.bytes.withUnsafeBytes { Array($0) }
                    seen.append(bytes)
                    entry.send(.checking)
                    let update = verdict(bytes)
                    entry.send(update)
                    return update == .verified
                }
                entry.end()
                return seen
            }
        }

        @Test func `what is typed is shown as dots, and reaches the entry with Enter`() async {
            let entry = PromptEntry([.finger, .passcode])
            let shown = Task { [presenter] in await presenter.show(prompt(), entry) }
            let compared = comparing(entry) {
                $0 == Array("hunter2 qf".utf8) ? .verified : .wrongPasscode(triesLeft: 4)
            }
            entry.send(.scan(.touch))
            let output = await blocking { [pty] in
                var output = pty.output(until: "Touch the reader.")
                #expect(!pty.isOrdinary)
                pty.type("hinter1\r")
                output += pty.output(until: "4 tries left")
                pty.type("hunter1\u{7F}2 qf\r")
                return output + pty.output(until: "Passcode correct.")
            }
            #expect(await shown.value == nil)
            #expect(await compared.value == [Array("hinter1".utf8), Array("hunter2 qf".utf8)])
            #expect(output.contains("Passcode: •••••••"))
            #expect(!output.contains("hinter") && !output.contains("hunter") && !output.contains("qf"))
            #expect(!output.contains("\u{1B}[2J"))
            #expect(pty.isOrdinary)
        }

        @Test func `a finger that matches ends the prompt, and half a passcode does not reach the shell`()
            async
        {
            let entry = PromptEntry([.finger, .passcode])
            let shown = Task { [presenter] in await presenter.show(prompt(), entry) }
            let output = await blocking { [pty] in
                _ = pty.output(until: "[Tab]")
                pty.type("hun")
                let output = pty.output(until: "•••")
                entry.send(.matched(.rightIndex))
                entry.end()
                return output + pty.output(until: "Matched")
            }
            #expect(await shown.value == nil)
            #expect(output.contains("Matched: right index finger."))
            #expect(pty.isOrdinary)
            #expect(pty.isEmpty)
        }

        @Test func `what was typed before the prompt, and what nobody read, is dropped`() async {
            // Nobody read it: it was shown, and it is no passcode.
            pty.type("early\r")
            let entry = PromptEntry([.finger, .passcode])
            let compared = comparing(entry) { _ in .verified }
            let shown = Task { [presenter] in await presenter.show(prompt(.passcode), entry) }
            await blocking { [pty] in
                _ = pty.output(until: "[Esc]")
                pty.type("late\r")
                _ = pty.output(until: "correct.")
            }
            #expect(await shown.value == nil)
            #expect(await compared.value == [Array("late".utf8)])
        }

        @Test(arguments: [Prompt.Parts.passcode, [.finger, .passcode]])
        func `Escape cancels, also in the middle of a passcode`(_ parts: Prompt.Parts) async {
            let entry = PromptEntry([.finger, .passcode])
            let shown = Task { [presenter] in await presenter.show(prompt(parts), entry) }
            let output = await blocking { [pty] in
                _ = pty.output(until: "[Esc]")
                pty.type("hun\u{1B}[Dt")
                _ = pty.output(until: "••••")
                pty.type("\u{1B}")
                return pty.output(until: "Canceled.")
            }
            #expect(await shown.value == .cancel)
            #expect(output.contains("Canceled."))
            #expect(pty.isOrdinary)
        }

        @Test func `Tab opens the line and does not end the prompt`() async {
            let entry = PromptEntry([.finger, .passcode])
            let compared = comparing(entry) { _ in .verified }
            let shown = Task { [presenter] in await presenter.show(prompt(), entry) }
            await blocking { [pty] in
                _ = pty.output(until: "[Tab]")
                pty.type("\t")
                _ = pty.output(until: "Passcode: ")
                pty.type("ok\r")
                _ = pty.output(until: "correct.")
            }
            #expect(await shown.value == nil)
            #expect(await compared.value == [Array("ok".utf8)])
        }

        @Test func `where the program hides the other way typing means nothing until no finger is asked for`()
            async
        {
            #expect(prompt(fallback: nil).typing == .ignored)
            #expect(prompt().typing == .taken)
            #expect(prompt(.passcode, fallback: nil).typing == .taken)
            let entry = PromptEntry([.finger, .passcode])
            let compared = comparing(entry) { _ in .verified }
            let shown = Task { [presenter] in await presenter.show(prompt(fallback: nil), entry) }
            let output = await blocking { [pty] in
                let output = pty.output(until: "[Esc]")
                entry.send(.fingerEnded("Locked."))
                _ = pty.output(until: "Passcode: ")
                pty.type("heard\r")
                return output + pty.output(until: "correct.")
            }
            #expect(await shown.value == nil)
            #expect(await compared.value == [Array("heard".utf8)])
            #expect(!output.contains("[Tab]"))
        }

        @Test func `a line that cannot be a passcode is refused and not compared`() async {
            let entry = PromptEntry([.finger, .passcode])
            let compared = comparing(entry) { _ in .verified }
            let shown = Task { [presenter] in await presenter.show(prompt(.passcode), entry) }
            let output = await blocking { [pty] in
                var output = pty.output(until: "[Esc]")
                pty.type("a\u{0}b\r")
                output += pty.output(until: "control characters")
                // A paste that is longer than a passcode can be, in one go.
                pty.type(String(repeating: "x", count: 1100) + "\r")
                output += pty.output(until: "1,024 bytes")
                pty.type("ok\r")
                return output + pty.output(until: "correct.")
            }
            #expect(await shown.value == nil)
            #expect(await compared.value == [Array("ok".utf8)])
            #expect(output.contains("longer than 1,024 bytes"))
        }

        @Test func `a second prompt in the process takes no passcode`() async throws {
            let held = TerminalMode(pty.slave)
            let entry = PromptEntry([.finger, .passcode])
            let shown = Task { [presenter] in await presenter.show(prompt(), entry) }
            await blocking { [pty] in _ = pty.output(until: "vault-app") }
            entry.send(.matched(.rightIndex))
            entry.end()
            #expect(await shown.value == nil)
            await #expect(throws: PasscodeReadingError(.noTerminal)) { _ = try await reader.read() }
            _ = consume held
        }

        @Test func `a pipe takes none, and asks for none`() async {
            var ends: [CInt] = [-1, -1]
            #expect(pipe(&ends) == 0)
            let output = ends[1]
            let piped = TerminalPrompt(environment: environment) { Terminal(output: output) }
            #expect(await !piped.takesPasscode)
            let reader = PasscodeReader(environment: environment) { Terminal(output: output) }
            await #expect(throws: PasscodeReadingError(.noTerminal)) { _ = try await reader.read() }
            close(ends[0])
            close(ends[1])
        }

        @Test func `a question is answered without an echo, and nothing of its length stays`() async throws {
            let answer = Task { [reader] in try await reader.read("Pass\u{1B}[2Jcode") }
            let output = await blocking { [pty] in
                let output = pty.output(until: "Pass[2Jcode: ")
                #expect(!pty.isOrdinary)
                pty.type("pä1\r")
                return output + pty.output(until: "•••")
            }
            let box = try await answer.value
            let all = output + pty.rest()
            // What is drawn last is what stays.
            #expect(all.hasSuffix("Pass[2Jcode: \r\r\n\u{1B}[J"))
            #expect(box.bytes.withUnsafeBytes { Array($0) } == Array("pä1".utf8))
            #expect(!all.contains("pä1"))
            #expect(pty.isOrdinary)
        }

        @Test func `a new passcode is asked for twice, and again when the two differ`() async throws {
            let answer = Task { [reader] in try await reader.readNew() }
            await blocking { [pty] in
                _ = pty.output(until: "New passcode: ")
                // Also in one go, as a paste brings it.
                pty.type("one\rother\r")
                _ = pty.output(until: "do not match")
                pty.type("two\rtwo\r")
            }
            let box = try await answer.value
            #expect(box.bytes.withUnsafeBytes { Array($0) } == Array("two".utf8))
        }

        @Test func `three pairs that differ are enough`() async {
            let answer = Task { [reader] in try await reader.readNew() }
            await blocking { [pty] in
                _ = pty.output(until: "New passcode: ")
                pty.type("1\r2\r3\r4\r5\r6\r")
            }
            await #expect(throws: PasscodeReadingError(.different)) { _ = try await answer.value }
            #expect(pty.isOrdinary)
        }

        @Test(arguments: [true, false])
        func `Escape and a cancelled task end a question and give the terminal back`(_ isKey: Bool) async {
            let answer = Task { [reader] in try await reader.read() }
            await blocking { [pty] in
                _ = pty.output(until: "Passcode: ")
                pty.type("ab")
                _ = pty.output(until: "••")
                isKey ? pty.type("\u{1B}") : answer.cancel()
            }
            await #expect(throws: PasscodeReadingError(.cancelled)) { _ = try await answer.value }
            #expect(pty.isOrdinary)
        }
    }
}
