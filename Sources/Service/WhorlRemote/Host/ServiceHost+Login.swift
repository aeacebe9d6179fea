// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import Synchronization
import WhorlIPC
package import WhorlService
import WhorlSupport

/// The parts of a system-wide service that logins use.
package struct LoginAccess: Sendable {
    /// The only user ID that may make requests.
    let asker: UInt32
    /// Returns the service that handles a user's requests.
    let owner: @Sendable (UInt32) throws(ServiceError) -> any ServiceAsker
    /// Enrolls another program's prints for a user.
    let takeOver: TakeOver
    /// Returns the reason why a user cannot be prompted for a touch, if it is known immediately and does not depend on
    /// the caller.
    let obstacle: Obstacle
    /// Returns a user's keyring; `nil` if logins do not unlock a keyring.
    let keyring: @Sendable (UInt32) throws(ServiceError) -> (any LoginKeyring)?
    /// The counter of failed attempts of all logins on this machine; `nil` if they are not counted.
    let place: (any PlaceTries)?
    /// Ends the lockout of a user's fingers, and returns whether they were locked out.
    let unlock: Unlock
    /// Identifies which of several users is touching the reader.
    let identify: Identify
    /// The accounts whose state the service stores; `nil` to report none.
    let accounts: (any AccountKeeper)?

    /// Returns the reason why the user with an ID cannot be prompted for a touch; `nil` if the user can be.
    package typealias Obstacle = @Sendable (UInt32) async -> ServiceError?

    /// Ends the lockout of the fingers of the user with an ID, for a program that the administrator has authorized.
    package typealias Unlock = @Sendable (UInt32, Asker?) async throws(ServiceError) -> Bool

    /// Identifies which of the users with these IDs is touching the reader.
    package typealias Identify =
        @Sendable ([UInt32], EvaluationRequest, any PromptPresenter) async throws(ServiceError)
        -> IdentifiedPerson

    /// Enrolls another program's prints for the user with an ID; a dry run does not change anything.
    package typealias TakeOver =
        @Sendable (UInt32, [ForeignPrint], _ isTrial: Bool, _ readersWereClosed: Bool)
        async throws(ServiceError) -> [ImportOutcome]

    /// Creates the description of what logins use.
    ///
    /// - Parameters:
    ///   - asker: The only user ID that may make requests; tests pass their own user ID.
    ///   - owner: Returns the service that handles the requests of the user with an ID.
    ///   - obstacle: Returns the reason why the user with an ID cannot be prompted for a touch, if it is known
    ///     immediately.
    ///   - keyring: Returns the keyring of the user with an ID; by default, there is no keyring.
    ///   - place: The counter of failed attempts of all logins on this machine; `nil` if they are not counted.
    ///   - unlock: Ends the lockout of the fingers of the user with an ID; by default, no fingers are locked out.
    ///   - identify: Identifies which of several users is touching the reader; by default, identifying fails.
    ///   - takeOver: Enrolls prints for the user with an ID; by default, no prints are imported.
    ///   - accounts: The accounts whose state the service stores; by default, there are none.
    package init(
        asker: UInt32 = 0,
        owner: @escaping @Sendable (UInt32) throws(ServiceError) -> any ServiceAsker,
        obstacle: @escaping Obstacle,
        keyring: @escaping @Sendable (UInt32) throws(ServiceError) -> (any LoginKeyring)? = { _ in nil },
        place: (any PlaceTries)?,
        unlock: @escaping Unlock = { _, _ in false },
        identify: @escaping Identify = { _, _, _ throws(ServiceError) in
            throw ServiceError(.biometryNotAvailable, cause: "this service does not identify users")
        },
        takeOver: @escaping TakeOver = { _, prints, _, _ in prints.map { _ in .elsewhere } },
        accounts: (any AccountKeeper)? = nil
    ) {
        self.asker = asker
        self.owner = owner
        self.obstacle = obstacle
        self.keyring = keyring
        self.place = place
        self.unlock = unlock
        self.identify = identify
        self.takeOver = takeOver
        self.accounts = accounts
    }
}

