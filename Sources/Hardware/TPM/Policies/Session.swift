// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// One authorization session, flushed at the end of its life unless the TPM has ended it.
///
/// It is salted to the storage root: what its key protects can be read by the chip alone that holds that root. A
/// command that succeeds with the attribute continueSession clear ends the session in the TPM.
struct Session: ~Copyable {
    enum Kind {
        /// Proves that the caller knows authorization values.
        case hmac
        /// Collects what was proved.
        case policy
    }

    private let connection: Connection
    private(set) var handle: ESYS_TR

    /// Starts a session (TPM2_StartAuthSession), with AES-128-CFB for parameters and SHA-256.
    ///
    /// By itself the answer is authenticated by nothing. With an authenticator, its HMAC covers the new session's nonce,
    /// though not its handle; a command that carries the nonce then reaches this session alone.
    ///
    /// - Parameters:
    ///   - kind: The purpose.
    ///   - root: The key that the salt is encrypted to.
    ///   - authenticator: A salted HMAC session that the answer's nonce is encrypted by and authenticated with.
    ///   - connection: The connection to the TPM.
    /// - Throws: ``TPMError/Code-swift.enum/foreignRoot`` when the root is not there, and what the command throws.
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
            // A root that is not there any more, or that cannot decrypt the salt, is not the pinned one.
            throw error.saysMissingHandle || error.culprit == .parameter(2)
                ? error.told(as: .foreignRoot) : error
        }
        self.handle = handle
    }

    /// What the next command does with the session.
    struct Use: OptionSet {
        let rawValue: UInt8
        /// The session goes on after the command.
        static let goesOn = Use(rawValue: TPMA_SESSION_CONTINUESESSION)
        /// The command's first parameter is encrypted.
        static let encryptsCommand = Use(rawValue: TPMA_SESSION_DECRYPT)
        /// The response's first parameter is encrypted.
        static let encryptsResponse = Use(rawValue: TPMA_SESSION_ENCRYPT)
    }

    /// The nonce of the TPM's last answer for this session, as ESAPI remembers it.
    var nonce: TPM2B_NONCE {
        get throws(TPMError) {
            let handle = handle
            var nonce: UnsafeMutablePointer<TPM2B_NONCE>?
            try connection.call("Esys_TRSess_GetNonceTPM") { Esys_TRSess_GetNonceTPM($0, handle, &nonce) }
            return try CMemory.take(nonce, of: "Esys_TRSess_GetNonceTPM") { $0.pointee }
        }
    }

    /// Runs one command that uses the session; when it succeeds and the session was not to go on, it is ended.
    mutating func spend<Value: ~Copyable>(
        _ use: Use,
        on command: (ESYS_TR) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        let handle = handle
        try connection.prepare(handle, for: use)
        let value = try command(handle)
        if !use.contains(.goesOn) {
            // The TPM flushed it by itself; ESAPI keeps an entry of more than a kilobyte until it is told.
            self.handle = Fixed.none
            connection.close(handle)
        }
        return value
    }

    /// Gives the handle to somebody who flushes it, for commands that do not end the session.
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
    /// Says what the next command does with a session, in ESAPI's memory only.
    func prepare(_ session: ESYS_TR, for use: Session.Use) throws(TPMError) {
        try call("Esys_TRSess_SetAttributes") { Esys_TRSess_SetAttributes($0, session, use.rawValue, 0xff) }
    }
}

/// ESAPI's fixed handles, as Swift's importer sees them under one type.
enum Fixed {
    static let none = ESYS_TR_NONE
    static let password = ESYS_TR_PASSWORD
    static let owner = ESYS_TR_RH_OWNER
}
