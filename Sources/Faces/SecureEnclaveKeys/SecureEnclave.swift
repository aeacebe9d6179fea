// SPDX-License-Identifier: Apache-2.0

internal import WhorlService
internal import WhorlContext
public import Crypto
internal import WhorlSupport
public import LocalAuthentication

/// Keys that are made in the chip, the TPM, and never leave it.
///
///     let key = try SecureEnclave.P256.Signing.PrivateKey()
///     let signature = try key.signature(for: message)
///
/// It has the names and the behavior of CryptoKit's. The program stores a key as its `dataRepresentation`: bytes that
/// are not secret, and that only the chip that made them can use, for the user whose vault it was.
public enum SecureEnclave {
    /// Whether this machine has a chip that this user may use.
    ///
    /// It checks the machine on every call, creates nothing, and blocks the caller until the check is done.
    public static var isAvailable: Bool {
        let parts = ContextParts.current
        return WorkerThread.preflights.wait { await parts.hasChip() }
    }

    /// Keys on the curve P-256, the only curve that the chip supports.
    public enum P256 {
        /// Keys that sign.
        public enum Signing {}
        /// Keys that agree on secrets.
        public enum KeyAgreement {}
    }
}

// Apple has two types for one key of the chip, so the two are alike: what they share beyond Apple's shape is `ChipKey`.
extension SecureEnclave.P256.Signing {
    /// A key in the chip that signs.
    ///
    /// Its functions block their caller, and may prompt if the key's access control requires something.
    public struct PrivateKey: Sendable {
        private let key: ChipKey

        /// The public half.
        public let publicKey: Crypto.P256.Signing.PublicKey

        /// The representation that a program stores to restore the key: not secret, and only usable with the chip.
        public var dataRepresentation: Data { key.dataRepresentation }

        /// Makes a key; this does not prompt.
        ///
        /// - Parameters:
        ///   - compactRepresentable: Ignored: every key that the chip makes is accepted.
        ///   - accessControl: The requirements to use the key; if there are any, it needs `privateKeyUsage`.
        ///   - authenticationContext: The context that the key is used with; without one each use has its own.
        /// - Throws: an `NSError` of `NSOSStatusErrorDomain`: `errSecNotAvailable` without a chip.
        public init(
            compactRepresentable: Bool = true,
            accessControl: SecAccessControl = .ofEnclaveKeys,
            authenticationContext: LAContext? = nil
        ) throws {
            try self.init(ChipKey(accessControl, authenticationContext))
        }

        /// Restores a key that was stored; this does not use the chip yet.
        ///
        /// - Parameters:
        ///   - dataRepresentation: The value of ``dataRepresentation``.
        ///   - authenticationContext: The context that the key is used with; without one each use has its own.
        /// - Throws: an `NSError` of `NSOSStatusErrorDomain` for any other bytes.
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

        /// Signs the SHA-256 of some data.
        ///
        /// - Parameter data: The message.
        /// - Returns: The signature.
        /// - Throws: as for a hash.
        public func signature<D: DataProtocol>(for data: D) throws -> Crypto.P256.Signing.ECDSASignature {
            try signature(for: SHA256.hash(data: data))
        }
    }
}

extension SecureEnclave.P256.KeyAgreement {
    /// A key in the chip that agrees on secrets.
    ///
    /// Its functions block their caller, and may prompt if the key's access control requires something.
    public struct PrivateKey: Sendable {
        private let key: ChipKey

        /// The public half.
        public let publicKey: Crypto.P256.KeyAgreement.PublicKey

        /// The representation that a program stores to restore the key: not secret, and only usable with the chip.
        public var dataRepresentation: Data { key.dataRepresentation }

        /// Makes a key; this does not prompt.
        ///
        /// - Parameters:
        ///   - compactRepresentable: Ignored: every key that the chip makes is accepted.
        ///   - accessControl: The requirements to use the key; if there are any, it needs `privateKeyUsage`.
        ///   - authenticationContext: The context that the key is used with; without one each use has its own.
        /// - Throws: an `NSError` of `NSOSStatusErrorDomain`: `errSecNotAvailable` without a chip.
        public init(
            compactRepresentable: Bool = true,
            accessControl: SecAccessControl = .ofEnclaveKeys,
            authenticationContext: LAContext? = nil
        ) throws {
            try self.init(ChipKey(accessControl, authenticationContext))
        }

        /// Restores a key that was stored; this does not use the chip yet.
        ///
        /// - Parameters:
        ///   - dataRepresentation: The value of ``dataRepresentation``.
        ///   - authenticationContext: The context that the key is used with; without one each use has its own.
        /// - Throws: an `NSError` of `NSOSStatusErrorDomain` for any other bytes.
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
        /// - Returns: The secret, from which keys are derived.
        /// - Throws: `LAError` if the owner was not recognized; otherwise an `NSError` of `NSOSStatusErrorDomain`.
        public func sharedSecretFromKeyAgreement(
            with publicKeyShare: Crypto.P256.KeyAgreement.PublicKey
        ) throws -> SharedSecret {
            try SharedSecret(coordinate: key.sharedSecret(with: publicKeyShare.x963Representation))
        }
    }
}
