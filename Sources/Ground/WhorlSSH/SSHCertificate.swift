// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// The key inside a certificate of a user's ECDSA key on P-256 (OpenSSH's PROTOCOL.certkeys).
///
/// Whether the certificate is valid, and for whom, is the host's concern: nothing here depends on it.
struct SSHCertificate {
    /// The name of the certificate's type.
    let type = "ecdsa-sha2-nistp256-cert-v01@openssh.com"
    /// The key that the certificate is about.
    let key: SSHPublicKey

    /// Parses an encoded certificate; returns `nil` unless it is one of a user's key, up to the last byte.
    init?(_ blob: some RandomAccessCollection<UInt8>) {
        guard blob.count <= SSHPublicKey.longest else { return nil }
        var reader = ByteReader(Array(blob))
        guard reader.constant("ecdsa-sha2-nistp256-cert-v01@openssh.com"),
            // The nonce.
            reader.sized() != nil,
            reader.constant("nistp256"), let point = reader.sized(), let key = SSHPublicKey(p256: point),
            // The serial number, and 1 for a user's certificate.
            reader.number(UInt64.self) != nil, reader.number(UInt32.self) == 1,
            // The certificate's ID and the names that it is for.
            reader.sized() != nil, reader.sized() != nil,
            // The times at which it becomes valid and expires.
            reader.number(UInt64.self) != nil, reader.number(UInt64.self) != nil,
            // Critical options, extensions, reserved bytes, the authority's key, and its signature.
            reader.sized() != nil, reader.sized() != nil, reader.sized() != nil, reader.sized() != nil,
            reader.sized() != nil, reader.isAtEnd
        else { return nil }
        self.key = key
    }
}
