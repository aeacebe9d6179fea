// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import LocalAuthentication

extension SecureEnclave.P256.KeyAgreement {
    /// A key that agrees on secrets, in the chip.
    ///
    /// Its functions block their caller, and may prompt when the key's access control asks for something.
    public struct PrivateKey: Sendable {
        private let key: ChipKey

        /// The public half.
        public let publicKey: Crypto.P256.KeyAgreement.PublicKey

        /// What a program stores to have the key again: no secret, and of use to the chip alone.
        public var dataRepresentation: Data { key.dataRepresentation }

        /// Makes a key; that prompts for nothing.
        ///
        /// - Parameters:
        ///   - compactRepresentable: Counts for nothing: the chip gives whichever key it makes.
        ///   - accessControl: What must be shown to use the key; one that asks for something needs `privateKeyUsage`.
        ///   - authenticationContext: The context that the key is used with; without one each use has its own.
        /// - Throws: an `NSError` of `NSOSStatusErrorDomain`: `errSecNotAvailable` without a chip.
        public init(
            compactRepresentable: Bool = true,
            accessControl: SecAccessControl = .ofEnclaveKeys,
            authenticationContext: LAContext? = nil
        ) throws {
            try self.init(ChipKey(accessControl, authenticationContext))
        }

        /// Takes a key that was stored; the chip is not asked yet.
        ///
        /// - Parameters:
        ///   - dataRepresentation: What ``dataRepresentation`` gave.
        ///   - authenticationContext: The context that the key is used with; without one each use has its own.
        /// - Throws: an `NSError` of `NSOSStatusErrorDomain` for anything else.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            try self.init(ChipKey(dataRepresentation, authenticationContext))
        }

        private init(_ key: ChipKey) throws {
            self.key = key
            publicKey = try Crypto.P256.KeyAgreement.PublicKey(x963Representation: key.publicKey)
        }

        /// The secret that this key and another's public key have in common.
        ///
        /// - Parameter publicKeyShare: The other's.
        /// - Returns: The secret, from which keys are derived.
        /// - Throws: `LAError` when the owner was not recognised; else an `NSError` of `NSOSStatusErrorDomain`.
        public func sharedSecretFromKeyAgreement(
            with publicKeyShare: Crypto.P256.KeyAgreement.PublicKey
        ) throws -> SharedSecret {
            try SharedSecret(coordinate: key.sharedSecret(with: publicKeyShare.x963Representation))
        }
    }
}
