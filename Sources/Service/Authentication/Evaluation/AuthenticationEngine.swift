// SPDX-License-Identifier: Apache-2.0

import Enrollment
public import Fingerprint
package import StateStore

/// The authentication service in this process: it asks a reader, counts the tries, and keeps the books.
///
/// What it is sure of:
///
/// - a success is a finger that the reader matched with a print of the profile, or a passcode that the authority
///   verified, whose bookkeeping has not failed;
/// - a try is on the disk before its scan, and a run that is killed is charged for it; runs in several
///   processes take turns, so that none gains a try;
/// - the reader is being closed when an answer is given, whatever the answer is; the next work on it waits for that;
/// - every evaluation has exactly one answer: the return value or the thrown error.
///
/// One engine serves any number of evaluations at a time. Those of one profile take turns in no particular
/// order; one that waits longer than its request's timeout ends with `readerInUse`.
public final class AuthenticationEngine: AuthenticationService {
    /// Gives the reader that is to be asked, closed; `nil` when none is connected.
    ///
    /// It may throw `readerNotChosen` where several are connected, and `biometryNotAvailable`.
    public typealias ReaderProvider =
        @Sendable () async throws(AuthenticationError) -> (any FingerprintReader)?

    /// Whose fingers are asked for.
    public let profile: String

    let state: StateAccess
    let reader: ReaderProvider
    let passcode: any PasscodeAuthority
    let vault: VaultAccess
    let texts: PromptTexts
    let time: MachineTime

    /// Composes an engine.
    ///
    /// Nothing is opened, asked or stored before the first call.
    ///
    /// - Parameters:
    ///   - profile: Whose fingers are asked for.
    ///   - state: Where prints, tries and the log are.
    ///   - passcode: Who knows the owner's passcode.
    ///   - vault: Where the items are that a release opens.
    ///   - texts: What prompts say where a request brings no text.
    ///   - reader: Gives the reader, at each evaluation anew.
    public convenience init(
        profile: String,
        state: StateAccess,
        passcode: any PasscodeAuthority = NoPasscode(),
        vault: VaultAccess = .none,
        texts: PromptTexts = PromptTexts(),
        reader: @escaping ReaderProvider
    ) {
        self.init(
            profile: profile,
            state: state,
            passcode: passcode,
            vault: vault,
            texts: texts,
            time: .system,
            reader: reader
        )
    }

    package init(
        profile: String,
        state: StateAccess,
        passcode: any PasscodeAuthority = NoPasscode(),
        vault: VaultAccess = .none,
        texts: PromptTexts = PromptTexts(),
        time: MachineTime,
        reader: @escaping ReaderProvider
    ) {
        self.profile = profile
        self.state = state
        self.reader = reader
        self.passcode = passcode
        self.vault = vault
        self.texts = texts
        self.time = time
    }

    /// The same engine with another authority for the passcode.
    func with(_ passcode: any PasscodeAuthority) -> AuthenticationEngine {
        AuthenticationEngine(
            profile: profile,
            state: state,
            passcode: passcode,
            vault: vault,
            texts: texts,
            time: time,
            reader: reader
        )
    }

    /// Whether an evaluation could succeed now.
    ///
    /// It never prompts, never opens the reader and stores nothing.
    ///
    /// A try that a killed run left open is not counted here; the next evaluation charges it first, and may
    /// then end with `biometryLockout` although this said yes.
    @concurrent
    public func preflight(_ policy: Policy, for application: ApplicationID) async -> Preflight {
        let survey = await survey(for: application)
        let obstacle: AuthenticationError? =
            switch survey.standing.plan(for: policy) {
            case .finger, .passcode: nil
            case .refuse(let error): error
            }
        return Preflight(
            obstacle: obstacle,
            hasReader: survey.hasReader,
            readerKind: survey.readerInfo?.kind,
            domainState: survey.enrollment?.digest,
            isPasscodeSet: survey.standing.hasPasscode
        )
    }

    /// Asks the person for a finger, or for the passcode, and returns only when one of them was right.
    ///
    /// Three presentations that do not match end the finger's part with `authenticationFailed`; the fifth in a row over
    /// all evaluations, processes and restarts ends it with `biometryLockout`. A reader that cannot search its prints
    /// compares with the most recently matched one alone.
    ///
    /// Under `deviceOwner`, where a passcode is set and the presenter takes one, both are asked for in one prompt. The
    /// first that is right is the answer; neither waits for the other, and a part that ends without success leaves the
    /// prompt to the other one. Where no finger can be asked for, the passcode alone is. It lifts a lock on fingers and
    /// opens no reuse window. Where the presenter takes none, the error that keeps fingers away is thrown.
    ///
    /// - Throws: `reasonMissing` before anything else; then what ``preflight(_:for:)`` would answer;
    ///   `notInteractive`, `readerInUse`, `systemCancel` when nothing came in time or the reader gave up,
    ///   `userCancel`, `userFallback`, `appCancel` when the task was cancelled, `biometryDisconnected` when the
    ///   reader was unplugged, `biometryNotAvailable` when it failed or said what cannot be true, `storeFailed`
    ///   when something could not be written down, `passcodeNotSet` when the passcode was removed meanwhile. What ended
    ///   the finger's part comes before what ended the passcode's.
    @concurrent
    public func evaluate(
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) -> Evaluation {
        let keeper = request.session.flatMap { _ in (passcode as? VaultPasscode).map(ProofKeeper.init) }
        return try await evaluate(request, keeper: keeper, presenter)
    }
}
