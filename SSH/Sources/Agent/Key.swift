// SPDX-License-Identifier: Apache-2.0

/// A key that the service holds.
struct Key {
    /// The name of the item.
    let name: Bytes
    /// The public key in SSH's encoding (RFC 5656, section 3.1).
    let blob: Bytes

    /// Creates a key; `nil` unless the point has 65 bytes.
    init?(name: Bytes, point: Bytes) {
        guard point.count == 65, point[0] == 4 else { return nil }
        self.name = name
        var blob: Bytes = []
        blob.append(string: Bytes("ecdsa-sha2-nistp256"))
        blob.append(string: Bytes("nistp256"))
        blob.append(string: point)
        self.blob = blob
    }

    /// Returns whether a request names this key, alone or in a certificate.
    func isNamed(by other: Bytes) -> Bool {
        if other == blob { return true }
        // OpenSSH's PROTOCOL.certkeys: the name, a nonce, and the key's own parts.
        var reader = SSHReader(other)
        guard let type = reader.string(), type.isText("ecdsa-sha2-nistp256-cert-v01@openssh.com"),
            reader.string() != nil, let curve = reader.string(), let point = reader.string()
        else { return false }
        var inner: Bytes = []
        inner.append(string: Bytes("ecdsa-sha2-nistp256"))
        inner.append(string: curve)
        inner.append(string: point)
        return inner == blob
    }
}
