// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// A login that a user's key is asked to sign (RFC 4252, section 7; OpenSSH's PROTOCOL, section 3.1).
public struct SSHLogin: Sendable, Hashable {
    /// The ID of the session, 20 to 128 bytes.
    public let sessionID: [UInt8]
    /// The name of the account on the host: hostile text of at most 256 bytes, without control characters.
    public let user: String
    /// The key of the host, if the login is bound to it (`publickey-hostbound-v00@openssh.com`).
    public let hostKey: SSHPublicKey?
    /// Whether the login presents a certificate of the key in place of the key.
    public let usesCertificate: Bool

    /// Parses the bytes to sign; returns `nil` unless they are a login with this key up to the last byte.
    init?(_ data: [UInt8], signedBy key: SSHPublicKey) {
        var reader = ByteReader(data)
        guard let sessionID = reader.string(SSHSessionBind.sessionIDCounts),
            // SSH_MSG_USERAUTH_REQUEST.
            reader.number(UInt8.self) == 50,
            let user = reader.name(), reader.constant("ssh-connection"), let method = reader.name(),
            ["publickey", "publickey-hostbound-v00@openssh.com"].contains(method),
            reader.flag() == true, let algorithm = reader.name(), let presented = reader.sized()
        else { return nil }
        if algorithm == key.type, presented.elementsEqual(key.blob) {
            usesCertificate = false
        } else {
            guard let certificate = SSHCertificate(presented), certificate.type == algorithm,
                certificate.key == key
            else { return nil }
            usesCertificate = true
        }
        if method == "publickey" {
            hostKey = nil
        } else {
            guard let named = reader.sized().flatMap({ SSHPublicKey(blob: $0) }) else { return nil }
            hostKey = named
        }
        guard reader.isAtEnd else { return nil }
        self.sessionID = Array(sessionID)
        self.user = user
    }
}
