// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlGLib
import WhorlSecretMemory
import SoftwareMachine
import SoftwareTPM
import Synchronization
import Testing
import WhorlFingerprint
import WhorlService

@testable import WhorlSystem

/// The login sessions of a machine that a test makes up.
private final class ScriptedSessions: SessionManager {
    private let own: Result<String?, SystemBus.Fault>
    private let sink: AsyncStream<SessionChange>.Continuation
    private let changes: AsyncStream<SessionChange>
    private let hasBus: Bool
    /// The hint of each session.
    let isHintSet: Mutex<Bool>
    let asked = Mutex(0)

    init(_ own: Result<String?, SystemBus.Fault> = .success("2"), hasBus: Bool = true, isLocked: Bool = false)
    {
        self.own = own
        self.hasBus = hasBus
        isHintSet = Mutex(isLocked)
        (changes, sink) = AsyncStream.makeStream()
    }

    func ownSession() async throws(SystemBus.Fault) -> String? {
        asked.withLock { $0 += 1 }
        return try own.get()
    }

    func isLocked(_ session: String) async throws(SystemBus.Fault) -> Bool {
        isHintSet.withLock(\.self)
    }
    func sessionChanges() async throws(SystemBus.Fault) -> AsyncStream<SessionChange> {
        guard hasBus else { throw SystemBus.Fault(name: nil, cause: "there is no bus") }
        return changes
    }

    func send(_ change: SessionChange) { sink.yield(change) }
}

/// A presenter that shows nothing, and counts.
private final class CountedPrompts: PromptPresenter {
    private let shown = Mutex(0)
    var count: Int { shown.withLock(\.self) }
    var isInteractive: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        shown.withLock { $0 += 1 }
        for await _ in entry.updates {}
        return nil
    }
}

