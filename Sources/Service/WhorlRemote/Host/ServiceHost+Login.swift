// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import Synchronization
import WhorlIPC
package import WhorlService
import WhorlSupport

/// The access of logins to a service of the whole system.
package struct LoginAccess: Sendable {
    /// The only user who may ask.
    let asker: UInt32
    /// Returns the owner's service of a user.
    let owner: @Sendable (UInt32) throws(ServiceError) -> any ServiceAsker
    /// Enrolls prints for a user that another program has made.
    let takeOver: TakeOver
    /// Returns the reason why no touch of a user can be asked for, where that is known at once and does not depend on the caller.
    let obstacle: Obstacle
    /// Returns the keyring of a user; `nil` where logins have none.
    let keyring: @Sendable (UInt32) throws(ServiceError) -> (any LoginKeyring)?
    /// The failed tries of all logins at this machine; `nil` where they are not counted.
    let place: (any PlaceTries)?
    /// Lifts the lock on the fingers of a user, and returns whether they were locked.
    let unlock: Unlock
    /// Asks which of several users touches the reader.
    let identify: Identify
    /// The accounts whose state the service keeps; without them no one is told of any.
    let accounts: (any AccountKeeper)?

    /// Returns the reason why no touch of the user with a number can be asked for; `nil` where one may be.
    package typealias Obstacle = @Sendable (UInt32) async -> ServiceError?

    /// Lifts the lock on the fingers of the user with a number, for a program that the administration has allowed to.
    package typealias Unlock = @Sendable (UInt32, Asker?) async throws(ServiceError) -> Bool

    /// Asks which of the users with these numbers touches the reader.
    package typealias Identify =
        @Sendable ([UInt32], EvaluationRequest, any PromptPresenter) async throws(ServiceError)
        -> IdentifiedPerson

    /// Enrolls prints for the user with a number; in a trial, nothing is changed.
    package typealias TakeOver =
        @Sendable (UInt32, [ForeignPrint], _ isTrial: Bool, _ readersWereClosed: Bool)
        async throws(ServiceError) -> [ImportOutcome]

    /// Describes the access.
    ///
    /// - Parameters:
    ///   - asker: The only user who may ask; a test names its own.
    ///   - owner: Returns the owner's service of the user with a number.
    ///   - obstacle: Returns the reason why no touch of the user with a number can be asked for, where that is known at once.
    ///   - keyring: Returns the keyring of the user with a number; by default there is none.
    ///   - place: The failed tries of all logins at this machine; `nil` where they are not counted.
    ///   - unlock: Lifts the lock on the fingers of the user with a number; by default none is locked.
    ///   - identify: Asks which of several users touches the reader; by default none is identified.
    ///   - takeOver: Enrolls prints for the user with a number; by default none is taken.
    ///   - accounts: The accounts whose state the service keeps; by default there are none.
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
    /// The wait of a login for others that use the reader; a password is faster than a longer one.
    private static var patience: Duration { .seconds(2) }

    /// Adds the question of logins, where the service has accounts to log in to.
    func addLogin(_ router: inout GuardedRouter) {
        guard let logins else { return }
        addTakeOver(&router, logins)
        addUnlock(&router, logins)
        addPasswords(&router, logins)
        addAccounts(&router, logins)
        router.onPrompting(LoginInterface.Identify.self) { (asked, call) async throws(ServiceRefusal) in
            try await answer(asked, call) { (identify, presenter) async throws(ServiceRefusal) in
                var request = identify.request
                // It tells who is there, and unlocks nothing.
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
            // Where no memory file can be made, the login is one without the keyring.
            let isRoom = password.map { (try? SecretDescriptor.make($0.bytes)) != nil } ?? false
            return .init(matched: true, password: isRoom ? password : nil)
        }
    }

    /// Refuses a login of somebody who has no finger here, before the login manager is asked from where it comes: most logins
    /// on a machine without a reader are such.
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

    /// Returns the caller, and the process of polkit's agent where the caller asks for the person there.
    ///
    /// What is not certain of a passed process changes nothing: the caller has its own place, which is none for polkit.
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
            let evaluation = try await evaluate(
                request,
                by: owner,
                LoginPresenter(call: call),
                untilLockOf: session
            )
            // The policy takes a finger alone; anything else would be a fault, and is no match.
            guard evaluation.method == .biometry, !evaluation.isReused else {
                return .failure(LoginRefused(ServiceError(.authenticationFailed), .failed))
            }
            // The helper hangs up when its agent does; a socket that the agent has given away tells it nothing.
            guard agent?.isRunning != false else { return .failure(LoginRefused(.polkitAgentEnded)) }
            // A count that cannot be cleared keeps no one from a login whose touch has matched.
            try? await request.place?.clear()
            return .success(())
        } catch {
            return .failure(LoginRefused(error))
        }
    }

    /// Runs an evaluation, which ends when a login session is locked or its seat shows another one; `nil` for one that does
    /// not end with a session.
    private func evaluate(
        _ request: EvaluationRequest,
        by owner: any ServiceAsker,
        _ presenter: LoginPresenter,
        untilLockOf session: String?
    ) async throws(ServiceError) -> Evaluation {
        let reason = Mutex<ServiceError?>(nil)
        let work = Task { () async -> Result<Evaluation, ServiceError> in
            await Result(of: try await owner.evaluate(request, presenter: presenter))
        }
        let number = running.add(in: session) { error in
            reason.withLock { $0 = error }
            work.cancel()
        }
        defer { running.remove(number) }
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
        var request = EvaluationRequest(
            policy: .biometrics,
            purpose: asked.isLocker
                ? .unlockScreen(asked.purpose.application) : .logIn(asked.purpose.application),
            reason: asked.purpose.text,
            application: ApplicationID(rawValue: asked.purpose.application),
            timeout: min(.milliseconds(max(asked.timeoutMilliseconds, 0)), promptRules.longestTimeout)
        )
        // The match is kept for the password that the login may get after it.
        request.session = OwnerSession()
        // Outside any session, anyone at the machine can name anyone; in one, the person is the session's.
        if caller.asker?.session == nil { request.place = logins.place }
        request.patience = Self.patience
        request.mostTries = asked.mostTries
        request.asker = caller.asker
        request.stay = stay(of: caller.asker)
        request.fingerObstacle = caller.fingerObstacle
        // In a locked session, the program that unlocks it may ask, and no other.
        request.obstacle = asked.isLocker ? nil : caller.obstacle
        return request
    }
}

