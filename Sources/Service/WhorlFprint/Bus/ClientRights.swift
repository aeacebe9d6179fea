// SPDX-License-Identifier: Apache-2.0

internal import WhorlGLib
internal import WhorlCallers
internal import WhorlSupport

/// The rights of a client: its user, as reported by the bus, and the actions that polkit allows.
package protocol ClientRights: Sendable {
    /// Returns the name of the user who owns a bus name; `nil` if the client has left the bus.
    func user(of client: String) async -> String?
    /// Returns whether a client may perform an action, without opening a dialog.
    func answer(_ action: FprintAction, to client: String) async -> RightsAnswer
    /// Opens a dialog that asks for a password, and returns whether a client may perform an action.
    func ask(_ action: FprintAction, for client: String) async -> Bool
    /// Returns whether a client currently may not make requests because the screen of its login session is locked.
    func isBehindLock(_ client: String) async -> Bool
    /// Returns the login session whose lock ends a client's operations; `nil` if there is none.
    ///
    /// - Throws: `permissionDenied` if the login manager does not respond.
    func session(of client: String) async throws(FprintError) -> String?
}

/// The decision that the system's rules make about a client.
package enum RightsAnswer: Sendable, Hashable {
    case yes
    case no
    /// The decision requires someone's password.
    case person
}

/// The open dialogs, at most one for each client.
///
/// If a client starts the same action several times, all calls get the answer from one dialog. A different action is
/// refused while the client's dialog is open.
package actor ClientDialogs {
    private struct Dialog {
        /// The client's user; `nil` if the client has left the bus.
        let user: String?
        let action: FprintAction
        let answer: Task<Bool, Never>
        /// The number of calls waiting for the answer.
        var calls = 1
    }

    private let rights: any ClientRights
    /// The maximum number of one user's open dialogs, so that unanswered ones do not block other users.
    private static let mostDialogs = 4

    private var open: [String: Dialog] = [:]

    package init(_ rights: any ClientRights) { self.rights = rights }

    /// Returns the number of a client's calls that wait for its dialog.
    func waiting(for client: String) -> Int { open[client]?.calls ?? 0 }

    /// Opens a dialog, or waits for the answer from a dialog that the client has already opened for the same action.
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

/// The polkit actions for clients on the bus: fprintd's, and additional ones for changing the enrolled fingers.
package enum FprintAction: String, Sendable, CaseIterable {
    case verify = "net.reactivated.fprint.device.verify"
    case enroll = "net.reactivated.fprint.device.enroll"
    case setUserName = "net.reactivated.fprint.device.setusername"
    /// Enrolling the first finger while no passcode is set.
    case enrollFirst = "io.whorl.enroll"
    /// Enrolling the first finger of another user.
    case enrollOthers = "io.whorl.enroll-others"
    /// Adding or removing a finger when the owner can be recognized.
    case changeFingers = "io.whorl.change-fingers"
}

/// The rights, as reported by the bus and polkit.
package struct SystemRights: ClientRights {
    private static let authority = SystemBus.Target(
        "org.freedesktop.PolicyKit1",
        "/org/freedesktop/PolicyKit1/Authority"
    )
    private static let bus = SystemBus.Target("org.freedesktop.DBus", "/org/freedesktop/DBus")
    /// The maximum time for the user to enter a password, in seconds.
    private static let patience: Int32 = 120
    /// The maximum time to wait for an answer without a dialog, in seconds.
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

    /// Returns whether the bus has assigned a name, in which case it consists of a colon followed by digits and dots.
    private static func isUnique(_ client: String) -> Bool {
        client.first == ":" && client.dropFirst().allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
    }
}
