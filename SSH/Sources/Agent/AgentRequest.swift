// SPDX-License-Identifier: Apache-2.0

/// The numbers of messages to and from an agent (RFC 9987).
enum MessageType {
    static let failure: UInt8 = 5
    static let success: UInt8 = 6
    static let list: UInt8 = 11
    static let keys: UInt8 = 12
    static let sign: UInt8 = 13
    static let signature: UInt8 = 14
    static let remove: UInt8 = 18
    static let lock: UInt8 = 22
    static let unlock: UInt8 = 23
    static let extensionRequest: UInt8 = 27
    static let extensionResponse: UInt8 = 29
}

/// A request to an agent.
enum AgentRequest {
    case list
    case sign(key: Bytes, data: Bytes)
    case remove(key: Bytes)
    case lock(Bytes)
    case unlock(Bytes)
    /// The contents of a session-bind@openssh.com.
    case bind(Bytes)
    /// Asks for the supported extensions.
    case query
    /// Makes this agent read its list of keys again; `whorl ssh` sends it.
    case reload
    /// Anything else that is a message: this agent does not do it, but another one may.
    case other
    /// A message of a known type with other contents.
    case malformed

    /// Parses a message.
    init(_ message: Bytes) {
        var reader = SSHReader(message)
        guard let type = reader.byte() else {
            self = .malformed
            return
        }
        self = Self.read(type, &reader) ?? .malformed
    }

    private static func read(_ type: UInt8, _ reader: inout SSHReader) -> AgentRequest? {
        switch type {
        case MessageType.list: return reader.isAtEnd ? .list : nil
        case MessageType.sign:
            // The flags select hashes of RSA.
            guard let key = reader.string(), let data = reader.string(), reader.number() != nil,
                reader.isAtEnd
            else { return nil }
            return .sign(key: key, data: data)
        case MessageType.remove:
            guard let key = reader.string(), reader.isAtEnd else { return nil }
            return .remove(key: key)
        case MessageType.lock, MessageType.unlock:
            guard let passphrase = reader.string(), reader.isAtEnd else { return nil }
            return type == MessageType.lock ? .lock(passphrase) : .unlock(passphrase)
        case MessageType.extensionRequest:
            guard let name = reader.string() else { return nil }
            if name.isText("session-bind@openssh.com") { return .bind(reader.rest) }
            if name.isText("query") { return reader.isAtEnd ? .query : nil }
            if name.isText("reload@whorl") { return reader.isAtEnd ? .reload : nil }
            return .other
        default: return .other
        }
    }
}

/// The part of a bind that this agent reads; the service reads and verifies all of it.
struct Bind {
    /// The key of the host, in SSH's encoding.
    let hostKey: Bytes
    /// Whether the connection is used to forward the agent, and not to log in.
    let isForwarding: Bool

    /// Parses the contents; `nil` if they are anything else.
    init?(_ contents: Bytes) {
        var reader = SSHReader(contents)
        guard let key = reader.string(), !key.isEmpty, let id = reader.string(),
            (20...128).contains(id.count),
            let signature = reader.string(), !signature.isEmpty, let flag = reader.byte(), flag <= 1,
            reader.isAtEnd
        else { return nil }
        hostKey = key
        isForwarding = flag == 1
    }
}
