// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// An authentication by the PAM module pam_ssh_agent_auth, which uses a forwarded agent in place of a password.
///
/// The module has no specification; the source is its `pamsshagentauth_session_id2_gen` and `userauth_pubkey_from_id`
/// (version 0.10). Everything in the request is a claim of the computer that the agent was forwarded to: the module signs
/// nothing itself, and its host has no key in the request.
public struct SSHAgentAuthentication: Sendable, Hashable {
    /// The account whose rights are requested, such as `root`.
    public let user: String
    /// The account that requests them.
    public let requester: String
    /// The PAM service, such as `sudo`.
    public let service: String
    /// The name that the computer has given itself; it may be empty.
    public let host: String
    /// The working directory, any text; it may be empty.
    public let folder: String
    /// The program and its arguments, any texts; empty if the module could not read them.
    public let command: [String]
    /// The time at which the computer made the request, in seconds since 1970 by its clock.
    public let time: UInt64
    let cookie: [UInt8]

    /// Parses the bytes to sign; returns `nil` unless they are such a request with this key up to the last byte.
    init?(_ data: [UInt8], signedBy key: SSHPublicKey) {
        var reader = ByteReader(data)
        guard let session = reader.sized(),
            // SSH2_MSG_USERAUTH_TRUST_REQUEST, a number of the module's.
            reader.number(UInt8.self) == 54,
            let account = reader.name(), reader.constant("pam_ssh_agent_auth"), reader.constant("publickey"),
            reader.flag() == true, reader.sized()?.elementsEqual(key.type.utf8) == true,
            reader.sized()?.elementsEqual(key.blob) == true, reader.isAtEnd
        else { return nil }
        var details = ByteReader(session)
        // PAM_SSH_AGENT_AUTH_REQUESTv1.
        guard details.number(UInt32.self) == 101, let cookie = details.string(16...255),
            let user = details.name(), let requester = details.name(), requester == account,
            let service = details.name(), let folder = details.text(),
            let action = details.sized(), let command = Self.command(action),
            let host = details.text(), host.utf8.count <= 256, let time = details.number(UInt64.self),
            details.isAtEnd
        else { return nil }
        self.user = user
        self.requester = requester
        self.service = service
        self.host = host
        self.folder = folder
        self.command = command
        self.time = time
        self.cookie = Array(cookie)
    }

    /// Parses the list of arguments: nothing at all, or a number and that many texts.
    private static func command(_ action: ArraySlice<UInt8>) -> [String]? {
        if action.isEmpty { return [] }
        var reader = ByteReader(action)
        // The module reads at most 255 arguments; a list without any has no bytes.
        guard let count = reader.number(UInt32.self), (1...255).contains(count) else { return nil }
        var command: [String] = []
        for _ in 0..<count {
            guard let argument = reader.text() else { return nil }
            command.append(argument)
        }
        return reader.isAtEnd ? command : nil
    }
}
