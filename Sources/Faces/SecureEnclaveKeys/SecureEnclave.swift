// SPDX-License-Identifier: Apache-2.0

internal import WhorlService
internal import WhorlContext
public import Crypto
internal import WhorlSupport
public import LocalAuthentication

/// Keys that are created in the TPM and never leave it.
///
///     let key = try SecureEnclave.P256.Signing.PrivateKey()
///     let signature = try key.signature(for: message)
///
/// Names and behavior are those of CryptoKit's type. The program stores a key as its `dataRepresentation`. These bytes
/// are not secret: only the same TPM can use them, and only for the same user's vault.
public enum SecureEnclave {
    /// Whether this machine has a TPM that this user may use.
    ///
    /// It checks the machine on every call without creating anything, and blocks the caller until the check is done.
    public static var isAvailable: Bool {
        let parts = ContextParts.current
        return WorkerThread.preflights.wait { await parts.hasChip() }
    }

    /// Keys on the curve P-256, the only curve that the TPM supports.
    public enum P256 {
        /// P-256 keys for signing.
        public enum Signing {}
        /// P-256 keys for key agreement.
        public enum KeyAgreement {}
    }
}

// Apple has two types for TPM keys, which are therefore similar. `ChipKey` implements everything except Apple's
// interface.
extension SecureEnclave.P256.Signing {
    /// A key in the TPM for signing.
    ///
    /// Its functions block their caller, and may prompt if the key's access control requires authentication.
    public struct PrivateKey: Sendable {
        private let key: ChipKey

        /// The public half.
        public let publicKey: Crypto.P256.Signing.PublicKey

        /// The representation with which a program can restore the key.
        ///
        /// It is not secret, and usable only with the same TPM.
        public var dataRepresentation: Data { key.dataRepresentation }

        /// Creates a key.
        ///
        /// Does not prompt.
        ///
        /// - Parameters:
        ///   - compactRepresentable: Ignored. Every key that the TPM creates is accepted.
        ///   - accessControl: The requirements for using the key. If it requires authentication, it must include
        ///     `privateKeyUsage`.
        ///   - authenticationContext: The context with which the key is used. Without one, each use creates a new one.
        /// - Throws: An `NSError` of `NSOSStatusErrorDomain`: `errSecNotAvailable` without a TPM.
        public init(
            compactRepresentable: Bool = true,
            accessControl: SecAccessControl = .ofEnclaveKeys,
            authenticationContext: LAContext? = nil
        ) throws {
            try self.init(ChipKey(accessControl, authenticationContext))
        }

        /// Restores a stored key.
        ///
        /// Does not access the TPM yet.
        ///
        /// - Parameters:
        ///   - dataRepresentation: The value of ``dataRepresentation``.
        ///   - authenticationContext: The context with which the key is used. Without one, each use creates a new one.
        /// - Throws: An `NSError` of `NSOSStatusErrorDomain` for any other bytes.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(ChipKey(dataRepresentation, authenticationContext))
        }

        private init(_ key: ChipKey) throws {
            self.key = key
            publicKey = try Crypto.P256.Signing.PublicKey(x963Representation: key.publicKey)
        }

        /// Signs a hash.
        ///
        /// - Parameter digest: A digest of any hash function; ECDSA takes its first 256 bits.
        /// - Returns: The signature.
        /// - Throws: `LAError` if the owner was not recognized; otherwise an `NSError` of `NSOSStatusErrorDomain`.
        public func signature<D: Digest>(for digest: D) throws -> Crypto.P256.Signing.ECDSASignature {
            let hash = digest.withUnsafeBytes { Data($0) }
            return try .init(rawRepresentation: key.signature(over: hash))
        }

        /// Signs the SHA-256 hash of a message.
        ///
        /// - Parameter data: The message.
        /// - Returns: The signature.
        /// - Throws: The same errors as for a hash.
        public func signature<D: DataProtocol>(for data: D) throws -> Crypto.P256.Signing.ECDSASignature {
            try signature(for: SHA256.hash(data: data))
        }
    }
}

extension SecureEnclave.P256.KeyAgreement {
    /// A key in the TPM for key agreement.
    ///
    /// Its functions block their caller, and may prompt if the key's access control requires authentication.
    public struct PrivateKey: Sendable {
        private let key: ChipKey

        /// The public half.
        public let publicKey: Crypto.P256.KeyAgreement.PublicKey

        /// The representation with which a program can restore the key.
        ///
        /// It is not secret, and usable only with the same TPM.
        public var dataRepresentation: Data { key.dataRepresentation }

        /// Creates a key.
        ///
        /// Does not prompt.
        ///
        /// - Parameters:
        ///   - compactRepresentable: Ignored. Every key that the TPM creates is accepted.
        ///   - accessControl: The requirements for using the key. If it requires authentication, it must include
        ///     `privateKeyUsage`.
        ///   - authenticationContext: The context with which the key is used. Without one, each use creates a new one.
        /// - Throws: An `NSError` of `NSOSStatusErrorDomain`: `errSecNotAvailable` without a TPM.
        public init(
            compactRepresentable: Bool = true,
            accessControl: SecAccessControl = .ofEnclaveKeys,
            authenticationContext: LAContext? = nil
        ) throws {
            try self.init(ChipKey(accessControl, authenticationContext))
        }

        /// Restores a stored key.
        ///
        /// Does not access the TPM yet.
        ///
        /// - Parameters:
        ///   - dataRepresentation: The value of ``dataRepresentation``.
        ///   - authenticationContext: The context with which the key is used. Without one, each use creates a new one.
        /// - Throws: An `NSError` of `NSOSStatusErrorDomain` for any other bytes.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(ChipKey(dataRepresentation, authenticationContext))
        }

        private init(_ key: ChipKey) throws {
            self.key = key
            publicKey = try Crypto.P256.KeyAgreement.PublicKey(x963Representation: key.publicKey)
        }

        /// Returns the shared secret of this key and another party's public key.
        ///
        /// - Parameter publicKeyShare: The other party's public key.
        /// - Returns: The shared secret, from which keys can be derived.
        /// - Throws: `LAError` if the owner was not recognized; otherwise an `NSError` of `NSOSStatusErrorDomain`.
        public func sharedSecretFromKeyAgreement(
            with publicKeyShare: Crypto.P256.KeyAgreement.PublicKey
        ) throws -> SharedSecret {
            try SharedSecret(coordinate: key.sharedSecret(with: publicKeyShare.x963Representation))
        }
    }
}
