// SPDX-License-Identifier: Apache-2.0

internal import WhorlEngine
internal import WhorlEnrollment
internal import WhorlFingerprint
internal import Foundation
internal import WhorlStateStore
package import MockReader
internal import WhorlSecretMemory
internal import Synchronization
package import WhorlService
internal import WhorlSupport

/// The real engine with a scripted reader, a temporary state directory and a vault in memory.
package final class SimulatedMachine: AuthenticationService {
    static let profile = "owner"

    /// The scripted reader.
    package let reader: MockReader
    let clock = TestClock()
    let passcode: TestPasscode
    let state: StateAccess
    let engine: AuthenticationEngine
    let vault = TestVault()
    /// The state directory, which is deleted when the last object that uses it is released.
    private let folder: TemporaryFolder
    private let listeners = Mutex<[UUID: AsyncStream<Void>.Continuation]>([:])

    /// Creates a machine that has a reader, but no enrolled fingers and no passcode.
    package init() {
        var script = MockScript()
        script.settings.stages = 1
        let reader = MockReader(script)
        let folder = TemporaryFolder()
        let state = StateAccess(directory: StateDirectory(path: folder.path))
        let source = MockReaderSource([reader])
        let passcode = TestPasscode(time: clock.time)
        self.passcode = passcode
        self.reader = reader
        self.folder = folder
        self.state = state
        engine = AuthenticationEngine(
            profile: SimulatedMachine.profile,
            state: state,
            passcode: passcode,
            time: clock.time,
            reader: { source.readers().first }
        )
    }

    package func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight {
        await engine.preflight(policy, for: application)
    }

    package func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        let evaluation = try await engine.evaluate(request, presenter: presenter)
        vault.remember(evaluation, for: request, await binding(), at: clock.time.now())
        return evaluation
    }

    package func isOptedOut(_ application: ApplicationID) async throws(ServiceError) -> Bool {
        try await engine.isOptedOut(application)
    }

    /// Stores whether the user has disabled fingers for an app.
    package func setOptedOut(_ optedOut: Bool, for application: ApplicationID)
        async throws(ServiceError)
    {
        try await engine.setOptedOut(optedOut, for: application)
    }

    package func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        try await engine.setOptedOut(optedOut, for: application, request, presenter: presenter)
    }

    /// Returns the keychain rows of an application.
    package func keychain(of application: ApplicationID) -> any KeychainRowService {
        KeychainRows(of: Self.profile, in: [application.rawValue]) {
            [state] creating async throws(ServiceError) in
            creating ? try await state.created() : try await state.existing()
        }
    }

    /// Returns numbers that differ after each change of the state, or `nil` if the state cannot be read.
    package func changeMark() async -> [Int]? {
        // A state that cannot be read has no mark and counts as changed.
        guard let database = try? await state.existing() else { return nil }
        return try? await database.changeMark()
    }

    /// Returns the current state, to which new items are bound.
    func binding() async -> TestVault.Binding {
        let fingers = try? await state.createdStore().state(of: Self.profile, application: "")?.generation
        return TestVault.Binding(fingers: fingers, passcode: passcode.serial)
    }

    // MARK: - Events

    /// Returns a stream with an event for each reader that is connected or disconnected, and for each change of the
    /// passcode.
    package func events() -> AsyncStream<Void> {
        let (stream, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        listeners.withLock { $0[id] = sink }
        let plugs = MockReaderSource([reader]).changes()
        let forwarding = Task(executorPreference: currentExecutor) { for await _ in plugs { sink.yield() } }
        sink.onTermination = { [weak self] _ in
            forwarding.cancel()
            self?.forget(id)
        }
        return stream
    }

    private func forget(_ listener: UUID) { listeners.withLock { $0[listener] = nil } }

    /// Notifies observers of a change that is not visible in the database.
    func announce() {
        for sink in listeners.withLock({ Array($0.values) }) { sink.yield() }
    }
}

/// A temporary folder that is deleted when this object is released.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "local-authentication-test-\(UUID().uuidString)").path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A clock that advances only when a test tells it to, so that the speed of the machine does not matter.
final class TestClock: Sendable {
    private let begin = MachineTime.system.now()
    private let passed = Mutex<Int64>(0)

    var time: MachineTime {
        MachineTime { [self] in
            let now = begin
            let passed = passed.withLock(\.self)
            return Moment(
                bootID: now.bootID,
                sinceBoot: now.sinceBoot + passed,
                wall: now.wall + passed,
                asleep: now.asleep
            )
        }
    }

    func pass(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        passed.withLock { $0 += seconds * 1000 + attoseconds / 1_000_000_000_000_000 }
    }
}
