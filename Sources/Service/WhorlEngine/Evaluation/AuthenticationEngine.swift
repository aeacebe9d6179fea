// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
package import WhorlFingerprint
package import WhorlStateStore
package import WhorlService

/// The authentication service in this process: it asks a reader, counts the tries, and records the results.
///
/// It guarantees:
///
/// - a success is a finger that the reader matched with a print of the profile, or a passcode that the authority
///   verified, and its record is written;
/// - a try is on the disk before its scan, and counts as a failure if the run is killed; runs in several processes take
///   turns, so that none gains a try;
/// - the reader is being closed when an answer is given, whatever the answer is; the next work on it waits for that;
/// - every evaluation has exactly one answer: the return value or the thrown error.
///
/// One engine serves any number of evaluations at a time. Those of one profile take turns in no particular
/// order; one that waits longer than its request's timeout ends with `readerInUse`.
package final class AuthenticationEngine: AuthenticationService {
    /// A function that returns the reader to ask, closed, or `nil` when none is connected.
    ///
    /// It may throw `readerNotChosen` where several are connected, and `biometryNotAvailable`.
    package typealias ReaderProvider =
        @Sendable () async throws(ServiceError) -> (any FingerprintReader)?

    /// The profile whose fingers are asked for.
    package let profile: String

    package let state: StateAccess
    let reader: ReaderProvider
    let passcode: any PasscodeAuthority
    package let vault: any VaultSource
    let texts: PromptTexts
    let time: MachineTime
    /// The evaluations that are under way.
    package let interruptions: Interruptions
    let obstacle: ReaderObstacle
    /// The machine's rules for failed tries.
    let rules: AttemptRules
    /// The strength that the machine demands of each touch.
    package let strength: TouchStrength
    /// The machine's time limits for proofs that are kept in a session.
    package let limits: ProofLimits
    /// Returns the stay of this process in its login session, for requests that bring none.
    private let ownStay: OwnStayProvider

    /// A function that returns the stay of this process in its login session; `nil` where its end would not be noticed.
    package typealias OwnStayProvider = @Sendable () async -> String?

    /// Makes an engine from its parts.
    ///
    /// It opens, asks and stores nothing before the first call. Without `ownStay` it does not notice when the screen of its
    /// login session is locked.
    ///
    /// - Parameters:
    ///   - profile: The profile whose fingers are asked for.
    ///   - state: The state with prints, tries and the log.
    ///   - passcode: The authority for the owner's passcode.
    ///   - vault: The vault with the items that a release opens.
    ///   - texts: The texts of prompts for which a request brings none.
    ///   - time: The machine's time.
    ///   - interruptions: The evaluations that an event of the machine ends.
    ///   - obstacle: Waits until a reader can no longer be touched, and returns the reason.
    ///   - rules: The machine's rules for failed tries.
    ///   - strength: The strength that the machine demands of each touch.
    ///   - limits: The machine's time limits for proofs that are kept in a session.
    ///   - ownStay: Returns the stay of this process in its login session.
    ///   - reader: Gives the reader; it is called for each evaluation.
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

    /// Returns the same engine with another authority for the passcode, or another reader.
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

    /// Returns the stay in which what is shown for a request counts; `nil` where none is known.
    func stay(of request: EvaluationRequest) async -> String? {
        if let stay = request.stay { return stay }
        // The process of a service stays in no session of its callers'.
        return request.asker == nil ? await ownStay() : nil
    }

    /// Returns whether an evaluation could succeed now.
    ///
    /// It never prompts, never opens the reader and stores nothing.
    ///
    /// A try that a killed run left open is not counted here. The next evaluation counts it first, and may then end
    /// with `biometryLockout` although the preflight found no obstacle.
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

    /// Asks the person for a finger, or for the passcode, and returns only when one of them was right.
    ///
    /// Three presentations that do not match end the finger's part with `authenticationFailed`; the fifth in a row over
    /// all evaluations, processes and restarts ends it with `biometryLockout`. A reader that cannot search its prints
    /// compares with the most recently matched one alone.
    ///
    /// Under `deviceOwner`, where a passcode is set and the presenter takes one, finger and passcode are asked for in
    /// one prompt. The first that is right is the answer; neither waits for the other, and a part that ends without
    /// success leaves the prompt to the other one. Where no finger can be asked for, the prompt asks for the passcode
    /// alone. The passcode lifts a lock on fingers and opens no reuse window. Where the presenter takes no passcode,
    /// the error that keeps fingers away is thrown.
    ///
    /// If the machine demands the passcode with each touch, both policies ask for the finger and then for the passcode.
    ///
    /// - Throws: `reasonMissing` before any other error; then the obstacle that ``preflight(_:for:)`` would return;
    ///   `notInteractive`, `readerInUse`, `timedOut`, `systemCancel` when the reader gave up, `userCancel`,
    ///   `userFallback`, `appCancel` when the task was cancelled, `biometryDisconnected` when the reader was unplugged,
    ///   `biometryNotAvailable` when it failed or gave an answer that cannot be true, `storeFailed` when a record could
    ///   not be written, `passcodeNotSet` when the passcode was removed during the evaluation. The error of the
    ///   finger's part takes precedence over the passcode's.
    @concurrent
    package func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        let keeper = request.session.flatMap { _ in (passcode as? VaultPasscode).map(ProofKeeper.init) }
        return try await evaluate(request, keeper: keeper, presenter)
    }
}
