// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// The HMAC session by which authorities' values are proved, for as long as this value lives; afterwards it stays in the
/// cache, as the authority does.
///
/// To start one costs the chip a decryption with the storage root, about as much as a signature; to go on with one costs
/// nothing. Each command has fresh nonces on both sides, so nothing can be replayed. It encrypts no secret: what must not be
/// read has a session of its own that ends with it, so that a key read out of the memory later decrypts no recording. The
/// nonce of a policy session, which it encrypts, is no secret: it need only be the chip's.
struct AuthorizingSession: ~Copyable {
    private let connection: Connection
    let handle: ESYS_TR
    /// Whether it was started now, and not taken from the cache.
    let isFresh: Bool

    /// Takes the session from the cache, or starts it (TPM2_StartAuthSession).
    ///
    /// - Parameters:
    ///   - root: The key that the salt is encrypted to; a session that is salted to another one is not taken.
    ///   - connection: Where.
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
