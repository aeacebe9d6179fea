// SPDX-License-Identifier: Apache-2.0

public import Enrollment
import Fingerprint
import StateStore
public import Vault

/// A request for the owner's consent to a change of the enrolled fingers.
public struct ConsentRequest: Sendable {
    /// The program that asks.
    public var application: ApplicationID
    /// For how long each touch, key or verdict is waited for.
    public var timeout: Duration
    /// Whether only the passcode is asked for: for programs that have it already.
    public var passcodeAlone: Bool

    /// A request that takes a finger or the passcode.
    public init(
        application: ApplicationID,
        timeout: Duration = .seconds(60),
        passcodeAlone: Bool = false
    ) {
        self.application = application
        self.timeout = timeout
        self.passcodeAlone = passcodeAlone
    }
}

extension AuthenticationEngine {
    /// Asks the owner to agree to a change of the enrolled fingers.
    ///
    /// It is an evaluation like any other: each touch is charged before its scan, a lockout leaves the passcode alone, and
    /// the log has a line with the reason. No earlier match stands in for a touch. Where the fingers cannot be trusted, only
    /// the passcode counts.
    ///
    /// - Parameters:
    ///   - change: What the owner is asked for.
    ///   - request: How the owner is asked.
    ///   - presenter: Shows the prompt.
    /// - Returns: The consent, for this change of the fingers as they were before the owner was asked. `nil` where nobody
    ///   needs to be asked: the first finger where no passcode is set, giving all fingers up that cannot be trusted
    ///   where none is set, removing all where none is enrolled, or accepting fingers that are in order.
    /// - Throws: what ``evaluate(_:presenter:)`` throws; `enrollmentTampered` and `enrollmentRolledBack` for a change that
    ///   needs sound fingers; `passcodeNotSet` for accepting where none is set.
    @concurrent
    public func consent(
        to change: OwnerConsent.Change,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) -> OwnerConsent? {
        // Where nothing was ever stored, there is neither a finger nor a passcode.
        guard let standing = try await standingFingers() else { return nil }
        if let fault = standing.fault, change.needsSoundFingers { throw AuthenticationError(fault) }
        if change.isEmpty(in: standing) { return nil }
        let evaluation: EvaluationRequest
        switch standing.need {
        case .nothing:
            guard change != .accept else { throw .nothingVouchesForOwner }
            return nil
        case .passcode:
            evaluation = self.evaluation(for: change, request, standing.need, ways: .passcode)
        case .fingerOrPasscode:
            let ways = await ways(standing, request)
            evaluation = self.evaluation(for: change, request, standing.need, ways: ways)
        }
        let owner: Evaluation
        do {
            owner = try await evaluate(evaluation, presenter: presenter)
        } catch {
            throw error.code == .biometryDisconnected ? .ownersReaderAway(error) : error
        }
        // Neither can happen: no window is open to a request without one, and no finger is asked for beside a lone passcode.
        guard !owner.isReused, standing.need != .passcode || owner.method == .passcode else {
            throw AuthenticationError(.authenticationFailed, cause: "not shown for this change")
        }
        return OwnerConsent(to: change, in: standing, by: owner.method == .biometry ? .finger : .passcode)
    }

    /// Asks the owner to agree to a first passcode, by an enrolled finger.
    ///
    /// - Returns: What `Vault.setPasscode(_:of:shown:)` needs; `nil` where no finger is enrolled.
    /// - Throws: as ``consent(to:_:presenter:)``.
    @concurrent
    public func proofForFirstPasscode(
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) -> OwnerProof? {
        guard let standing = try await standingFingers(), standing.hasFingers else { return nil }
        let evaluation = try await evaluate(
            EvaluationRequest(
                policy: .biometrics,
                reason: "touch an enrolled finger to set a passcode",
                application: request.application,
                fallbackTitle: "",
                timeout: request.timeout
            ),
            presenter: presenter
        )
        return evaluation.isReused ? nil : proof(of: evaluation, nil)
    }

    private func standingFingers() async throws(AuthenticationError) -> FingersStanding? {
        do throws(EnrollmentError) {
            let database: StateDatabase?
            do throws(StateError) { database = try await state.existing() } catch {
                throw EnrollmentError(.store(error))
            }
            guard let database else { return nil }
            return try await EnrollmentStore(database: database, generations: state.generations)
                .standing(of: profile)
        } catch {
            throw AuthenticationError(error)
        }
    }

    /// What the owner can show now; a finger also where it is the only thing, so that its obstacle is told.
    private func ways(_ standing: FingersStanding, _ request: ConsentRequest) async -> Prompt.Parts {
        guard !request.passcodeAlone else { return .passcode }
        guard standing.isPasscodeSet else { return .finger }
        let canTouch = await preflight(.biometrics, for: request.application).canEvaluate
        return canTouch ? [.finger, .passcode] : .passcode
    }

    private func evaluation(
        for change: OwnerConsent.Change,
        _ request: ConsentRequest,
        _ need: FingersStanding.Need,
        ways: Prompt.Parts
    ) -> EvaluationRequest {
        var evaluation = EvaluationRequest(
            policy: ways.contains(.passcode) ? .deviceOwner : .biometrics,
            reason: "\(ways.instruction) to \(change.spoken)",
            application: request.application,
            // Without a passcode nothing is left to fall back on.
            fallbackTitle: ways.contains(.passcode) ? nil : "",
            timeout: request.timeout
        )
        // Where only a lock keeps fingers away, the prompt says so.
        evaluation.takesPasscodeAlone = request.passcodeAlone || need == .passcode
        return evaluation
    }
}

extension OwnerConsent.Change {
    /// Whether it is refused where the fingers cannot be trusted.
    fileprivate var needsSoundFingers: Bool {
        switch self {
        case .add, .remove(.print), .remove(.finger): true
        case .remove(.all), .accept: false
        }
    }

    /// Whether it changes nothing.
    fileprivate func isEmpty(in standing: FingersStanding) -> Bool {
        switch self {
        case .add, .remove(.print), .remove(.finger): false
        case .remove(.all): standing.fault == nil && !standing.hasFingers
        case .accept: standing.fault == nil
        }
    }

    /// The change as the end of a sentence, for prompts and the log.
    fileprivate var spoken: String {
        switch self {
        case .add(let finger): "enroll the \(finger.spokenName)"
        case .remove(.print): "remove a finger"
        case .remove(.finger(let finger, on: _)): "remove the \(finger.spokenName)"
        case .remove(.all): "remove all fingers"
        case .accept: "accept the changed fingers"
        }
    }
}

extension Prompt.Parts {
    /// What the person does, as the beginning of a sentence.
    fileprivate var instruction: String {
        switch self {
        case [.finger, .passcode]: "touch an enrolled finger, or type the passcode,"
        case .finger: "touch an enrolled finger"
        default: "type the passcode"
        }
    }
}

extension AuthenticationError {
    /// A finger on another reader can agree there, and nowhere else.
    fileprivate static func ownersReaderAway(_ error: AuthenticationError) -> AuthenticationError {
        AuthenticationError(
            error.code,
            recovery: "Plug that reader in and set a passcode with it (`whorl passcode set`): that agrees "
                + "for every reader.",
            cause: error.cause
        )
    }

    fileprivate static let nothingVouchesForOwner = AuthenticationError(
        .passcodeNotSet,
        message: "No passcode is set, and the fingers cannot be trusted: nothing tells who their owner is.",
        recovery: "Give them up with `whorl remove --all`, then enroll again; secrets and keys are kept."
    )
}
