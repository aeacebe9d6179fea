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

    /// Ends the operations of clients in a login session that was locked or is no longer active.
    func end(in session: String) async { await service.withLock(\.self)?.end(in: session) }

    /// Returns whether no client on the bus currently needs a reader.
    func isFree() async -> Bool {
        guard let service = service.withLock(\.self) else { return true }
        return await service.isFree()
    }
}
