// SPDX-License-Identifier: Apache-2.0

/// The meaning of the bytes that an agent is asked to sign.
///
/// Bytes have a meaning only if they are a request of one of these kinds up to the last byte, and of no other kind, and
/// name the key that is to sign them. All others are ``unknown``; signing them makes an agent a signing oracle.
public enum SSHSigningRequest: Sendable, Hashable {
    /// A login on a host.
    case login(SSHLogin)
    /// A signature of a file, a message, or a commit or tag of git.
    case signature(SSHFileSignature)
    /// An authentication on another computer by the module pam_ssh_agent_auth, such as for sudo.
    case authentication(SSHAgentAuthentication)
    /// Anything else, such as a certificate, or random bytes (`ssh-add -T`).
    case unknown

    /// The maximum number of bytes of a request with a meaning: OpenSSH's limit of a message to an agent.
    public static let longest = 262_144

    /// Determines the meaning of the bytes.
    ///
    /// - Parameters:
    ///   - data: The bytes to sign, not their hash.
    ///   - key: The key that is asked to sign them.
    public init(_ data: [UInt8], signedBy key: SSHPublicKey) {
        guard data.count <= Self.longest else {
            self = .unknown
            return
        }
        // No bytes have two meanings, because a login's length of the session ID would have to read "SSHS"; the count
        // keeps that so if a kind is added.
        let meanings: [SSHSigningRequest] = [
            SSHLogin(data, signedBy: key).map { .login($0) },
            SSHFileSignature(data).map { .signature($0) },
            SSHAgentAuthentication(data, signedBy: key).map { .authentication($0) },
        ].compactMap { $0 }
        self = meanings.count == 1 ? meanings[0] : .unknown
    }
}
