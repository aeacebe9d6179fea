// SPDX-License-Identifier: Apache-2.0

/// The binds of one connection to an agent, in the order in which they arrived: the way from here to a login's host.
///
/// Each forwarding bind is a hop, the nearest one first; a bind that does not forward ends the way. The rules are those of
/// OpenSSH's agent, except that a bind whose signature cannot be verified is refused.
///
/// A refused bind is not forgotten: because it may have been a hop, ``forwarding`` remains unknown from then on. The
/// exception is a bind that does not forward and cannot be verified. Nothing signs whether a bind forwards, and the first
/// one comes from this computer's ssh, so it is known that the connection is one for a login, though not at which host.
public struct SSHSessionBinds: Sendable, Hashable {
    /// The maximum number of binds of a connection, as in OpenSSH.
    public static let most = 16

    /// The binds that were accepted, each with a valid signature.
    public private(set) var accepted: [SSHSessionBind] = []
    /// The reason why the first refused bind was refused, if one was.
    public private(set) var firstFault: SSHBindFault?
    /// Whether a bind that cannot be verified made the connection one for a login.
    private var isForUnknownLogin = false
    /// Whether a refused bind may have been a hop.
    private var mayHideHop = false

    /// Creates the state of a connection without binds.
    public init() {}

    /// Adds the next bind of the connection.
    ///
    /// A bind that repeats an accepted one, with the same session and key, changes nothing, even if it differs in
    /// ``SSHSessionBind/isForwarding``: a hop remains one.
    ///
    /// - Parameter contents: The contents of the extension, after its name.
    /// - Throws: The reason why the bind was refused. Binds may follow.
    public mutating func add(_ contents: some Collection<UInt8>) throws(SSHBindFault) {
        do throws(SSHBindFault) {
            try accept(SSHSessionBind(contents: contents))
        } catch {
            firstFault = firstFault ?? error
            if !isForUnknownLogin { mayHideHop = true }
            throw error
        }
    }

    private mutating func accept(_ bind: SSHSessionBind) throws(SSHBindFault) {
        // Only the last one can be a login's, since none is accepted after it; this costs no check of a signature.
        if isForUnknownLogin || accepted.last?.isForwarding == false { throw .afterLogin }
        switch bind.check {
        case .valid: break
        case .invalid: throw .signature
        case .cannotVerify:
            isForUnknownLogin = !bind.isForwarding
            throw .cannotVerify(type: bind.hostKey.type)
        }
        if let known = accepted.first(where: { $0.sessionID == bind.sessionID }) {
            guard known.hostKey == bind.hostKey else { throw .anotherKey }
            return
        }
        guard accepted.count < Self.most else { throw .tooMany }
        accepted.append(bind)
    }

    /// Whether the connection was forwarded to other hosts, as far as the binds say.
    public var forwarding: SSHForwarding {
        if mayHideHop || accepted.isEmpty && !isForUnknownLogin { return .unknown }
        let hops = accepted.filter(\.isForwarding).map(\.hostKey)
        return hops.isEmpty ? .none : .through(hops)
    }
}

/// The hosts that a connection to an agent was forwarded to.
public enum SSHForwarding: Sendable, Hashable {
    /// The connection belongs to ssh on this computer, which logs in at the host it bound.
    case none
    /// The connection was forwarded to these hosts, the nearest one first. A program on the last one uses it, with the
    /// rights of the user there or of its root.
    case through([SSHPublicKey])
    /// The binds do not say: none was sent, as by ssh-keygen and by ssh before OpenSSH 8.9, or one was refused.
    case unknown
}
