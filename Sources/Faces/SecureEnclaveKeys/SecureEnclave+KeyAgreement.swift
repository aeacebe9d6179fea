// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import LocalAuthentication

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
        /// - Throws: `LAError` if the owner was not recognised; otherwise an `NSError` of `NSOSStatusErrorDomain`.
        public func sharedSecretFromKeyAgreement(
            with publicKeyShare: Crypto.P256.KeyAgreement.PublicKey
        ) throws -> SharedSecret {
            try SharedSecret(coordinate: key.sharedSecret(with: publicKeyShare.x963Representation))
        }
    }
}
