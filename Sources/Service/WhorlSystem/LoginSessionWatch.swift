// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import WhorlService

/// The stay of this process in its login session, whose end it notices from the first question on.
///
/// A lock also ends the evaluations that are under way, and refuses others until the screen is unlocked. Without a login
/// manager, without its bus, or outside any session, no screen is known that could be locked.
actor LoginSessionWatch {
    private enum Place: Sendable {
        /// A login session, which is followed.
        case session(String)
        /// No login session.
        case none
        /// The login manager did not say.
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

    /// The name of the stay; `nil` where locks of the screen cannot be noticed although there may be some.
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

    /// Looks for the session, and follows its changes until the process ends.
    private func follow() async -> Place {
        // Followed before anything is looked at: no lock falls in between unseen. It fails only without a bus.
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