/// The engine in a program notices the locks of its own session.
@Suite("A program's stay in its session", .enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct LoginSessionWatchTests {
    private let tpm: SoftwareTPM
    private let presenter = CountedPrompts()

    init() throws { tpm = try SoftwareTPM() }

    private func root(_ sessions: ScriptedSessions, reader: String = "mock:then=match") async throws
        -> InProcessRoot
    {
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = tpm.directory.path + "/whorl"
        configuration.profile = "ada"
        configuration.reader = reader
        configuration.tpm = tpm.address
        configuration.allowsSimulatedTPM = true
        configuration.application = ApplicationID(rawValue: "org.example.app")
        let root = InProcessRoot(configuration, sessions: sessions)
        if try await root.services.ask(ListFingers()).isEmpty { try await root.enroll(.leftIndex) }
        return root
    }

    private func request(_ purpose: TouchPurpose = .yes, _ session: OwnerSession? = nil, asks: Bool = true)
        -> EvaluationRequest
    {
        var request = EvaluationRequest(
            policy: .biometrics,
            purpose: purpose,
            reason: "unlock the test",
            application: ApplicationID(rawValue: "org.example.app"),
            reuse: .seconds(60),
            interactionAllowed: asks
        )
        request.session = session
        return request
    }

    /// Returns whether an earlier match is taken.
    private func isReused(_ root: InProcessRoot) async -> Bool {
        (try? await root.services.evaluate(request(asks: false), presenter: presenter)) != nil
    }

    private func eventually(_ isSo: () async -> Bool) async throws -> Bool {
        for _ in 0..<400 {
            if await isSo() { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    // Docs/Security.md: C2c
    @Test(arguments: [SessionChange.locking("2"), .locked("2"), .left("2")])
    func `ends with a lock and a switch, and with it an earlier match and each proof`(
        change: SessionChange
    ) async throws {
        let sessions = ScriptedSessions()
        let root = try await root(sessions)
        let session = OwnerSession()
        let item = try await root.services.seal(
            SecretBox(SecretBytes(count: 1) { $0[0] = 7 }),
            access: .biometryAny,
            applicationPassword: nil
        )
        let stored = request(.storedByProgram, session, asks: false)
        func opens() async -> Bool {
            var quiet = stored
            quiet.reuse = .zero
            return
                (try? await root.services.secret(
                    in: .sealed(item),
                    ReleaseRequest(quiet),
                    presenter: presenter
                )) != nil
        }
        _ = try await root.services.evaluate(request(.storedByProgram, session), presenter: presenter)
        sessions.send(.locked("3"))
        #expect(await opens())
        #expect(await isReused(root))
        sessions.send(change)
        #expect(try await eventually { await !isReused(root) })
        sessions.send(.unlocked("2"))
        #expect(try await eventually { await isAskable(root) })
        #expect(await !opens())
    }

    /// Returns whether a question comes to a prompt again, and opens a new window then.
    private func isAskable(_ root: InProcessRoot) async -> Bool {
        (try? await root.services.evaluate(request(), presenter: presenter))?.isReused == false
    }

    // Docs/Security.md: C9a
    @Test func `ends an open prompt, and no other comes until the screen is unlocked`() async throws {
        let sessions = ScriptedSessions()
        let root = try await root(sessions, reader: "mock:then=match,hang")
        let asked = request()
        async let waiting: Void = {
            await #expect(throws: ServiceError.sessionLocked) {
                try await root.services.evaluate(asked, presenter: presenter)
            }
        }()
        #expect(try await eventually { presenter.count == 1 })
        sessions.send(.locked("2"))
        _ = await waiting
        await #expect(throws: ServiceError.sessionLocked) {
            try await root.services.evaluate(asked, presenter: presenter)
        }
        sessions.send(.unlocked("2"))
        #expect(try await eventually { await isAskable(root) })
    }

    // Docs/Security.md: C9b
    @Test func `goes on where the login manager has forgotten the lock and the screen is to be unlocked`()
        async throws
    {
        let sessions = ScriptedSessions()
        let root = try await root(sessions)
        #expect(await isAskable(root))
        sessions.send(.locked("2"))
        #expect(try await eventually { await !isAskable(root) })
        // The locker is asked to unlock, and does not.
        sessions.isHintSet.withLock { $0 = true }
        sessions.send(.unlocking("2"))
        sessions.send(.unlocking("3"))
        try await Task.sleep(for: .milliseconds(200))
        #expect(await !isAskable(root))
        sessions.isHintSet.withLock { $0 = false }
        sessions.send(.unlocking("2"))
        #expect(try await eventually { await isAskable(root) })
    }

    @Test func `of another process is another one, so that no match is taken from it`() async throws {
        let first = try await root(ScriptedSessions())
        _ = try await first.services.evaluate(request(), presenter: presenter)
        #expect(await isReused(first))
        let second = try await root(ScriptedSessions())
        #expect(await !isReused(second))
    }

    @Test func `is not needed where no screen can be locked`() async throws {
        let fault = SystemBus.Fault(name: "org.freedesktop.DBus.Error.ServiceUnknown", cause: "no logind")
        for sessions in [
            ScriptedSessions(.success(nil)), ScriptedSessions(.failure(fault)),
            ScriptedSessions(hasBus: false),
        ] {
            let first = try await root(sessions)
            _ = try await first.services.evaluate(request(), presenter: presenter)
            let second = try await root(ScriptedSessions(.success(nil)))
            #expect(await isReused(second))
        }
    }

    @Test func `is unknown where the login manager does not answer, and no match is kept then`()
        async throws
    {
        let root = try await root(ScriptedSessions(.failure(SystemBus.Fault(name: nil, cause: "no answer"))))
        _ = try await root.services.evaluate(request(), presenter: presenter)
        #expect(await !isReused(root))
    }

    @Test func `is looked for once`() async throws {
        let sessions = ScriptedSessions()
        let root = try await root(sessions)
        for _ in 0..<3 { _ = try await root.services.evaluate(request(), presenter: presenter) }
        #expect(sessions.asked.withLock(\.self) == 1)
    }

    @Test func `in a session that is locked already asks for nothing`() async throws {
        let root = try await root(ScriptedSessions(isLocked: true))
        // The first question is what looks for the session.
        _ = try? await root.services.evaluate(request(asks: false), presenter: presenter)
        await #expect(throws: ServiceError.sessionLocked) {
            try await root.services.evaluate(request(), presenter: presenter)
        }
    }
}
