// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import LocalAuthentication

// Apple has two types for one key of the chip, so this file and the one of the key agreement are alike: what they share
// beyond Apple's shape is `ChipKey`.
extension SecureEnclave.P256.Signing {
    /// A key that signs, in the chip.
    ///
    /// Its functions block their caller, and may prompt when the key's access control asks for something.
    public struct PrivateKey: Sendable {
        private let key: ChipKey

        /// The public half.
        public let publicKey: Crypto.P256.Signing.PublicKey

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
            publicKey = try Crypto.P256.Signing.PublicKey(x963Representation: key.publicKey)
        }

        /// Signs a hash.
        ///
        /// - Parameter digest: Of any function; ECDSA takes its first 256 bits.
        /// - Returns: The signature.
        /// - Throws: `LAError` when the owner was not recognised; else an `NSError` of `NSOSStatusErrorDomain`.
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
