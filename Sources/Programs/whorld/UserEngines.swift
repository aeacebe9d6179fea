// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import Synchronization
import WhorlCallers
import WhorlFingerprint
import WhorlIPC
import WhorlRemote
import WhorlService
import WhorlSupport
import WhorlSystem

/// The connected users' engines, each of which is created at the user's first call.
final class UserEngines: Sendable {
    let interruptions = Interruptions()
    private let service: SystemService
    private let reach: ReaderReachability
    private let openReaders: OpenReaders
    private let folders: AccountFolders
    private let kept = Mutex(Kept())

    private struct Kept {
        var roots = ActiveUsers<InProcessRoot>()
        /// The user IDs of accounts whose state is being removed.
        var removed: Set<UInt32> = []
    }

    init(_ service: SystemService) {
        self.service = service
        folders = AccountFolders(service.arguments.stateRoot)
        openReaders = OpenReaders(path: "\(service.arguments.stateRoot)/open-readers")
        let builtIn = service.arguments.builtInReaders.map(ReaderID.init(rawValue:))
        reach = ReaderReachability(lid: LoginManager(), builtIn: Set(builtIn))
    }

    /// Returns the root of a user's services; their state is stored in a folder named after the user ID.
    ///
    /// The account is looked up at each call, because a user ID may have been reused.
    ///
    /// - Throws: An error if the account cannot have services, for example because the user database does not respond.
    func root(of uid: UInt32) throws(ServiceError) -> InProcessRoot {
        let resident = try folders.resident(uid)
        let found = kept.withLock { kept -> InProcessRoot? in
            guard !kept.removed.contains(uid) else { return nil }
            if let root = kept.roots.use(of: uid), root.profile == resident.profile { return root }
            let made = make(uid, resident.account, profile: resident.profile)
            kept.roots.hold(made, for: uid)
            return made
        }
        guard let found else { throw .beingRemoved(folders.path(of: uid)) }
        found.trust.note(resident.account, isRenamed: resident.isRenamed)
        return found
    }

    /// Returns the root of a connected user's services; throws a refusal of the call if there are none.
    func rootForCaller(_ uid: UInt32) throws(ServiceRefusal) -> InProcessRoot {
        do throws(ServiceError) { return try root(of: uid) } catch { throw ServiceRefusal(error) }
    }

    /// Returns a root that opens nothing yet.
    private func make(_ uid: UInt32, _ account: SystemAccount, profile: String) -> InProcessRoot {
        var configuration = SystemConfiguration(environment: [:])
        configuration.stateDirectory = folders.path(of: uid)
        configuration.profile = profile
        configuration.reader = service.configuration.reader
        configuration.openReaders = openReaders
        configuration.readerIsNamedIn = service.configuration.reader.map { _ in ServiceConfiguration.path }
        configuration.attemptRules = service.configuration.attemptRules
        configuration.proofLimits = service.configuration.proofLimits
        configuration.strength = service.configuration.strength
        configuration.tpm = service.arguments.tpm
        configuration.allowsTestReaders = service.arguments.allowsVirtualReaders
        configuration.allowsSimulatedTPM = false
        let trust = folders.trust(in: account)
        return InProcessRoot(configuration, of: trust, interruptions: interruptions, reach: reach) { nil }
    }

    /// Ends the lockout of a user's fingers on behalf of an administrator.
    func unlock(_ uid: UInt32, by asker: Asker?) async throws(ServiceError) -> Bool {
        try await root(of: uid).unlock(by: asker)
    }

