// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import LocalAuthentication

// Keys that CryptoKit's enclave makes and TPMs do not. The names exist so that a program that offers such a key if it
// can be made compiles, and uses its fallback.

extension SecureEnclave {
    /// Keys for ML-KEM 768; no TPM has them.
    public enum MLKEM768 {
        /// A private key, which is never made.
        public typealias PrivateKey = UnavailablePrivateKey<Crypto.MLKEM768.PublicKey>
    }

    /// Keys for ML-KEM 1024; no TPM has them.
    public enum MLKEM1024 {
        /// A private key, which is never made.
        public typealias PrivateKey = UnavailablePrivateKey<Crypto.MLKEM1024.PublicKey>
    }

    /// Keys for ML-DSA 65; no TPM has them.
    public enum MLDSA65 {
        /// A private key, which is never made.
        public typealias PrivateKey = UnavailablePrivateKey<Crypto.MLDSA65.PublicKey>
    }

    /// Keys for ML-DSA 87; no TPM has them.
    public enum MLDSA87 {
        /// A private key, which is never made.
        public typealias PrivateKey = UnavailablePrivateKey<Crypto.MLDSA87.PublicKey>
    }

    /// A private key of an algorithm that no TPM has; it is never made.
    public struct UnavailablePrivateKey<PublicKey>: Sendable {
        private let none: Never

        /// Always fails.
        ///
        /// - Throws: an `NSError` of `NSOSStatusErrorDomain` with `errSecUnimplemented`.
        public init(
            accessControl: SecAccessControl = .ofEnclaveKeys,
            authenticationContext: LAContext? = nil
        ) throws {
            throw Self.unavailable
        }

        /// Always fails.
        ///
        /// - Throws: as ``init(accessControl:authenticationContext:)``.
        public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
            throw Self.unavailable
        }

        private static var unavailable: NSError {
            // The public key's type is nested in the algorithm's: "Crypto.MLKEM768.PublicKey".
            let algorithm =
                String(reflecting: PublicKey.self).split(separator: ".").dropLast().last ?? "this kind"
            return NSError(status: errSecUnimplemented, "no TPM has keys for \(algorithm)")
        }

        /// The public half.
        public var publicKey: PublicKey { switch none {} }
        /// The representation that a program stores to restore the key.
        public var dataRepresentation: Data { switch none {} }

        /// Opens a secret that another party has encapsulated for this key.
        public func decapsulate(_ encapsulated: some DataProtocol) throws -> SymmetricKey
        where PublicKey: KEMPublicKey { switch none {} }

        /// Signs a message.
        public func signature(for data: some DataProtocol) throws -> Data
        where PublicKey == Crypto.MLDSA65.PublicKey { switch none {} }

        /// Signs a message.
        public func signature(for data: some DataProtocol) throws -> Data
        where PublicKey == Crypto.MLDSA87.PublicKey { switch none {} }
    }
}
