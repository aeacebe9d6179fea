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
/// The type has the same names and behavior as CryptoKit's. To store a key, a program stores its `dataRepresentation`.
/// These bytes are not secret, because only the same TPM can use them, and only for the same user's vault.
public enum SecureEnclave {
    /// Whether this machine has a TPM that this user may use.
    ///
    /// This property checks the machine each time you read it, without creating anything, and blocks the caller until
    /// the check is done.
    public static var isAvailable: Bool {
        let parts = ContextParts.current
        return WorkerThread.preflights.wait { await parts.hasChip() }
    }

    /// Keys on the P-256 curve, the only curve that TPM keys support here.
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
    /// A private key in the TPM for signing.
    ///
    /// Its methods block the caller, and may show a prompt if the key's access control requires authentication.
    public struct PrivateKey: Sendable {
        private let key: ChipKey

        /// The corresponding public key.
        public let publicKey: Crypto.P256.Signing.PublicKey

        /// A representation from which a program can restore the key.
        ///
        /// The representation is not secret, and can be used only with the same TPM.
        public var dataRepresentation: Data { key.dataRepresentation }

        /// Creates a key in the TPM.
        ///
        /// This initializer does not prompt.
        ///
        /// - Parameters:
        ///   - compactRepresentable: Ignored, because every key that the TPM creates is accepted.
        ///   - accessControl: The requirements for using the key. An access control that requires authentication must
        ///     include `privateKeyUsage`.
        ///   - authenticationContext: The context in which the key is used. If this is `nil`, each use creates a new
        ///     context.
        /// - Throws: An `NSError` in `NSOSStatusErrorDomain`, such as `errSecNotAvailable` if there is no TPM.
        public init(
            compactRepresentable: Bool = true,
            accessControl: SecAccessControl = .ofEnclaveKeys,
            authenticationContext: LAContext? = nil
        ) throws {
            try self.init(ChipKey(accessControl, authenticationContext))
        }

        /// Restores a key from its data representation.
        ///
        /// This initializer does not access the TPM.
        ///
        /// - Parameters:
        ///   - dataRepresentation: The value of ``dataRepresentation``.
        ///   - authenticationContext: The context in which the key is used. If this is `nil`, each use creates a new
        ///     context.
        /// - Throws: An `NSError` in `NSOSStatusErrorDomain` if the bytes do not represent a key.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(ChipKey(dataRepresentation, authenticationContext))
        }

        private init(_ key: ChipKey) throws {
            self.key = key
            publicKey = try Crypto.P256.Signing.PublicKey(x963Representation: key.publicKey)
        }

        /// Signs a hash.
        ///
        /// - Parameter digest: A digest from any hash function. ECDSA uses its first 256 bits.
        /// - Returns: The signature.
        /// - Throws: An `LAError` if the owner was not recognized; otherwise, an `NSError` in `NSOSStatusErrorDomain`.
        public func signature<D: Digest>(for digest: D) throws -> Crypto.P256.Signing.ECDSASignature {
            let hash = digest.withUnsafeBytes { Data($0) }
            return try .init(rawRepresentation: key.signature(over: hash))
        }

        /// Signs the SHA-256 hash of a message.
        ///
        /// - Parameter data: The message.
        /// - Returns: The signature.
        /// - Throws: The same errors as for signing a hash.
        public func signature<D: DataProtocol>(for data: D) throws -> Crypto.P256.Signing.ECDSASignature {
            try signature(for: SHA256.hash(data: data))
        }
    }
}

extension SecureEnclave.P256.KeyAgreement {
    /// A private key in the TPM for key agreement.
    ///
    /// Its methods block the caller, and may show a prompt if the key's access control requires authentication.
    public struct PrivateKey: Sendable {
        private let key: ChipKey

        /// The corresponding public key.
        public let publicKey: Crypto.P256.KeyAgreement.PublicKey

        /// A representation from which a program can restore the key.
        ///
        /// The representation is not secret, and can be used only with the same TPM.
        public var dataRepresentation: Data { key.dataRepresentation }

        /// Creates a key in the TPM.
        ///
        /// This initializer does not prompt.
        ///
        /// - Parameters:
        ///   - compactRepresentable: Ignored, because every key that the TPM creates is accepted.
        ///   - accessControl: The requirements for using the key. An access control that requires authentication must
        ///     include `privateKeyUsage`.
        ///   - authenticationContext: The context in which the key is used. If this is `nil`, each use creates a new
        ///     context.
        /// - Throws: An `NSError` in `NSOSStatusErrorDomain`, such as `errSecNotAvailable` if there is no TPM.
        public init(
            compactRepresentable: Bool = true,
            accessControl: SecAccessControl = .ofEnclaveKeys,
            authenticationContext: LAContext? = nil
        ) throws {
            try self.init(ChipKey(accessControl, authenticationContext))
        }

        /// Restores a key from its data representation.
        ///
        /// This initializer does not access the TPM.
        ///
        /// - Parameters:
        ///   - dataRepresentation: The value of ``dataRepresentation``.
        ///   - authenticationContext: The context in which the key is used. If this is `nil`, each use creates a new
        ///     context.
        /// - Throws: An `NSError` in `NSOSStatusErrorDomain` if the bytes do not represent a key.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(ChipKey(dataRepresentation, authenticationContext))
        }

        private init(_ key: ChipKey) throws {
            self.key = key
            publicKey = try Crypto.P256.KeyAgreement.PublicKey(x963Representation: key.publicKey)
        }

        /// Performs a key agreement with another party's public key, and returns the shared secret.
        ///
        /// - Parameter publicKeyShare: The other party's public key.
        /// - Returns: The shared secret, from which keys can be derived.
        /// - Throws: An `LAError` if the owner was not recognized; otherwise, an `NSError` in `NSOSStatusErrorDomain`.
        public func sharedSecretFromKeyAgreement(
            with publicKeyShare: Crypto.P256.KeyAgreement.PublicKey
        ) throws -> SharedSecret {
            try SharedSecret(coordinate: key.sharedSecret(with: publicKeyShare.x963Representation))
        }
    }
}