extension LoginInterface.Verify {
    /// Whether the person is at another machine, by PAM's word, or may be.
    ///
    /// This machine's own name is taken from a locker in a session. From outside it comes from servers, such as that of
    /// the printers: every local user can speak to them, and so can a tunnel from elsewhere.
    fileprivate func isRemote(_ caller: Caller) -> Bool {
        guard let remoteHost, !remoteHost.isEmpty else { return false }
        return remoteHost != "localhost" || caller.asker?.session == nil
    }

    /// Whether the service asks, outside any session, for a person of whose place it says nothing.
    ///
    /// Servers of mail, files or private networks ask PAM for people at other machines, and many name no host; polkit's
    /// helper does so for the person at an agent, whose process it may have passed. A program at this machine's own screen
    /// names a terminal, or is a greeter, some of which have none yet.
    fileprivate func isForElsewhere(_ caller: Caller) -> Bool {
        guard caller.asker?.session == nil else { return false }
        return service.hasPrefix("polkit") || !(namesTerminal || isGreeter)
    }

    /// Whether the terminal is one of this machine's; servers put their own name there, such as `ssh`.
    private var namesTerminal: Bool {
        guard let terminal else { return false }
        let isScreen = terminal.first == ":" && terminal.dropFirst().first?.isNumber ?? false
        return isScreen || terminal == "console"
            || ["/dev/", "tty", "pts/"].contains { terminal.hasPrefix($0) }
    }

    private var isGreeter: Bool { isOne(of: Self.greeters) }

    /// Whether the service unlocks screens: greeters do too.
    var isLocker: Bool { isOne(of: Self.greeters) || isOne(of: Self.lockers) }

    private func isOne(of names: [String]) -> Bool {
        names.contains { service == $0 || service.hasPrefix($0 + "-") }
    }

    private static let greeters = ["gdm", "lightdm", "sddm", "plasmalogin", "greetd", "cosmic-greeter"]

    /// The PAM services of programs that lock screens; sudo, su and polkit are none, whatever the session is.
    private static let lockers = [
        "kde", "kscreensaver", "gnome-screensaver", "cinnamon-screensaver", "mate-screensaver",
        "xfce4-screensaver",
        "budgie-screensaver", "xscreensaver", "swaylock", "hyprlock", "gtklock", "waylock", "i3lock",
        "xsecurelock",
        "physlock", "vlock", "light-locker",
    ]

    /// The purpose, with PAM's words as the journal shows them.
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

/// The presenter of a login: it tells the program that asks what to show, and takes nothing from it.
struct LoginPresenter: PromptPresenter {
    let call: ServiceCall

    /// A program that takes no updates shows nothing, and so lets no one know of the prompt.
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
    /// Whether the reply says the same.
    fileprivate var isEnd: Bool {
        switch self {
        case .matched, .verified, .ended: true
        case .scan, .noMatch, .anotherFinger, .fingerEnded, .checking, .wrongPasscode, .throttled,
            .passcodeEnded:
            false
        }
    }
}
