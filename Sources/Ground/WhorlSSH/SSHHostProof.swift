// SPDX-License-Identifier: Apache-2.0

/// The certainty about the host that a login's signature is for.
public enum SSHHostProof: Sendable, Hashable {
    /// The host's key signed the session, and is part of the bytes that are signed: the signature is valid at this host
    /// only.
    case hostBound(SSHPublicKey)
    /// The host's key signed the session, on a connection that was not forwarded, but the bytes that are signed do not
    /// contain the key. If this host signed the ID of its session with another host, the signature is valid there.
    case bound(SSHPublicKey)
    /// The host is not known. If the bytes that are signed contain a host's key (``SSHLogin/hostKey``), it is a claim.
    case notProven(Reason)

    /// The reason why a host is not known.
    public enum Reason: Sendable, Hashable {
        /// No bind was sent for the login.
        case noBind
        /// A bind was refused.
        case refusedBind(SSHBindFault)
        /// The connection was, or may have been, forwarded, and the bytes that are signed do not contain the host's key.
        case notHostBound
    }
}

/// A contradiction between a login and the binds of its connection; a login with one must not be signed.
public enum SSHLoginFault: Error, Sendable, Hashable {
    /// The login is for a session other than the one that was bound last.
    case anotherSession
    /// The login is for a host other than the one that was bound last.
    case anotherHost
    /// The login is for the session that forwards the connection: the host that it was forwarded to asks for it.
    case forwardingSession
}

extension SSHSessionBinds {
    /// Returns what is known about the host of a login.
    ///
    /// These are the rules of OpenSSH's agent for keys that are limited to destinations; the result says what they would
    /// refuse only because of the limit (``SSHHostProof/notProven(_:)``), and the errors what is a contradiction for
    /// every key. The result does not say which name the host has, and whether the user knows its key.
    ///
    /// - Throws: The contradiction.
    public func host(of login: SSHLogin) throws(SSHLoginFault) -> SSHHostProof {
        guard let last = accepted.last else {
            return .notProven(firstFault.map { .refusedBind($0) } ?? .noBind)
        }
        let bound = accepted.first { $0.sessionID == login.sessionID }
        if let bound, bound.isForwarding { throw .forwardingSession }
        // An older ssh on the last hop sends no bind for its login.
        if last.isForwarding { return .notProven(firstFault.map { .refusedBind($0) } ?? .noBind) }
        guard bound != nil else { throw .anotherSession }
        guard let named = login.hostKey else {
            return accepted.count == 1 && firstFault == nil ? .bound(last.hostKey) : .notProven(.notHostBound)
        }
        guard named == last.hostKey else { throw .anotherHost }
        return .hostBound(last.hostKey)
    }
}
