// SPDX-License-Identifier: Apache-2.0

internal import GLibRuntime
internal import WhorlSupport

/// The rights of a client: its user, by the bus's word, and what polkit allows it.
package protocol ClientRights: Sendable {
    /// Returns the name of the user whose process has a place on the bus; `nil` if it is gone.
    func user(of client: String) async -> String?
    /// Returns whether a client may do something; a person may be asked for it, for as long as it takes.
    func allow(_ action: FprintAction, to client: String) async -> Bool
}

/// The actions of polkit that clients of the bus need: those of fprintd, and those that the enrollment set needs in
/// addition.
package enum FprintAction: String, Sendable, CaseIterable {
    case verify = "net.reactivated.fprint.device.verify"
    case enroll = "net.reactivated.fprint.device.enroll"
    case setUserName = "net.reactivated.fprint.device.setusername"
    /// Enrolling the first finger, where no passcode is set.
    case enrollFirst = "io.whorl.enroll"
    /// Adding a finger to those of an owner, or removing one.
    case changeFingers = "io.whorl.change-fingers"
}

/// The rights as the bus and polkit tell them.
package struct SystemRights: ClientRights {
    private static let authority = SystemBus.Target(
        "org.freedesktop.PolicyKit1",
        "/org/freedesktop/PolicyKit1/Authority"
    )
    private static let bus = SystemBus.Target("org.freedesktop.DBus", "/org/freedesktop/DBus")
    /// A person types: in effect there is no limit.
    private static let patience: Int32 = 2_000_000

    package init() {}

    package func user(of client: String) async -> String? {
        guard Self.isUnique(client) else { return nil }
        // A client that is gone has no user.
        let answer = try? await SystemBus.shared.call(
            "org.freedesktop.DBus.GetConnectionUnixUser",
            of: Self.bus,
            "('\(client)',)"
        )
        guard let number = answer?[0]?.number, let uid = UInt32(exactly: number) else { return nil }
        return ThisProcess.userName(of: uid)
    }

    package func allow(_ action: FprintAction, to client: String) async -> Bool {
        guard Self.isUnique(client) else { return false }
        // An authority that does not answer has allowed nothing.
        let answer = try? await SystemBus.shared.call(
            "org.freedesktop.PolicyKit1.Authority.CheckAuthorization",
            of: Self.authority,
            "(('system-bus-name', {'name': <'\(client)'>}), '\(action.rawValue)', @a{ss} {}, uint32 1, '')",
            within: Self.patience
        )
        return answer?[0]?[0]?.flag ?? false
    }

    /// Returns whether a name is one that the bus gives out: digits and dots after a colon.
    private static func isUnique(_ client: String) -> Bool {
        client.first == ":" && client.dropFirst().allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
    }
}