    /// Enrolls the first finger of a user for an administrator.
    func enroll(
        _ asked: EnrollFingerFor,
        _ observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(ServiceError) -> EnrolledFinger {
        guard asked.user != 0, AccountRule().refusal(of: asked.user) == nil else {
            throw ServiceError(
                .nameRefused,
                message: "A finger can be enrolled only for a login user.",
                recovery: "`getent passwd` lists the users.",
                cause: "root, a system user, or no user"
            )
        }
        let enrolled = try await root(of: asked.user).enrollFirst(asked.finger, asked.request, observer)
        // If everything of the user was deleted during the enrollment, the finger was deleted too.
        let stored = try await root(of: asked.user).services.ask(ListFingers())
        guard stored.contains(where: { $0.id == enrolled.id }) else {
            throw ServiceError(.changedMeanwhile, cause: "everything of user \(asked.user) was deleted")
        }
        return enrolled
    }

    /// Imports another program's prints for a user.
    func takeOver(
        _ prints: [ForeignPrint],
        of uid: UInt32,
        isTrial: Bool,
        wereClosed: Bool
    ) async throws(ServiceError) -> [ImportOutcome] {
        try await root(of: uid).takeOver(prints, isTrial: isTrial, readersWereClosed: wereClosed)
    }

    /// Releases the roots of users who have been disconnected for longer than any prompt lasts.
    ///
    /// A root that is still in use, for example by a client on the bus, is released later. The user's next call opens
    /// the state again, as a new process would.
    func letGoIdle(_ isConnected: @escaping @Sendable (UInt32) -> Bool) {
        let patience = Duration.seconds(service.configuration.longestSeconds + 60)
        OffPoolTimer.run(after: .seconds(15)) { [self] in
            let idle = kept.withLock { $0.roots.removeIdle(for: patience, isConnected: isConnected) }
            if !idle.isEmpty { ServiceManager.log(.notice, "released \(idle.count) idle users") }
            letGoIdle(isConnected)
        }
    }

    /// Identifies which of several users is touching the reader.
    ///
    /// Attempts are counted in root's state.
    func identify(
        _ users: [UInt32],
        _ request: EvaluationRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> IdentifiedPerson {
        // No state is opened for more people than allowed.
        let allowed = users.prefix(service.configuration.groups.mostPeople + 1)
        let asker = try root(of: 0)
        var people: [(UInt32, InProcessRoot)] = []
        for user in allowed { people.append((user, try root(of: user))) }
        return try await asker.identify(people, service.configuration.groups, request, presenter)
    }

    /// Waits until each engine has done some work.
    func pulse() async { for root in all { await root.pulse() } }

    /// Closes the resources that the engines have opened in the TPM.
    func close() async { for root in all { await root.services.close() } }

    private var all: [InProcessRoot] { kept.withLock(\.roots.all) }
}

extension UserEngines: AccountKeeper {
    func accounts() throws(ServiceError) -> [StoredAccount] { try folders.all() }

    func remove(_ number: UInt32, existing: Bool) async throws(ServiceError) {
        // The record of userdel's hook is newer than any account that now has the user ID.
        if !existing, !folders.isSpooled(number) { try folders.requireFormer(number) }
        try await forget(number)
    }

    /// Removes all data of a user who consents to it.
    func forget(
        _ number: UInt32,
        _ request: ConsentRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) {
        guard number != 0 else {
            throw ServiceError(
                .notPermitted,
                message: "Root's data has the count of failed logins at this machine.",
                recovery: "Remove its fingers and items: `whorl remove --all`, `whorl vault reset --force`.",
                cause: "root"
            )
        }
        try await root(of: number).requireOwnerToForget(request, presenter)
        try await forget(number)
    }

    func confirm(_ number: UInt32) throws(ServiceError) {
        guard let account = try folders.account(number), !folders.isSpooled(number) else {
            _ = try folders.resident(number)
            return
        }
        try folders.trust(in: account).confirm()
    }

    /// Removes all data of accounts that userdel deleted while the service was not running, and all data whose removal was
    /// begun but not completed.
    func sweep() async {
        folders.emptyTrash()
        let numbers: [UInt32]
        do throws(ServiceError) {
            numbers = try folders.spooled()
        } catch {
            ServiceManager.log(.warning, "Cannot list deleted accounts: \(error)")
            return
        }
        for number in numbers {
            do throws(ServiceError) {
                try await forget(number)
            } catch {
                ServiceManager.log(.warning, "Cannot remove the data of deleted user \(number): \(error)")
            }
        }
    }

    private func forget(_ number: UInt32) async throws(ServiceError) {
        let old = kept.withLock { kept in
            kept.removed.insert(number)
            return kept.roots.remove(number)
        }
        defer { kept.withLock { _ = $0.removed.remove(number) } }
        // If the service ends before this is complete, it continues after the next start.
        try folders.spool(number)
        if let root = old ?? former(number) {
            for sentence in await root.forgetOwner() {
                ServiceManager.log(.warning, "User \(number), whose data is removed: \(sentence).")
            }
        }
        try folders.discard(number)
        ServiceManager.log(.notice, "Removed the fingers and items of user \(number).")
    }

    /// Returns a root with which to remove the data of an account that is stored outside its folder.
    private func former(_ number: UInt32) -> InProcessRoot? {
        guard let former = folders.former(number) else { return nil }
        if let doubt = former.doubt {
            ServiceManager.log(
                .warning,
                "Prints of deleted user \(number) may still be in a reader: \(doubt)."
            )
        }
        return make(number, former.account, profile: former.profile)
    }
}
