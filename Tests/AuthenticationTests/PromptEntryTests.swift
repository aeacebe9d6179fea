// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import Foundation
import WhorlFingerprint
import WhorlSecretMemory
import Synchronization
import Testing
import WhorlService

@Suite struct `A passcode that is handed in` {
    @Test func `is compared only with 1 to 1,024 bytes, one at a time, and not after the end`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let comparing = Gate()
        let goOn = Gate()
        let authority = MemoryPasscode {
            comparing.open()
            await goOn.pass()
        }
        let presenter = TypingPresenter([
            .type(""), .type(String(repeating: "x", count: 1025)), .type(String(repeating: "x", count: 1024)),
            .type("1234"),
        ]) { update in
            if case .wrongPasscode = update { [.type("1234")] } else { [] }
        }
        let task = Task { await fixture.answer(presenter, passcode: authority) }
        await comparing.pass()
        let entry = try #require(presenter.entry)
        let isTaken = entry.submit(secret("1234"))
        #expect(!isTaken)
        goOn.open()
        #expect(await task.value.success?.method == .passcode)
        #expect(authority.compared == 2)
        #expect(presenter.refused == 3)
        let isTakenLate = entry.submit(secret("1234"))
        #expect(!isTakenLate)
        #expect(authority.compared == 2)
    }

    @Test func `is known to nobody after the evaluation`() async throws {
        let needle = Needle()
        #expect(try !needle.isInMemory())
        let comparing = Gate()
        let fixture = try await Fixture.enrolled([.perform { await comparing.pass() }, .match(0)])
        let authority = MemoryPasscode("another") {
            // In the middle of it the passcode is there: the search finds what there is.
            #expect((try? needle.isInMemory()) == true)
            comparing.open()
            await cancellation()
        }
        let presenter = HoldingPresenter(needle)
        #expect(await fixture.answer(presenter, passcode: authority).success?.method == .biometry)
        #expect(authority.compared == 1)
        #expect(try !needle.isInMemory())
        withExtendedLifetime(presenter) {}
    }

    @Test func `and never compared is known to nobody either`() async throws {
        let needle = Needle()
        let entry = PromptEntry(.passcode)
        entry.submit(needle.secret())
        #expect(try needle.isInMemory())
        entry.end()
        #expect(try !needle.isInMemory())
        withExtendedLifetime(entry) {}
    }

    @Test func `before the prompt was shown is compared once, without a touch`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let shown = ScriptedPresenter()
        let preset = PresetPasscode(SecretBox(secret("1234")), on: shown)
        #expect(await fixture.answer(preset).success?.method == .passcode)
        #expect(await !preset.takesPasscode)
        #expect(shown.prompts.isEmpty)
    }

    @Test func `before the prompt was shown and is wrong fails, and no finger is waited for`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let wrong = PresetPasscode(SecretBox(secret("0000")), on: ScriptedPresenter())
        #expect(await fixture.answer(wrong).code == .authenticationFailed)
        #expect(fixture.reader.counts.scans == 0)
        let alone = PresetPasscode(SecretBox(secret("0000")), on: ScriptedPresenter(interactive: false))
        #expect(await fixture.answer(alone, connected: false).code == .authenticationFailed)
        let right = PresetPasscode(SecretBox(secret("1234")), on: ScriptedPresenter(interactive: false))
        #expect(await fixture.answer(right, connected: false).success?.method == .passcode)
    }

    @Test func `is never asked for by a presenter that knows only fingers`() async throws {
        /// As a program's own presenter was before there were passcodes, with a claim that it does not keep.
        final class Old: PromptPresenter {
            let seen = Mutex<[PromptUpdate]>([])
            var isInteractive: Bool { true }
            var takesPasscode: Bool { true }
            func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
                for await update in entry.updates { seen.withLock { $0.append(update) } }
                return nil
            }
        }
        let fixture = try await Fixture.enrolled([.noMatch, .match(0)])
        let old = Old()
        #expect(await fixture.answer(old).success?.finger == .rightIndex)
        #expect(
            old.seen.withLock(\.self) == [
                .scan(.touch), .noMatch(remaining: 2), .scan(.touch), .matched(.rightIndex),
            ]
        )
        fixture.reader.add([.match(0)])
        #expect(await fixture.answer(ScriptedPresenter()).success?.finger == .rightIndex)
    }
}

@Suite struct `A presenter without the right passcode` {
    @Test(arguments: [nil, PromptAction.cancel, .fallback], [Policy.biometrics, .deviceOwner])
    func `makes no evaluation succeed, whatever it returns and hands in`(
        _ action: PromptAction?,
        _ policy: Policy
    ) async throws {
        let fixture = try await Fixture.enrolled([.noMatch, .wait])
        let authority = MemoryPasscode()
        let request = Fixture.request(policy, timeout: .milliseconds(50))
        let presenter = PretendingPresenter(action: action)
        #expect(await fixture.answer(presenter, request, passcode: authority).success == nil)
        // The first text that can be a passcode may be compared; where a finger alone is asked for, none is.
        #expect(authority.compared <= (policy == .deviceOwner ? 1 : 0))
        let log = try await fixture.log()
        #expect(!log.contains("evaluation matched") && !log.contains("evaluation passcode"))
    }
}

/// A prompt that does all that a presenter can do, and gives the right passcode only after it said that none will come.
private struct PretendingPresenter: PromptPresenter {
    let action: PromptAction?

    var isInteractive: Bool { true }
    var takesPasscode: Bool { true }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for text in ["", #"{"event":"verified"}"#, "0000", "\u{0}"] { entry.submit(secret(text)) }
        entry.typing()
        entry.close()
        entry.submit(secret("1234"))
        for await update in entry.updates where update == .noMatch(remaining: 2) { break }
        return action
    }
}

/// A prompt that hands in what is searched for, and is kept by the program after its end.
private final class HoldingPresenter: PromptPresenter {
    private let needle: Needle
    private let kept = Mutex<PromptEntry?>(nil)

    init(_ needle: Needle) { self.needle = needle }

    var isInteractive: Bool { true }
    var takesPasscode: Bool { true }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        kept.withLock { $0 = entry }
        entry.submit(needle.secret())
        for await _ in entry.updates {}
        return nil
    }
}
