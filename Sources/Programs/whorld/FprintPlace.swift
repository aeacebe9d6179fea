// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import Synchronization
import WhorlFingerprint
import WhorlFprint
import WhorlSupport
import WhorlSystem

/// fprintd's place on the bus, taken by the service of the whole system with the fingers of its users.
final class FprintPlace: Sendable {
    private let roots: UserEngines
    private let isServed: @Sendable (ReaderInfo) -> Bool
    private let service = Mutex<FprintService?>(nil)

    init(of roots: UserEngines, readers isServed: @escaping @Sendable (ReaderInfo) -> Bool) {
        self.roots = roots
        self.isServed = isServed
    }

    /// Takes the place, where there is a bus that gives it.
    ///
    /// Clients of the service's own socket do not wait for that.
    func take() {
        Task {
            do {
                let service = FprintService(
                    on: try await SystemBus.serving.server(),
                    accounts: { [roots] name, reader in
                        // An account that gets no state counts as missing here; `whorl` tells its person why.
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

    /// Ends what clients in a login session have begun, since it was locked, or is shown no longer.
    func end(in session: String) async { await service.withLock(\.self)?.end(in: session) }

    /// Returns whether no client of the bus needs a reader now.
    func isFree() async -> Bool {
        guard let service = service.withLock(\.self) else { return true }
        return await service.isFree()
    }
}
