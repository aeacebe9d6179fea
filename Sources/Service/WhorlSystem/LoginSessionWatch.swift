// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import WhorlService

/// The stay of this process in its login session. From the first request on, it monitors when the stay ends.
///
/// If the screen is locked, evaluations in progress end, and new ones are refused until it is unlocked. If there is no
/// login manager, its bus is not available, or the process is outside any session, there is no screen that could be
/// locked.
actor LoginSessionWatch {
    private enum Place: Sendable {
        /// The process is in a login session, which is monitored.
        case session(String)
        /// The process is not in a login session.
        case none
        /// The login manager did not respond.
        case unknown
    }

    private let manager: any SessionManager
    private let interruptions: Interruptions
    private let stays = SessionPeriods()
    private var place: Task<Place, Never>?

    init(_ manager: any SessionManager, _ interruptions: Interruptions) {
        self.manager = manager
        self.interruptions = interruptions
    }

    /// The name of the stay; `nil` if the screen may be locked but this process cannot notice it.
    var name: String? {
        get async {
            if place == nil { place = Task { await follow() } }
            switch await place?.value {
            case .session(let session)?: return stays.name(of: session)
            case .some(.none): return ""
            case .unknown?, nil: return nil
            }
        }
    }

    /// Finds the session, and monitors changes to it until the process exits.
    private func follow() async -> Place {
        // Monitor the changes before reading anything, so that no lock is missed in between. This fails only without a
        // bus.
        guard let changes = try? await manager.sessionChanges() else { return .none }
        do throws(SystemBus.Fault) {
            guard let session = try await manager.ownSession() else { return .none }
            if try await manager.isLocked(session) { await lock(session) }
            Task { for await change in changes { await take(change, in: session) } }
            return .session(session)
        } catch {
            return error.name == "org.freedesktop.DBus.Error.ServiceUnknown" ? .none : .unknown
        }
    }

    private func take(_ change: SessionChange, in session: String) async {
        switch change {
        case .locked(session): await lock(session)
        case .locking(session):
            await lock(session)
            interruptions.end(.lock)
        case .unlocked(session): interruptions.end(.lock)
        // Without an answer, it stays locked.
        case .unlocking(session):
            if (try? await manager.isLocked(session)) == false { interruptions.end(.lock) }
        case .left(session): stays.end(in: session)
        case .locked, .locking, .unlocked, .unlocking, .left: break
        }
    }

    private func lock(_ session: String) async {
        stays.end(in: session)
        await interruptions.begin(.lock, patience: .zero)
    }
}
