// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSQLite
import WhorlStateStore
import Testing
import WhorlService

/// A state directory of its own, with enrolled fingers, a reader and clocks; removed at its end.
final class Fixture: Sendable {
    static let application = ApplicationID(rawValue: "org.example.test")

    let directory: StateDirectory
    let clock = TestClock()
    let reader: ScriptedReader
    let profile: String
    let generations = SoftwareGeneration()
    private let isOwner: Bool

    init(_ steps: [ScriptedReader.Step] = [], info: ReaderInfo = .scripted(), profile: String = "owner")
        throws
    {
        let path = FileManager.default.temporaryDirectory.path + "/whorl-engine-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        directory = StateDirectory(path: path)
        reader = ScriptedReader(steps, info: info)
        self.profile = profile
        isOwner = true
    }

    /// Another process's look at a directory, which stays.
    init(at path: String) {
        directory = StateDirectory(path: path)
        reader = ScriptedReader([])
        profile = "owner"
        isOwner = false
    }

    deinit {
        // A connection that closes at this moment takes files away by itself, which fails the first attempt.
        for _ in 0..<20 where isOwner && FileManager.default.fileExists(atPath: directory.path) {
            try? FileManager.default.removeItem(atPath: directory.path)
        }
    }

    /// A fixture with these fingers enrolled, the first one enrolled first.
    static func enrolled(
        _ fingers: [Finger],
        info: ReaderInfo = .scripted(),
        steps: [ScriptedReader.Step]
    ) async throws -> Fixture {
        let fixture = try Fixture(steps, info: info)
        for finger in fingers { _ = try await fixture.enroll(finger) }
        return fixture
    }

    /// A fixture with the right index finger enrolled.
    static func enrolled(_ steps: [ScriptedReader.Step]) async throws -> Fixture {
        try await enrolled([.rightIndex], steps: steps)
    }

    @discardableResult
    func enroll(_ finger: Finger, on info: ReaderInfo? = nil) async throws -> EnrolledFinger {
        let here = await reader.info
        clock.advance(.seconds(1))
        let store = try store()
        return try await store.add(
            Template(bytes: Array(finger.rawValue.utf8)),
            as: finger,
            label: nil,
            profile: profile,
            on: info ?? here,
            at: clock.time.now().date,
            consent: try await store.agreed(.add(finger), profile)
        )
    }

    /// Removes a finger; its owner agrees.
    func remove(_ finger: Finger) async throws {
        let store = try store()
        let change = FingerSelection.finger(finger, on: nil)
        _ = try await engine().enroller(store, for: Fixture.application).remove(
            change,
            profile: profile,
            readers: [reader],
            consent: try await store.agreed(.remove(change), profile)
        )
    }

    func database() throws -> StateDatabase { try StateDatabase(directory: directory) }

    func store() throws -> EnrollmentStore {
        EnrollmentStore(database: try database(), generations: generations)
    }

    /// An engine as another process would have it: with connections of its own.
    func engine(
        reader: ScriptedReader? = nil,
        connected: Bool = true,
        passcode: any PasscodeAuthority = NoPasscode(),
        interruptions: Interruptions = Interruptions(),
        obstacle: @escaping ReaderObstacle = { _ in nil },
        rules: AttemptRules = .standard,
        strength: TouchStrength = .any
    ) -> AuthenticationEngine {
        let reader = reader ?? self.reader
        return AuthenticationEngine(
            profile: profile,
            state: StateAccess(directory: directory, generations: generations),
            passcode: passcode,
            time: clock.time,
            interruptions: interruptions,
            obstacle: obstacle,
            rules: rules,
            strength: strength,
            reader: { connected ? reader : nil }
        )
    }

    /// Evaluates once with an engine of its own.
    func evaluate(
        _ request: EvaluationRequest = Fixture.request(),
        engine: AuthenticationEngine? = nil,
        presenter: ScriptedPresenter = ScriptedPresenter()
    ) async -> Result<Evaluation, ServiceError> {
        let engine = engine ?? self.engine()
        do throws(ServiceError) {
            return .success(try await engine.evaluate(request, presenter: presenter))
        } catch {
            return .failure(error)
        }
    }

    static func request(
        _ policy: Policy = .biometrics,
        purpose: TouchPurpose = .yes,
        reason: String = "unlock the test",
        reuse: Duration = .zero,
        interactionAllowed: Bool = true,
        timeout: Duration = .seconds(600)
    ) -> EvaluationRequest {
        EvaluationRequest(
            policy: policy,
            purpose: purpose,
            reason: reason,
            application: application,
            reuse: reuse,
            interactionAllowed: interactionAllowed,
            timeout: timeout
        )
    }

    /// The tries as they are on the disk; of the fixture's own reader where no class is named.
    func record(of readers: ReaderClass? = nil) async throws -> AttemptRecord {
        let own = ReaderClass(await reader.info.kind)
        let ledger = AttemptLedger(profile: profile, readers: readers ?? own)
        return try await database().read { try ledger.record(in: $0) }
    }

    /// The log as lines of event and outcome, oldest first.
    func log() async throws -> [String] {
        try await AuditLog(database: database()).entries(limit: 1000).reversed()
            .map { "\($0.event.rawValue) \($0.outcome)" }
    }

    func execute(_ sql: String) async throws {
        try await database().write { try $0.execute(script: sql) }
    }
}

extension EnrollmentStore {
    /// An owner who agrees, for tests that are not about that.
    func agreed(_ change: OwnerConsent.Change, _ profile: String) async throws -> OwnerConsent {
        OwnerConsent(to: change, in: try await status(of: profile), by: .passcode)
    }
}

extension Result where Failure == ServiceError {
    /// The error; `nil` for a success.
    var error: ServiceError? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }

    /// The error's code; `nil` for a success.
    var code: ServiceError.Code? { error?.code }

    var success: Success? { try? get() }
}

/// Waits until something holds; a test that waits for ever fails after its limit.
func eventually(
    within limit: Duration = .seconds(300),
    _ condition: @Sendable () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("it did not happen within \(limit)")
            return
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}
