// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import WhorlService

/// The stay of this process in its login session, which monitors its end from the first request on.
///
/// A lock also ends the evaluations in progress, and refuses new ones until the screen is unlocked. Without a login
/// manager, without its bus, or outside any session, there is no screen that could be locked.
actor LoginSessionWatch {
    private enum Place: Sendable {
        /// A login session, which is monitored.
        case session(String)
        /// No login session.
        case none
        /// The login manager did not answer.
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

    /// The name of the stay; `nil` if screen locks cannot be noticed although they may occur.
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

    /// Finds the session, and monitors its changes until the process exits.
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