extension ServiceHost {
    /// The time that a login waits for others that use the reader; typing a password is faster than a longer wait.
    static var patience: Duration { .seconds(2) }

    /// Adds the methods that verify logins, if the service has accounts to log in to.
    func addLogin(_ router: inout GuardedRouter) {
        guard let logins else { return }
        addTakeOver(&router, logins)
        addUnlock(&router, logins)
        addPasswords(&router, logins)
        addAccounts(&router, logins)
        addScreenUnlock(&router, logins)
        router.onPrompting(LoginInterface.Identify.self) { (asked, call) async throws(ServiceRefusal) in
            try await answer(asked, call) { (identify, presenter) async throws(ServiceRefusal) in
                var request = identify.request
                // It recognizes the user, and unlocks nothing.
                request.purpose = .yes
                let limited = request
                return try await refusing(
                    presenter,
                    await logins.identify(identify.users, limited, presenter)
                )
            }
        }
        router.on(LoginInterface.Verify.self) { (asked, call) async throws(ServiceRefusal) in
            try await refuseAtOnce(asked, call, logins)
            let (caller, agent) = await caller(asked, call)
            let login = request(asked, caller, logins)
            let answer = await verify(asked, call, caller, logins, login, agent)
            let refusal = answer.mapError { ServiceRefusal(LoginRefused.name, failure: $0) }
            rules.record(CallRecord(LoginInterface.Verify.name, asked.purpose, refusal), of: caller.asker)
            try refusal.get()
            let password = await password(asked, caller, after: login, logins)
            // If no memory file can be created, the login continues without the keyring.
            let isRoom = password.map { (try? SecretDescriptor.make($0.bytes)) != nil } ?? false
            return .init(matched: true, password: isRoom ? password : nil)
        }
    }

    /// Refuses the login of a user without a finger, before querying the login manager for the caller's place.
    ///
    /// This is the case for most logins on a machine without a reader.
    private func refuseAtOnce(
        _ asked: LoginInterface.Verify,
        _ call: ServiceCall,
        _ logins: LoginAccess
    ) async throws(ServiceRefusal) {
        guard let obstacle = await logins.obstacle(asked.user) else { return }
        let refusal = ServiceRefusal(LoginRefused.name, failure: LoginRefused(obstacle))
        let record = CallRecord(LoginInterface.Verify.name, asked.purpose, Result<Void, _>.failure(refusal))
        rules.record(record, of: await rules.asker(call.client))
        throw refusal
    }

    /// Returns the caller, and the process of polkit's agent if the caller makes the request for the agent's user.
    ///
    /// If anything about the passed process is uncertain, the process is ignored. The caller then has its own place,
    /// which polkit's helper does not have.
    private func caller(
        _ asked: LoginInterface.Verify,
        _ call: ServiceCall
    ) async -> (caller: Caller, agent: PeerProcess?) {
        if asked.service == "polkit-1", let place = asked.agent, let agent = call.process(at: place),
            let caller = await rules.caller(call.client, askingFor: agent)
        {
            return (caller, agent)
        }
        return (await rules.caller(call.client), nil)
    }

    private func verify(
        _ asked: LoginInterface.Verify,
        _ call: ServiceCall,
        _ caller: Caller,
        _ logins: LoginAccess,
        _ request: EvaluationRequest,
        _ agent: PeerProcess?
    ) async -> Result<Void, LoginRefused> {
        guard !asked.isRemote(caller) else { return .failure(LoginRefused(.remoteLogin, .remote)) }
        guard !asked.isForElsewhere(caller) else { return .failure(LoginRefused(.unknownPlace, .noSession)) }
        do throws(ServiceError) {
            let owner = try logins.owner(asked.user)
            let session = asked.isLocker ? nil : caller.asker?.session
            // A login does not wait for a program of the user.
            screenUnlocks.endAll(because: .loginAtReader)
            let evaluation = try await evaluate(
                request,
                by: owner,
                LoginPresenter(call: call),
                asOneOf: running,
                in: session
            )
            guard evaluation.isNewTouch else { return .failure(.notATouch) }
            // The helper hangs up when its agent does, but does not notice if the agent has given its socket away.
            guard agent?.isRunning != false else { return .failure(LoginRefused(.polkitAgentEnded)) }
            // A count that cannot be cleared does not stop a login whose touch has matched.
            try? await request.place?.clear()
            return .success(())
        } catch {
            return .failure(LoginRefused(error))
        }
    }

