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

/// The engines of the connected users, each created at the first call.
final class UserEngines: Sendable {
    let interruptions = Interruptions()
    private let service: SystemService
    private let reach: ReaderReachability
    private let openReaders: OpenReaders
    private let folders: AccountFolders
    private let kept = Mutex(Kept())

    private struct Kept {
        var roots = ActiveUsers<InProcessRoot>()
        /// The user IDs of the accounts whose state is being removed.
        var removed: Set<UInt32> = []
    }

    init(_ service: SystemService) {
        self.service = service
        folders = AccountFolders(service.arguments.stateRoot)
        openReaders = OpenReaders(path: "\(service.arguments.stateRoot)/open-readers")
        let builtIn = service.arguments.builtInReaders.map(ReaderID.init(rawValue:))
        reach = ReaderReachability(lid: LoginManager(), builtIn: Set(builtIn))
    }

    /// Returns the root of a user's services, whose state is in a folder named by the user ID.
    ///
    /// The account is looked up at each call, because a user ID may have been reused.
    ///
    /// - Throws: The reason why the account has no services, such as a user database that does not answer.
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

    /// Returns the root of a connected user, or the refusal of the call.
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

    /// Lifts the lock on a user's fingers, on behalf of the system's administrator.
    func unlock(_ uid: UInt32, by asker: Asker?) async throws(ServiceError) -> Bool {
        try await root(of: uid).unlock(by: asker)
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

    /// Releases the roots of users who have no connection, and have had none for longer than any prompt lasts.
    ///
    /// A root that is in use elsewhere, for example by a client of the bus, stays until that ends. A further call opens
    /// the state again, as another process would.
    func letGoIdle(_ isConnected: @escaping @Sendable (UInt32) -> Bool) {
        let patience = Duration.seconds(service.configuration.longestSeconds + 60)
        OffPoolTimer.run(after: .seconds(15)) { [self] in
            let idle = kept.withLock { $0.roots.removeIdle(for: patience, isConnected: isConnected) }
            if !idle.isEmpty { ServiceManager.log(.notice, "released \(idle.count) idle users") }
            letGoIdle(isConnected)
        }
    }

    /// Identifies which of several users is touching the reader; attempts are counted in root's state.
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

    /// Returns after each engine has done some work.
    func pulse() async { for root in all { await root.pulse() } }

    /// Closes the engines' resources in the TPM.
    func close() async { for root in all { await root.services.close() } }

    private var all: [InProcessRoot] { kept.withLock(\.roots.all) }
}

extension UserEngines: AccountKeeper {
    func accounts() throws(ServiceError) -> [StoredAccount] { try folders.all() }

    func remove(_ number: UInt32) async throws(ServiceError) {
        // The record of userdel's hook is newer than any account that now has the user ID.
        if !folders.isSpooled(number) { try folders.requireFormer(number) }
        try await forget(number)
    }

    func confirm(_ number: UInt32) throws(ServiceError) {
        guard let account = try folders.account(number), !folders.isSpooled(number) else {
            _ = try folders.resident(number)
            return
        }
        try folders.trust(in: account).confirm()
    }

    /// Removes all data of the accounts that userdel deleted while the service was not running.
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
        if let root = old ?? former(number) {
            for sentence in await root.forgetOwner() {
                ServiceManager.log(.warning, "Deleted user \(number): \(sentence).")
            }
        }
        try folders.discard(number)
        ServiceManager.log(.notice, "Removed the fingers and items of deleted user \(number).")
    }

    /// Returns a root for removing an account's data outside of its folder.
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
