// SPDX-License-Identifier: Apache-2.0

internal import CAgent
internal import CWhorl

/// The handling of requests.
extension Agent {
    func handle(_ message: Bytes, of client: Client) {
        let request = AgentRequest(message)
        switch request {
        case .list:
            if passphrase.isSet || hasReadKeys() || !waitForKeys(client, with: message) { list(client) }
        case .bind(let contents):
            client.reply(client.add(bind: contents) ? MessageType.success : MessageType.failure)
        case .query: client.reply(Self.extensions)
        case .unlock(let secret): unlock(secret, message, client)
        case .reload:
            readKeys()
            // The reply is the new list.
            if !waitForKeys(client, with: message) { list(client) }
        case .malformed: client.reply(MessageType.failure)
        case .sign, .remove, .lock, .other:
            if passphrase.isSet {
                client.reply(MessageType.failure)
            } else {
                handleUnlocked(request, message, client)
            }
        }
    }

    private func handleUnlocked(_ request: AgentRequest, _ message: Bytes, _ client: Client) {
        switch request {
        case .sign:
            // `ssh-keygen -Y sign` does not list the keys first.
            if hasReadKeys() || !waitForKeys(client, with: message) { signWithKnownKeys(message, client) }
        case .remove(let key):
            // Only `whorl ssh remove` deletes a key in the TPM.
            guard keys.contains(where: { $0.isNamed(by: key) }) else { return passOn(message, client) }
            client.reply(MessageType.failure)
        case .lock(let secret):
            guard !client.isForwarded, lock(secret) else { return client.reply(MessageType.failure) }
            passOnLock(message, client)
        default: passOn(message, client)
        }
    }

    /// Signs with one of the keys that are known, or passes the request on.
    func signWithKnownKeys(_ message: Bytes, _ client: Client) {
        guard case .sign(let key, let data) = AgentRequest(message),
            let own = keys.first(where: { $0.isNamed(by: key) })
        else { return passOn(message, client) }
        sign(data, with: own, client)
    }

    /// Passes a request on to the other agent; without one, the request fails.
    private func passOn(_ message: Bytes, _ client: Client, _ use: Client.Reply = .asItIs) {
        guard let upstream = upstream(of: client) else { return client.reply(MessageType.failure) }
        client.work = .upstreamReply(use)
        upstream.send(message)
    }

    private func sign(_ data: Bytes, with key: Key, _ client: Client) {
        guard data.count <= Signing.longestData, !client.lacksBinds else {
            tell(client, Bytes("The request is too long."))
            return client.reply(MessageType.failure)
        }
        let number = Watched.number(client.slot, .signing)
        let asked = Signing.Asked(
            key: key,
            data: data,
            binds: client.binds,
            hostKey: client.hostKey,
            process: client.process,
            pid: client.pid
        )
        guard let signing = Signing(asked, service: service, watch: watch, number: number) else {
            tell(client, Bytes("The fingerprint service is not running."))
            return client.reply(MessageType.failure)
        }
        client.work = .signing(signing)
    }

    private func unlock(_ secret: Bytes, _ message: Bytes, _ client: Client) {
        guard passphrase.isSet, !client.isForwarded else { return client.reply(MessageType.failure) }
        guard passphrase.remove(secret) else {
            // Each wrong passphrase costs a tenth of a second more than the last one, up to ten seconds.
            wrongPassphrases = min(wrongPassphrases + 1, 100)
            client.work = .pause(until: whorl_milliseconds() + wrongPassphrases * 100)
            return
        }
        wrongPassphrases = 0
        passOnLock(message, client)
    }

    /// Locks or unlocks the other agent as well, if there is one; this agent is locked or unlocked in any case.
    private func passOnLock(_ message: Bytes, _ client: Client) {
        guard let upstream = upstream(of: client) else { return client.reply(MessageType.success) }
        client.work = .upstreamReply(.toLock)
        upstream.send(message)
    }

    /// The reply to `query` (RFC 9987): the names of the supported extensions.
    private static var extensions: Bytes {
        var reply: Bytes = [MessageType.extensionResponse]
        reply.append(string: Bytes("query"))
        reply.append(string: Bytes("session-bind@openssh.com"))
        return reply
    }
}