    /// Runs an evaluation that `calls` can end, such as when its login session is locked.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - owner: The owner's service.
    ///   - presenter: Shows the messages.
    ///   - calls: The calls that the evaluation belongs to.
    ///   - session: The login session; `nil` for an evaluation that does not end with one.
    /// - Returns: The evaluation.
    /// - Throws: The evaluation's error, or the reason why it was ended.
    func evaluate(
        _ request: EvaluationRequest,
        by owner: any ServiceAsker,
        _ presenter: LoginPresenter,
        asOneOf calls: RunningCalls,
        in session: String?
    ) async throws(ServiceError) -> Evaluation {
        let reason = Mutex<ServiceError?>(nil)
        let work = Task { () async -> Result<Evaluation, ServiceError> in
            await Result(of: try await owner.evaluate(request, presenter: presenter))
        }
        let number = calls.add(in: session) { error in
            reason.withLock { $0 = error }
            work.cancel()
        }
        defer { calls.remove(number) }
        let answer = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        guard case .failure = answer, let reason = reason.withLock(\.self) else { return try answer.get() }
        throw reason
    }

    private func request(
        _ asked: LoginInterface.Verify,
        _ caller: Caller,
        _ logins: LoginAccess
    ) -> EvaluationRequest {
        let application = asked.purpose.application
        var request = touchRequest(
            asked.isLocker ? .unlockScreen(application) : .logIn(application),
            as: asked.purpose,
            milliseconds: asked.timeoutMilliseconds,
            mostTries: asked.mostTries,
            caller
        )
        // The match is kept for the password that the login may receive after it.
        request.session = OwnerSession()
        // Outside any session, anyone at the machine can name any user; in a session, the user is the session's.
        if caller.asker?.session == nil { request.place = logins.place }
        // In a locked session, only the program that unlocks it may prompt.
        request.obstacle = asked.isLocker ? nil : caller.obstacle
        return request
    }

    /// Returns the request for a touch that a PAM service asks for, without a session of the owner, so that the touch
    /// leaves no proof.
    ///
    /// - Parameters:
    ///   - purpose: What the touch is for.
    ///   - shown: The purpose as the journal shows it.
    ///   - milliseconds: How long to wait for the touch, in milliseconds.
    ///   - mostTries: The maximum number of touches; `nil` for the usual number.
    ///   - caller: The program that asks.
    /// - Returns: The request.
    func touchRequest(
        _ purpose: TouchPurpose,
        as shown: CallPurpose,
        milliseconds: Int64,
        mostTries: Int?,
        _ caller: Caller
    ) -> EvaluationRequest {
        var request = EvaluationRequest(
            policy: .biometrics,
            purpose: purpose,
            reason: shown.text,
            application: ApplicationID(rawValue: shown.application),
            timeout: min(.milliseconds(max(milliseconds, 0)), promptRules.longestTimeout)
        )
        request.patience = Self.patience
        request.mostTries = mostTries
        request.asker = caller.asker
        request.stay = stay(of: caller.asker)
        request.fingerObstacle = caller.fingerObstacle
        return request
    }
}

extension Evaluation {
    /// Whether it was a touch for this request.
    ///
    /// The policy of logins accepts nothing else; anything else would be a bug, and does not count as a match.
    var isNewTouch: Bool { method == .biometry && !isReused }
}

extension LoginRefused {
    static let notATouch = LoginRefused(ServiceError(.authenticationFailed), .failed)
}

extension LoginInterface.Verify {
    /// Returns whether the user is, or may be, at another machine, according to PAM.
    ///
    /// In a session, a screen locker may name this machine as the host. Outside any session, servers such as the print
    /// server do so, and every local user can talk to those, as can programs on other machines through a tunnel.
    fileprivate func isRemote(_ caller: Caller) -> Bool {
        guard let remoteHost, !remoteHost.isEmpty else { return false }
        return remoteHost != "localhost" || caller.asker?.session == nil
    }

