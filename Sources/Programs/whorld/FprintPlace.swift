// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import Synchronization
import WhorlFingerprint
import WhorlFprint
import WhorlSupport
import WhorlSystem

/// fprintd's bus name, under which the system service serves its users' fingers.
final class FprintPlace: Sendable {
    private let roots: UserEngines
    private let isServed: @Sendable (ReaderInfo) -> Bool
    private let service = Mutex<FprintService?>(nil)
    /// The sessions that were left while the machine sleeps; `nil` while it is awake.
    private let leftAsleep = Mutex<Set<String>?>(nil)

    init(of roots: UserEngines, readers isServed: @escaping @Sendable (ReaderInfo) -> Bool) {
        self.roots = roots
        self.isServed = isServed
    }

    /// Claims the name if there is a bus that permits this.
    ///
    /// Clients that use the service's own socket do not have to wait for this.
    func take() {
        Task {
            do {
                let service = FprintService(
                    on: try await SystemBus.serving.server(),
                    accounts: { [roots] name, reader in
                        // An account without state counts as missing here; `whorl` explains the reason to its user.
                        ThisProcess.userNumber(of: name).flatMap { try? roots.root(of: $0) }?.account(
                            on: reader
                        )
                    },
                    isServed: isServed
                ) { ServiceManager.log(.notice, $0) }
                try await service.begin {
                    let reason = "fprintd's bus name is taken, or not available to this service."
                    ServiceManager.log(.notice, reason)
                }
                self.service.withLock { $0 = service }
            } catch {
                ServiceManager.log(.notice, "Cannot serve fprintd's interface: \(error)")
            }
        }
    }

    /// Ends the operations of clients in a login session that was locked.
    func lock(_ session: String) async { await service.withLock(\.self)?.end(in: session) }

    /// Ends the operations of clients in a login session that is no longer active on its seat.
    ///
    /// Some kernels switch to another console while the machine goes to sleep, and back when it wakes up. A session that
    /// is active again keeps its claims, because a screen locker continues with its own.
    func leave(_ session: String) async {
        let isAsleep = leftAsleep.withLock { $0?.insert(session) != nil }
        guard !isAsleep else { return }
        // Without an answer, the session counts as left.
        guard (try? await LoginManager().isActive(session)) != true else { return }
        await service.withLock(\.self)?.end(in: session)
    }

    /// Waits with sessions that are left until the machine is awake again.
    func sleep() { leftAsleep.withLock { $0 = $0 ?? [] } }

    /// Ends the operations of clients in the sessions that were left during sleep and are not active again.
    func wake() async {
        let sessions = leftAsleep.withLock { left in
            defer { left = nil }
            return left ?? []
        }
        for session in sessions { await leave(session) }
    }

    /// Returns whether no client on the bus currently needs a reader.
    func isFree() async -> Bool {
        guard let service = service.withLock(\.self) else { return true }
        return await service.isFree()
    }
}
