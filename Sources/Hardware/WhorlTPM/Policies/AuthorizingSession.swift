// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// The HMAC session that proves the values of authorities, for the lifetime of this value; afterwards it stays in the
/// cache, like the authority.
///
/// Starting a session costs the chip a decryption with the storage root, about as much as a signature; continuing one
/// costs nothing. Each command has fresh nonces on both sides, so nothing can be replayed. The session encrypts no
/// secret: each secret has its own session that ends with it, so that a key read out of the memory later decrypts no
/// recording. The nonce of a policy session, which this session encrypts, is not secret: it only has to come from the
/// chip.
struct AuthorizingSession: ~Copyable {
    private let connection: Connection
    let handle: ESYS_TR
    /// Whether the session was started now, not taken from the cache.
    let isFresh: Bool

    /// Takes the session from the cache, or starts it (TPM2_StartAuthSession).
    ///
    /// - Parameters:
    ///   - root: The key that the salt is encrypted to; a session that is salted to another key is not reused.
    ///   - connection: The connection to the TPM.
    /// - Throws: What starting a session throws.
    init(saltedTo root: ESYS_TR, on connection: Connection) throws(TPMError) {
        let name =
            if let pinned = connection.pins.name(of: root) { pinned } else { try connection.name(of: root) }
        if let handle = connection.cache.borrowSession(saltedTo: name) {
            try connection.prepare(handle, for: .goesOn)
            self.handle = handle
            isFresh = false
        } else {
            let session = try Session(.hmac, saltedTo: root, on: connection)
            handle = try session.goingOn()
            isFresh = true
            connection.cache.adopt(session: handle, saltedTo: name, on: connection)
        }
        self.connection = connection
    }

    deinit { connection.cache.giveBack(session: handle) }
}