    /// Returns whether the PAM service makes the request outside any session and does not specify the user's location.
    ///
    /// Mail, file and VPN servers call PAM for users at other machines, and many do not specify a host. polkit's helper
    /// calls it for an agent's user, and may have passed the agent's process. A program on this machine's own screen
    /// specifies a terminal or is a greeter; some greeters do not have a terminal yet.
    fileprivate func isForElsewhere(_ caller: Caller) -> Bool {
        guard caller.asker?.session == nil else { return false }
        return service.hasPrefix("polkit") || !(namesTerminal || isGreeter)
    }

    /// Whether the specified terminal belongs to this machine; servers specify their own name instead, such as `ssh`.
    private var namesTerminal: Bool {
        guard let terminal else { return false }
        let isScreen = terminal.first == ":" && terminal.dropFirst().first?.isNumber ?? false
        return isScreen || terminal == "console"
            || ["/dev/", "tty", "pts/"].contains { terminal.hasPrefix($0) }
    }

    private var isGreeter: Bool { isOne(of: Self.greeters) }

    /// Whether the PAM service unlocks screens, which greeters also do.
    var isLocker: Bool { isOne(of: Self.greeters) || isOne(of: Self.lockers) }

    private func isOne(of names: [String]) -> Bool {
        names.contains { service == $0 || service.hasPrefix($0 + "-") }
    }

    private static let greeters = ["gdm", "lightdm", "sddm", "plasmalogin", "greetd", "cosmic-greeter"]

    /// The PAM services of screen lockers, which never include sudo, su and polkit.
    private static let lockers = [
        "kde", "kscreensaver", "gnome-screensaver", "cinnamon-screensaver", "mate-screensaver",
        "xfce4-screensaver",
        "budgie-screensaver", "xscreensaver", "swaylock", "hyprlock", "gtklock", "waylock", "i3lock",
        "xsecurelock",
        "physlock", "vlock", "light-locker",
    ]

    /// The purpose, including PAM's strings, as shown in the journal.
    fileprivate var purpose: CallPurpose {
        let service = DisplayText.clean(service, limit: 60)
        let place = terminal.map { DisplayText.clean($0, limit: 60) }.flatMap {
            $0.isEmpty ? nil : " on \($0)"
        }
        return CallPurpose(
            application: service.isEmpty ? "login" : service,
            text: "log in as user \(user)\(place ?? "")"
        )
    }
}

extension ServiceError {
    /// The end of a screen locker's prompt when a login needs the reader.
    fileprivate static let loginAtReader = ServiceError(
        .systemCancel,
        message: "A login needs the fingerprint reader.",
        recovery: "Use the password, or try again."
    )

    fileprivate static let remoteLogin = ServiceError(
        .notInteractive,
        message: "This is a remote login; the fingerprint reader is at this computer.",
        recovery: "Use the password."
    )

    fileprivate static let polkitAgentEnded = ServiceError(
        .systemCancel,
        message: "polkit's agent exited before the touch.",
        recovery: "Ask again."
    )

    fileprivate static let unknownPlace = ServiceError(
        .notInteractive,
        message: "The service cannot tell where the login comes from.",
        recovery: "Use the password."
    )
}

/// The presenter for a login, which sends messages for the user to the requesting program and does not accept anything
/// from it.
struct LoginPresenter: PromptPresenter {
    let call: ServiceCall

    /// Whether the user can see the prompt: a program that does not accept updates cannot show any messages.
    var isInteractive: Bool { get async { call.wantsMore } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await update in entry.updates {
            guard !update.isEnd, let message = prompt.message(for: update) else { continue }
            call.update(LoginInterface.Answer(message: message))
        }
        return nil
    }
}

extension PromptUpdate {
    /// Whether the update only reports the outcome, which the reply contains as well.
    fileprivate var isEnd: Bool {
        switch self {
        case .matched, .verified, .ended: true
        case .scan, .noMatch, .anotherFinger, .fingerEnded, .checking, .wrongPasscode, .throttled,
            .passcodeEnded:
            false
        }
    }
}
