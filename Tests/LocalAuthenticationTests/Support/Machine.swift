// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Foundation
import LocalAuthentication
import WhorlSecretMemory
import WhorlService

/// A service on a machine of a test's choice.
///
/// What may be evaluated is decided by the engine's own rules, and the prompt is run by its own race; only the reader is
/// missing.
final class Machine: AuthenticationService {
    /// What becomes of the finger.
    enum Scan: Sendable {
        /// An enrolled one is laid on.
        case match
        /// The passcode was typed instead.
        case passcode
        /// It ends with this failure.
        case fails(ServiceError.Code)
        /// None comes; only cancelling ends it.
        case nothing
        /// An enrolled one is laid on in the very moment in which the evaluation is cancelled.
        case matchWhenCancelled
    }

    let preconditions: Preconditions
    let digest: Data?
    let scan: Scan
    /// One for each evaluation that reached the service.
    let requests: AsyncStream<EvaluationRequest>
    private let sink: AsyncStream<EvaluationRequest>.Continuation
    private let desk = Desk()

    init(
        _ preconditions: Preconditions = .ready,
        digest: Data? = Data(repeating: 7, count: 32),
        scan: Scan = .match
    ) {
        self.preconditions = preconditions
        self.digest = digest
        self.scan = scan
        (requests, sink) = AsyncStream.makeStream()
    }

    func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight {
        // Through an actor and a yield: the answer needs more than one turn, and whoever waits for it must not be in its way.
        await desk.visit()
        await Task.yield()
        let obstacle: ServiceError? =
            switch preconditions.plan(for: policy) {
            case .finger, .passcode: nil
            case .refuse(let error): error
            }
        return Preflight(
            obstacle: obstacle,
            hasReader: hasReader,
            readerKind: hasReader ? .mock : nil,
            domainState: digest,
            isPasscodeSet: preconditions.hasPasscode
        )
    }

    func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        sink.yield(request)
        switch preconditions.plan(for: request.policy) {
        case .finger: break
        case .passcode(insteadOf: let obstacle), .refuse(let obstacle): throw obstacle
        }
        if request.reuse > .zero { return evaluation(.biometry, isReused: true) }
        guard request.interactionAllowed else { throw ServiceError(.notInteractive) }
        let prompt = PromptTexts().prompt(
            for: request,
            .standard,
            at: .test,
            hasPasscode: preconditions.hasPasscode
        )
        return try await PromptRace(prompt: prompt, presenter: presenter).result { entry in
            entry.send(.scan(.touch))
            return await self.outcome()
        }.get()
    }

    func isOptedOut(_ application: ApplicationID) async throws(ServiceError) -> Bool {
        preconditions.isOptedOut
    }

    func setOptedOut(
        _ optedOut: Bool,
        for application: ApplicationID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {}

    private func outcome() async -> Result<Evaluation, ServiceError> {
        switch scan {
        case .match: return .success(evaluation(.biometry, isReused: false))
        case .passcode: return .success(evaluation(.passcode, isReused: false))
        case .fails(let code): return .failure(ServiceError(code))
        case .nothing:
            await cancellation()
            return .failure(ServiceError(.appCancel))
        case .matchWhenCancelled:
            await cancellation()
            return .success(evaluation(.biometry, isReused: false))
        }
    }

    /// Returns when the task is cancelled.
    private func cancellation() async {
        let never = AsyncStream<Never> { _ in }
        for await _ in never {}
    }

    private func evaluation(_ method: Evaluation.Method, isReused: Bool) -> Evaluation {
        Evaluation(
            method: method,
            finger: method == .biometry ? .rightIndex : nil,
            domainState: digest,
            isReused: isReused,
            readerKind: .mock
        )
    }

    private var hasReader: Bool {
        switch preconditions.reader {
        case .connected: true
        case .none, .unclear: false
        }
    }

    private actor Desk {
        private var visits = 0
        func visit() { visits += 1 }
    }
}

extension ReaderInfo {
    static let test = ReaderInfo(
        id: ReaderID(rawValue: "test-0"),
        driver: "test",
        name: "Test reader",
        kind: .mock,
        scanType: .press,
        features: [.identify, .verify],
        enrollStages: 5,
        storage: .host,
        strength: .none,
        access: ReaderAccess(.pretended)
    )
}

extension Preconditions {
    /// A reader, an enrolled finger, a passcode.
    static let ready = Preconditions.make()

    static func make(
        reader: Reader = .connected,
        fingers: Fingers = .usable,
        lock: LockState = .open,
        passcode: Passcode = .set,
        optedOut: Bool = false,
        fault: ServiceError.Code? = nil,
        store: ServiceError.Code? = nil
    ) -> Preconditions {
        var preconditions = Preconditions()
        preconditions.reader = reader
        preconditions.fingers = fingers
        preconditions.lock = lock
        preconditions.passcode = passcode
        preconditions.isOptedOut = optedOut
        preconditions.enrollmentFault = fault.map { ServiceError($0) }
        preconditions.storeFailure = store.map { ServiceError($0) }
        return preconditions
    }
}

/// The machine has no chip, and so no items.
extension Machine {
    func make(
        _ item: NewItem,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem { throw ServiceError(.noChip) }

    func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem { throw ServiceError(.noChip) }

    func standing(of items: [SealedItem]) async throws(ServiceError) -> [VaultItem.Standing] {
        throw ServiceError(.noChip)
    }

    func use(
        _ item: ProtectedItem,
        for use: ItemUse,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct> { throw ServiceError(.noChip) }
}
