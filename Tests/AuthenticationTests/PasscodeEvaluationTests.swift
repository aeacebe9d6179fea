// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import WhorlSecretMemory
import WhorlStateStore
import Testing
import WhorlService

@Suite struct `An evaluation that finger and passcode can meet` {
    @Test func `succeeds with the passcode while the reader waits for a finger`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let presenter = TypingPresenter { $0 == .scan(.touch) ? [.type("1234")] : [] }
        let evaluation = try #require(await fixture.answer(presenter).success)
        #expect(evaluation.method == .passcode)
        #expect(evaluation.finger == nil)
        #expect(evaluation.readerKind == nil)
        #expect(!evaluation.isReused)
        #expect(evaluation.domainState?.count == 32)
        #expect(presenter.updates == [.scan(.touch), .checking, .verified])
        #expect(presenter.prompts.map(\.parts) == [[.finger, .passcode]])
        #expect(presenter.prompts.map(\.fallbackTitle) == ["Use Password…"])
        #expect(!fixture.reader.isOpen)
        #expect(fixture.reader.counts.closes == 1)
        #expect(try await !fixture.record().isPending)
        #expect(try await fixture.log() == ["evaluation passcode"])
    }

    @Test func `succeeds with the finger while a passcode is typed`() async throws {
        let typed = Gate()
        let fixture = try await Fixture.enrolled([.perform { await typed.pass() }, .match(0)])
        let presenter = TypingPresenter { update in
            // Half of a passcode is there, and Enter never comes.
            if update == .scan(.touch) { typed.open() }
            return []
        }
        let authority = MemoryPasscode()
        let evaluation = try #require(await fixture.answer(presenter, passcode: authority).success)
        #expect(evaluation.method == .biometry)
        #expect(evaluation.finger == .rightIndex)
        #expect(presenter.updates == [.scan(.touch), .matched(.rightIndex)])
        #expect(!presenter.isShown)
        #expect(authority.compared == 0)
        #expect(try await fixture.log() == ["evaluation matched"])
    }

    @Test func `compares a passcode while a finger is on the reader`() async throws {
        let told = Gate()
        // The finger is lifted only after the verdict: a comparison that waited for the reader would never end.
        let fixture = try await Fixture.enrolled([.perform { await told.pass() }, .match(0)])
        let presenter = TypingPresenter { update in
            switch update {
            case .scan(.touch): return [.type("0000")]
            case .wrongPasscode:
                told.open()
                return []
            default: return []
            }
        }
        let evaluation = try #require(await fixture.answer(presenter).success)
        #expect(evaluation.method == .biometry)
        #expect(
            presenter.updates == [
                .scan(.touch), .checking, .wrongPasscode(triesLeft: 4), .matched(.rightIndex),
            ]
        )
        #expect(try await fixture.log() == ["passcode wrong", "evaluation matched"])
    }

    @Test func `asks for a finger while a passcode is compared`() async throws {
        let scanned = Gate()
        let fixture = try await Fixture.enrolled([.noMatch, .perform { scanned.open() }, .wait])
        let authority = MemoryPasscode { await scanned.pass() }
        let presenter = TypingPresenter([.type("1234")])
        #expect(await fixture.answer(presenter, passcode: authority).success?.method == .passcode)
        #expect(presenter.updates.contains(.noMatch(remaining: 2)))
    }

    @Test func `does not count wrong passcodes as tries of a finger`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let authority = MemoryPasscode()
        let presenter = TypingPresenter([.type("0000")]) { update in
            switch update {
            case .wrongPasscode(let left): left == 1 ? [.type("1234")] : [.type("0000")]
            default: []
            }
        }
        #expect(await fixture.answer(presenter, passcode: authority).success?.method == .passcode)
        #expect(authority.compared == 5)
        let record = try await fixture.record()
        #expect(record.totalFailures == 0)
        #expect(!record.isPending)
        #expect(
            try await fixture.log() == Array(repeating: "passcode wrong", count: 4) + ["evaluation passcode"]
        )
    }

    @Test func `does not count fingers as tries of the passcode, and goes on with it after the third`()
        async throws
    {
        let fixture = try await Fixture.enrolled([.noMatch, .noMatch, .noMatch, .match(0)])
        let authority = MemoryPasscode()
        let presenter = TypingPresenter { update in
            if case .fingerEnded = update { [.type("1234")] } else { [] }
        }
        #expect(await fixture.answer(presenter, passcode: authority).success?.method == .passcode)
        #expect(authority.failures == 0)
        #expect(presenter.updates.contains(.fingerEnded(ServiceError(.authenticationFailed).message)))
        #expect(presenter.updates.last == .verified)
        #expect(fixture.reader.counts.scans == 3)
        #expect(!fixture.reader.isOpen)
        let record = try await fixture.record()
        #expect(record.failures == 0)
        #expect(record.totalFailures == 3)
    }

    @Test func `goes on with the passcode at a lockout, which the passcode lifts`() async throws {
        let fixture = try await Fixture.enrolled(Array(repeating: .noMatch, count: 5) + [.match(0)])
        #expect(await fixture.evaluate().code == .authenticationFailed)
        let presenter = TypingPresenter { update in
            if case .fingerEnded = update { [.type("1234")] } else { [] }
        }
        #expect(await fixture.answer(presenter).success?.method == .passcode)
        #expect(presenter.updates.contains { if case .fingerEnded = $0 { true } else { false } })
        #expect(try await fixture.record().failures == 0)
        #expect(
            try await fixture.log().suffix(3) == [
                "lockout locked", "passcode unlocked", "evaluation passcode",
            ]
        )
        #expect(await fixture.evaluate().success?.finger == .rightIndex)
    }

    @Test(arguments: [
        (ReaderError.Code.unplugged, ServiceError.Code.biometryDisconnected),
        (.malfunction, .readerFailed), (.busy, .readerInUse),
    ])
    func `goes on with the passcode when the reader fails`(
        _ failure: ReaderError.Code,
        _ code: ServiceError.Code
    ) async throws {
        let fixture = try await Fixture.enrolled([.failure(failure)])
        let presenter = TypingPresenter { update in
            if case .fingerEnded = update { [.type("1234")] } else { [] }
        }
        #expect(await fixture.answer(presenter).success?.method == .passcode)
        let text = ReaderError(failure, operation: "identify").message
        #expect(presenter.updates.dropFirst().first == .fingerEnded(text))
        // Without the right one the reader's failure is the answer: it is what can be mended.
        fixture.reader.add([.failure(failure)])
        let leaving = TypingPresenter { update in
            if case .fingerEnded = update { [.leave] } else { [] }
        }
        #expect(await fixture.answer(leaving).code == code)
    }

    @Test func `goes on with the passcode when the reader cannot be opened`() async throws {
        let fixture = try await Fixture.enrolled([])
        let reader = ScriptedReader([.match(0)], openFailure: .inUse)
        let presenter = TypingPresenter { update in
            if case .fingerEnded = update { [.type("1234")] } else { [] }
        }
        let engine = fixture.engine(reader: reader, passcode: MemoryPasscode())
        #expect(await fixture.answer(presenter, engine: engine).success?.method == .passcode)
        #expect(reader.counts.scans == 0)
    }

    @Test func `takes a passcode while another evaluation of the profile has the reader`() async throws {
        let fixture = try await Fixture.enrolled([.match(0)])
        let path = fixture.directory.path + "/" + EvaluationLock.fileName(profile: fixture.profile)
        let lock = try await EvaluationLock.acquire(path, within: .zero)
        let presenter = TypingPresenter([.type("1234")])
        #expect(await fixture.answer(presenter).success?.method == .passcode)
        #expect(fixture.reader.counts.opens == 0)
        extendLifetime(lock)
    }

    @Test func `goes on with the finger when the authority fails, or the passcode was removed`() async throws
    {
        for breaking in [true, false] {
            let told = Gate()
            let fixture = try await Fixture.enrolled([.perform { await told.pass() }, .match(0)])
            let broken = MemoryPasscode()
            let presenter = TypingPresenter { update in
                switch update {
                case .scan(.touch):
                    breaking ? broken.fail() : broken.remove()
                    return [.type("1234")]
                case .passcodeEnded:
                    told.open()
                    // Nobody takes it any more.
                    return [.type("1234")]
                default: return []
                }
            }
            #expect(await fixture.answer(presenter, passcode: broken).success?.method == .biometry)
            let error = ServiceError(breaking ? .storeFailed : .passcodeNotSet)
            #expect(presenter.updates.contains(.passcodeEnded(error.message)))
            #expect(presenter.refused == 1)
            #expect(broken.compared == 0)
        }
    }

    @Test func `tells how long no passcode is compared`() async throws {
        let fixture = try await Fixture.enrolled([.wait])
        let authority = MemoryPasscode()
        let presenter = TypingPresenter([.type("0000")]) { update in
            switch update {
            case .wrongPasscode: [.type("0000")]
            case .throttled: [.press(.cancel)]
            default: []
            }
        }
        #expect(await fixture.answer(presenter, passcode: authority).code == .userCancel)
        #expect(presenter.updates.last == .throttled(for: .seconds(60)))
        #expect(
            try await fixture.log()
                == Array(repeating: "passcode wrong", count: 5) + [
                    "passcode throttled", "evaluation userCancel",
                ]
        )
    }

    @Test func `takes an earlier match without a prompt, and a passcode opens no window`() async throws {
        let fixture = try await Fixture.enrolled([])
        let window = Fixture.request(.deviceOwner, reuse: .seconds(60))
        let typing = TypingPresenter([.type("1234")])
        #expect(await fixture.answer(typing, window).success?.method == .passcode)
        // The passcode of just now is no match of just now.
        let again = TypingPresenter([.type("1234")])
        #expect(await fixture.answer(again, window).success?.isReused == false)
        #expect(again.prompts.count == 1)

        fixture.reader.add([.match(0)])
        #expect(await fixture.evaluate().success?.method == .biometry)
        // A passcode in between leaves the window of the match as it is.
        #expect(await fixture.answer(TypingPresenter([.type("1234")])).success?.method == .passcode)
        let idle = TypingPresenter()
        #expect(await fixture.answer(idle, window).success?.isReused == true)
        #expect(idle.prompts.isEmpty)
    }
}
