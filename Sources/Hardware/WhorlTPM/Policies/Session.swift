// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2

/// An authorization session, which is flushed at the end of this value's lifetime unless the TPM has already ended it.
///
/// It is salted to the storage root, so that only the TPM that contains that root can read data protected by the
/// session's key. A successful command without the attribute continueSession ends the session in the TPM.
struct Session: ~Copyable {
    enum Kind {
        /// A session that proves knowledge of authorization values.
        case hmac
        /// A session that collects the proofs required by a policy.
        case policy
    }

    private let connection: Connection
    private(set) var handle: ESYS_TR

    /// Starts a session (TPM2_StartAuthSession) that uses SHA-256, and AES-128-CFB for parameters.
    ///
    /// The response alone is not authenticated. With an authenticator, the HMAC covers the new session's nonce but not
    /// its handle. A command that contains the nonce can then reach only this session.
    ///
    /// - Parameters:
    ///   - kind: The purpose.
    ///   - root: The key that the salt is encrypted to.
    ///   - authenticator: A salted HMAC session that encrypts and authenticates the nonce in the response.
    ///   - connection: The connection to the TPM.
    /// - Throws: ``TPMError/Code-swift.enum/foreignRoot`` if the root does not exist, and the errors of the command.
    init(
        _ kind: Kind,
        saltedTo root: ESYS_TR,
        authenticatedBy authenticator: ESYS_TR = Fixed.none,
        on connection: Connection
    ) throws(TPMError) {
        self.connection = connection
        let type: TPM2_SE =
            switch kind {
            case .hmac: TPM2_SE_HMAC
            case .policy: TPM2_SE_POLICY
            }
        var symmetric = TPMT_SYM_DEF()
        symmetric.algorithm = TPM2_ALG_AES
        symmetric.keyBits.aes = 128
        symmetric.mode.aes = TPM2_ALG_CFB
        var handle = Fixed.none
        do throws(TPMError) {
            if authenticator != Fixed.none {
                try connection.prepare(authenticator, for: [.goesOn, .encryptsResponse])
            }
            try connection.call("TPM2_StartAuthSession") {
                Esys_StartAuthSession(
                    $0,
                    root,
                    Fixed.none,
                    authenticator,
                    Fixed.none,
                    Fixed.none,
                    nil,
                    type,
                    &symmetric,
                    TPM2_ALG_SHA256,
                    &handle
                )
            }
        } catch {
            self.handle = Fixed.none
            // If the root no longer exists or cannot decrypt the salt, it is not the pinned one.
            throw error.saysMissingHandle || error.faultyPart == .parameter(2)
                ? error.told(as: .foreignRoot) : error
        }
        self.handle = handle
    }

    /// The way in which the next command uses the session.
    struct Use: OptionSet {
        let rawValue: UInt8
        /// The session continues after the command.
        static let goesOn = Use(rawValue: TPMA_SESSION_CONTINUESESSION)
        /// The command's first parameter is encrypted.
        static let encryptsCommand = Use(rawValue: TPMA_SESSION_DECRYPT)
        /// The response's first parameter is encrypted.
        static let encryptsResponse = Use(rawValue: TPMA_SESSION_ENCRYPT)
    }

    /// The nonce from the TPM's last response for this session, read from ESAPI's memory.
    var nonce: TPM2B_NONCE {
        get throws(TPMError) {
            let handle = handle
            var nonce: UnsafeMutablePointer<TPM2B_NONCE>?
            try connection.call("Esys_TRSess_GetNonceTPM") { Esys_TRSess_GetNonceTPM($0, handle, &nonce) }
            return try CMemory.take(nonce, of: "Esys_TRSess_GetNonceTPM") { $0.pointee }
        }
    }

    /// Runs one command that uses the session.
    ///
    /// The session ends if the command succeeds and `use` does not contain `goesOn`.
    mutating func spend<Value: ~Copyable>(
        _ use: Use,
        on command: (ESYS_TR) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        let handle = handle
        try connection.prepare(handle, for: use)
        let value = try command(handle)
        if !use.contains(.goesOn) {
            // The TPM has flushed it; ESAPI keeps an entry of more than a kilobyte until it is closed.
            self.handle = Fixed.none
            connection.close(handle)
        }
        return value
    }

    /// Transfers the handle to a new owner, which must flush it.
    ///
    /// Use this function for commands that do not end the session.
    consuming func goingOn() throws(TPMError) -> ESYS_TR {
        let handle = handle
        try connection.prepare(handle, for: .goesOn)
        self.handle = Fixed.none
        return handle
    }

    deinit {
        if handle != Fixed.none { connection.flush(handle) }
    }
}

extension Connection {
    /// Sets how the next command uses a session.
    ///
    /// This changes only ESAPI's memory.
    func prepare(_ session: ESYS_TR, for use: Session.Use) throws(TPMError) {
        try call("Esys_TRSess_SetAttributes") { Esys_TRSess_SetAttributes($0, session, use.rawValue, 0xff) }
    }
}

/// ESAPI's predefined handles, converted to one type.
enum Fixed {
    static let none = ESYS_TR_NONE
    static let password = ESYS_TR_PASSWORD
    static let owner = ESYS_TR_RH_OWNER
    static let endorsement = ESYS_TR_RH_ENDORSEMENT
}

/// An HMAC session that proves knowledge of authorities' values for the lifetime of this value.
///
/// Afterward it stays in the cache, like the authority.
///
/// To start a session, the TPM must decrypt the salt with the storage root, which takes about as long as a signature.
/// Continuing a session costs nothing. Each command has fresh nonces on both sides so that nothing can be replayed.
///
/// This session does not encrypt any secrets. Each secret has its own session that ends after one use, so that a key
/// read from memory later cannot decrypt recorded traffic. This session only encrypts the nonce of a policy session,
/// which is not secret but must come from the TPM.
struct AuthorizingSession: ~Copyable {
    private let connection: Connection
    let handle: ESYS_TR
    /// Whether the session is new rather than from the cache.
    let isFresh: Bool

    /// Takes the session from the cache, or starts it (TPM2_StartAuthSession).
    ///
    /// - Parameters:
    ///   - root: The key that the salt is encrypted to. A session salted to another key is not reused.
    ///   - connection: The connection to the TPM.
    /// - Throws: The errors of starting a session.
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
