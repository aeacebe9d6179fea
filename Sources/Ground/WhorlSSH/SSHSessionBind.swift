// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// The statement of a host's key about one SSH session (`session-bind@openssh.com`; OpenSSH's PROTOCOL.agent, section 1).
///
/// ssh sends it to the agent before it lists keys, and again for each agent that it forwards. The signature proves that
/// the key's owner took part in the key exchange of a session with this ID, or signed the ID for another reason: a host
/// can sign the ID of a session with another host. ``isForwarding`` is not signed.
public struct SSHSessionBind: Sendable, Hashable {
    /// The name of the agent's extension.
    public static let name = "session-bind@openssh.com"
    /// The numbers of bytes that the ID of a session can have: those of the shortest hash, SHA-1, and OpenSSH's limit.
    public static let sessionIDCounts = 20...128

    /// The key of the host.
    public let hostKey: SSHPublicKey
    /// The ID of the session: the hash of its first key exchange (RFC 4253, section 7.2).
    public let sessionID: [UInt8]
    /// Whether the connection is used to forward the agent to the host, not to log in there.
    public let isForwarding: Bool
    let signature: [UInt8]

    /// Parses the contents of the extension: the bytes after its name, up to the last one.
    ///
    /// - Throws: ``SSHBindFault/malformed`` if the bytes are anything else. The signature is not checked here.
    public init(contents: some Collection<UInt8>) throws(SSHBindFault) {
        guard contents.count <= 2 * SSHPublicKey.longest else { throw .malformed }
        var reader = ByteReader(Array(contents))
        guard let hostKey = reader.sized().flatMap({ SSHPublicKey(blob: $0) }),
            let sessionID = reader.string(Self.sessionIDCounts),
            let signature = reader.sized(), let isForwarding = reader.flag(), reader.isAtEnd
        else { throw .malformed }
        self.hostKey = hostKey
        self.sessionID = Array(sessionID)
        self.signature = Array(signature)
        self.isForwarding = isForwarding
    }

    /// The result of a check of the host's signature.
    public var check: SSHSignatureCheck { hostKey.check(signature, over: sessionID) }
}

/// The reason why a bind was refused.
public enum SSHBindFault: Error, Sendable, Hashable {
    /// The bytes are not a bind.
    case malformed
    /// The host's key did not sign the session's ID.
    case signature
    /// The signature cannot be verified, because this module does not support the key's type.
    case cannotVerify(type: String)
    /// An earlier bind, which does not forward, already made the connection one for a login.
    case afterLogin
    /// The session is already bound to another host's key.
    case anotherKey
    /// The connection already has ``SSHSessionBinds/most`` binds.
    case tooMany
}
