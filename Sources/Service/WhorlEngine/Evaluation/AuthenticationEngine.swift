// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
package import WhorlFingerprint
package import WhorlStateStore
package import WhorlService

/// The authentication service in this process, which uses a reader, counts the attempts, and records the results.
///
/// It guarantees:
///
/// - An evaluation succeeds only if the reader matched a finger with a print of the profile or the authority verified a
///   passcode, and only after this has been recorded.
/// - An attempt is written to disk before its scan, and counts as a failure if the process is killed. Processes take
///   turns, so that using several of them does not yield additional attempts.
/// - When an answer is returned, the reader is already being closed, regardless of the answer. The next operation on
///   the reader waits until it is closed.
/// - Every evaluation has exactly one answer: the return value or the thrown error.
///
/// One engine can handle any number of evaluations at the same time. Evaluations of the same profile take turns in no
/// particular order; one that waits longer than its request's timeout fails with `readerInUse`.
package final class AuthenticationEngine: AuthenticationService {
    /// A function that returns the reader, which is closed; `nil` if no reader is connected.
    ///
    /// It may throw `biometryNotAvailable`, and `readerNotChosen` if several readers are connected.
    package typealias ReaderProvider =
        @Sendable () async throws(ServiceError) -> (any FingerprintReader)?

    /// The profile to which the fingers belong.
    package let profile: String

    package let state: StateAccess
    let reader: ReaderProvider
    let passcode: any PasscodeAuthority
    package let vault: any VaultSource
    let texts: PromptTexts
    let time: MachineTime
    /// The evaluations in progress.
    package let interruptions: Interruptions
    let obstacle: ReaderObstacle
    /// The machine's rules for failed attempts.
    let rules: AttemptRules
    /// The strength that the machine requires of each touch.
    package let strength: TouchStrength
    /// The machine's time limits for proofs that a session stores.
    package let limits: ProofLimits
    /// Returns the stay of this process in its login session, which applies to requests that do not specify one.
    private let ownStay: OwnStayProvider

    /// A function that returns the stay of this process in its login session; `nil` if the end of the stay would go
    /// unnoticed.
    package typealias OwnStayProvider = @Sendable () async -> String?

    /// Creates an engine from its parts.
    ///
    /// The engine does not open, prompt for or store anything before the first call. Without `ownStay`, it does not
    /// notice when the screen of its login session is locked.
    ///
    /// - Parameters:
    ///   - profile: The profile to which the fingers belong.
    ///   - state: The state, which contains prints, attempts and the log.
    ///   - passcode: The authority for the owner's passcode.
    ///   - vault: The vault, which contains the items to release.
    ///   - texts: The default texts of prompts.
    ///   - time: The machine's time.
    ///   - interruptions: The evaluations in progress, which events such as the machine's sleep can end.
    ///   - obstacle: Waits until a reader can no longer be touched, and returns the reason.
    ///   - rules: The machine's rules for failed attempts.
    ///   - strength: The strength that the machine requires of each touch.
    ///   - limits: The machine's time limits for proofs that a session stores.
    ///   - ownStay: Returns the stay of this process in its login session.
    ///   - reader: Returns the reader; called for each evaluation.
    package init(
        profile: String,
        state: StateAccess,
        passcode: any PasscodeAuthority = NoPasscode(),
        vault: any VaultSource = NoVault(),
        texts: PromptTexts = PromptTexts(),
        time: MachineTime = .system,
        interruptions: Interruptions = Interruptions(),
        obstacle: @escaping ReaderObstacle = { _ in nil },
        rules: AttemptRules = .standard,
        strength: TouchStrength = .any,
        limits: ProofLimits = .standard,
        ownStay: @escaping OwnStayProvider = { "" },
        reader: @escaping ReaderProvider
    ) {
        self.ownStay = ownStay
        self.obstacle = obstacle
        self.rules = rules
        self.strength = strength
        self.limits = limits
        self.interruptions = interruptions
        self.profile = profile
        self.state = state
        self.reader = reader
        self.passcode = passcode
        self.vault = vault
        self.texts = texts
        self.time = time
    }

    /// Returns the same engine with a different passcode authority or reader.
    package func with(
        _ passcode: (any PasscodeAuthority)? = nil,
        reader: ReaderProvider? = nil
    ) -> AuthenticationEngine {
        AuthenticationEngine(
            profile: profile,
            state: state,
            passcode: passcode ?? self.passcode,
            vault: vault,
            texts: texts,
            time: time,
            interruptions: interruptions,
            obstacle: obstacle,
            rules: rules,
            strength: strength,
            limits: limits,
            ownStay: ownStay,
            reader: reader ?? self.reader
        )
    }

    /// Returns the stay to which a request's proofs belong; `nil` if it is unknown.
    func stay(of request: EvaluationRequest) async -> String? {
        if let stay = request.stay { return stay }
        // A service process is not part of its callers' sessions.
        return request.asker == nil ? await ownStay() : nil
    }

    /// Returns whether an evaluation could succeed now.
    ///
    /// It never prompts, opens the reader or stores anything.
    ///
    /// An attempt that a killed process has left open is not counted here. The next evaluation counts it first, and may
    /// then fail with `biometryLockout` although the preflight did not find an obstacle.
    @concurrent
    package func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight {
        let facts = await preflightFacts(for: application, demanding: [strength])
        let obstacle: ServiceError? =
            switch facts.preconditions.plan(for: policy) {
            case .finger, .passcode: nil
            case .refuse(let error): error
            }
        return Preflight(
            obstacle: obstacle,
            hasReader: facts.hasReader,
            readerKind: facts.readerInfo?.kind,
            domainState: facts.enrollment?.digest,
            isPasscodeSet: facts.preconditions.hasPasscode
        )
    }

    /// Prompts for a finger or the passcode, and returns only if one of them was correct.
    ///
    /// After three touches that do not match, the finger's part ends with `authenticationFailed`. After five in a row,
    /// counting all evaluations and processes even across restarts, it ends with `biometryLockout`. A reader that
    /// cannot search its prints compares only with the most recently matched print.
    ///
    /// Under `deviceOwner`, if a passcode is set and the presenter accepts one, the same prompt accepts both a finger
    /// and the passcode. The first correct one is the answer. Neither waits for the other, and if one part fails, the
    /// prompt stays open for the other. If a finger cannot be used, the prompt accepts only the passcode. The passcode
    /// ends a lockout of fingers and does not open a reuse window. If the presenter does not accept a passcode, the
    /// error that explains why a finger cannot be used is thrown.
    ///
    /// If the machine requires the passcode with each touch, both policies prompt for the finger and then for the
    /// passcode.
    ///
    /// - Throws: `reasonMissing` before any other error; then the obstacle that ``preflight(_:for:)`` would return;
    ///   `notInteractive`, `readerInUse`, `timedOut`, `systemCancel` if the reader stopped the scan, `userCancel`,
    ///   `userFallback`, `appCancel` if the task was cancelled, `biometryDisconnected` if the reader was unplugged,
    ///   `biometryNotAvailable` if it failed or returned an impossible result, `storeFailed` if a record could not be
    ///   written, `passcodeNotSet` if the passcode was removed during the evaluation. The error of the finger's part
    ///   takes precedence over the passcode's.
    @concurrent
    package func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        let keeper = request.session.flatMap { _ in (passcode as? VaultPasscode).map(ProofKeeper.init) }
        return try await evaluate(request, keeper: keeper, presenter)
    }
}
