// SPDX-License-Identifier: Apache-2.0

internal import WhorlGLib
internal import WhorlCallers
internal import WhorlSupport

/// The rights of a client: its user, as reported by the bus, and the actions that polkit allows it.
package protocol ClientRights: Sendable {
    /// Returns the name of the user who owns a bus name; `nil` if it is gone.
    func user(of client: String) async -> String?
    /// Returns whether a client may perform an action, without a dialog.
    func answer(_ action: FprintAction, to client: String) async -> RightsAnswer
    /// Asks someone whether a client may perform an action.
    func ask(_ action: FprintAction, for client: String) async -> Bool
    /// Returns whether a client may currently make no requests, because the screen of its login session is locked.
    func isBehindLock(_ client: String) async -> Bool
    /// Returns the login session whose lock ends a client's operations; `nil` if none does.
    ///
    /// - Throws: `permissionDenied` if the login manager does not answer.
    func session(of client: String) async throws(FprintError) -> String?
}

/// The decision of the system's rules about a client.
package enum RightsAnswer: Sendable, Hashable {
    case yes
    case no
    /// Someone must be asked.
    case person
}

/// The open dialogs, at most one for each client.
///
/// A client that starts the same action several times gets the answer of the one dialog; another action is refused
/// while a dialog of the client is open.
package actor ClientDialogs {
    private struct Dialog {
        /// The client's user; `nil` if it is gone.
        let user: String?
        let action: FprintAction
        let answer: Task<Bool, Never>
        /// The number of calls waiting for the answer.
        var calls = 1
    }

    private let rights: any ClientRights
    /// The maximum number of open dialogs of one user, so that unanswered ones leave room for other users.
    private static let mostDialogs = 4

    private var open: [String: Dialog] = [:]

    package init(_ rights: any ClientRights) { self.rights = rights }

    /// Returns the number of a client's calls that wait for its dialog.
    func waiting(for client: String) -> Int { open[client]?.calls ?? 0 }

    /// Opens a dialog, or waits for the answer of the dialog that the client has already opened for the same action.
    package func ask(_ action: FprintAction, for client: String) async -> Bool {
        let user = await rights.user(of: client)
        if let dialog = open[client] {
            guard dialog.action == action else { return false }
            open[client]?.calls += 1
            return await dialog.answer.value
        }
        guard open.values.count(where: { $0.user == user }) < Self.mostDialogs else { return false }
        let answer = Task { [rights] in await rights.ask(action, for: client) }
        open[client] = Dialog(user: user, action: action, answer: answer)
        defer { open[client] = nil }
        return await answer.value
    }
}

/// The polkit actions that bus clients need: those of fprintd, and additional ones for the enrollment set.
package enum FprintAction: String, Sendable, CaseIterable {
    case verify = "net.reactivated.fprint.device.verify"
    case enroll = "net.reactivated.fprint.device.enroll"
    case setUserName = "net.reactivated.fprint.device.setusername"
    /// Enrolling the first finger while no passcode is set.
    case enrollFirst = "io.whorl.enroll"
    /// Adding or removing a finger of an owner.
    case changeFingers = "io.whorl.change-fingers"
}

/// The rights as reported by the bus and polkit.
package struct SystemRights: ClientRights {
    private static let authority = SystemBus.Target(
        "org.freedesktop.PolicyKit1",
        "/org/freedesktop/PolicyKit1/Authority"
    )
    private static let bus = SystemBus.Target("org.freedesktop.DBus", "/org/freedesktop/DBus")
    /// The time for typing a password, in seconds.
    private static let patience: Int32 = 120
    /// The time for an answer without a dialog, in seconds.
    private static let moment: Int32 = 10

    private let lock: LockRule

    /// Creates the rights.
    ///
    /// - Parameter lock: The rule for clients behind a locked screen.
    package init(lock: LockRule) { self.lock = lock }

    package func isBehindLock(_ client: String) async -> Bool {
        let (user, process) = await credentials(of: client)
        // A client that is gone has no user, and is refused.
        return await lock.refuses(user: user, process: process)
    }

    package func session(of client: String) async throws(FprintError) -> String? {
        let (user, process) = await credentials(of: client)
        do throws(LoginSessionsFault) {
            return try await lock.session(user: user, process: process)
        } catch {
            throw .permissionDenied(error.cause)
        }
    }

    private func credentials(of client: String) async -> (user: UInt32?, process: Int32?) {
        guard Self.isUnique(client) else { return (nil, nil) }
        let credentials = try? await SystemBus.serving.call(
            "org.freedesktop.DBus.GetConnectionCredentials",
            of: Self.bus,
            "('\(client)',)"
        )[0]
        return (
            credentials?["UnixUserID"]?.number.flatMap { UInt32(exactly: $0) },
            credentials?["ProcessID"]?.number.flatMap { Int32(exactly: $0) }
        )
    }

    package func user(of client: String) async -> String? {
        guard Self.isUnique(client) else { return nil }
        // A client that is gone has no user.
        let answer = try? await SystemBus.serving.call(
            "org.freedesktop.DBus.GetConnectionUnixUser",
            of: Self.bus,
            "('\(client)',)"
        )
        guard let number = answer?[0]?.number, let uid = UInt32(exactly: number) else { return nil }
        return ThisProcess.userName(of: uid)
    }

    package func answer(_ action: FprintAction, to client: String) async -> RightsAnswer {
        let (isAllowed, needsPerson) = await check(action, client, mayAsk: false)
        return isAllowed ? .yes : needsPerson ? .person : .no
    }

    package func ask(_ action: FprintAction, for client: String) async -> Bool {
        await check(action, client, mayAsk: true).isAllowed
    }

    private func check(
        _ action: FprintAction,
        _ client: String,
        mayAsk: Bool
    ) async -> (isAllowed: Bool, needsPerson: Bool) {
        guard Self.isUnique(client) else { return (false, false) }
        let flags = mayAsk ? 1 : 0
        // If the authority does not answer, nothing is allowed.
        let answer = try? await (mayAsk ? SystemBus.asking : .serving).call(
            "org.freedesktop.PolicyKit1.Authority.CheckAuthorization",
            of: Self.authority,
            "(('system-bus-name', {'name': <'\(client)'>}), '\(action.rawValue)', @a{ss} {}, uint32 \(flags), '')",
            within: mayAsk ? Self.patience : Self.moment
        )
        return (answer?[0]?[0]?.flag ?? false, answer?[0]?[1]?.flag ?? false)
    }

    /// Returns whether a name is one assigned by the bus: digits and dots after a colon.
    private static func isUnique(_ client: String) -> Bool {
        client.first == ":" && client.dropFirst().allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
    }
}
