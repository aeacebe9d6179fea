// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import LocalAuthentication

// Keys that CryptoKit's enclave makes and TPMs do not. The names exist so that a program that offers such a key if it
// can be made compiles, and uses its fallback.

extension SecureEnclave {
    /// Keys for ML-KEM 768; no TPM has them.
    public enum MLKEM768 {
        /// A private key, which is never made.
        public struct PrivateKey: Sendable {
            private let none: Never

            /// Always fails.
            ///
            /// - Throws: an `NSError` of `NSOSStatusErrorDomain` with `errSecUnimplemented`.
            public init(
                accessControl: SecAccessControl = .ofEnclaveKeys,
                authenticationContext: LAContext? = nil
            ) throws {
                throw NSError(status: errSecUnimplemented, "no TPM has keys for ML-KEM 768")
            }

            /// Always fails.
            ///
            /// - Throws: as ``init(accessControl:authenticationContext:)``.
            public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
                throw NSError(status: errSecUnimplemented, "no TPM has keys for ML-KEM 768")
            }

            /// The public half.
            public var publicKey: Crypto.MLKEM768.PublicKey { switch none {} }
            /// The representation that a program stores to restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Opens a secret that another party has encapsulated for this key.
            public func decapsulate(_ encapsulated: some DataProtocol) throws -> SymmetricKey {
                switch none {}
            }
        }
    }

    /// Keys for ML-KEM 1024; no TPM has them.
    public enum MLKEM1024 {
        /// A private key, which is never made.
        public struct PrivateKey: Sendable {
            private let none: Never

            /// Always fails.
            ///
            /// - Throws: an `NSError` of `NSOSStatusErrorDomain` with `errSecUnimplemented`.
            public init(
                accessControl: SecAccessControl = .ofEnclaveKeys,
                authenticationContext: LAContext? = nil
            ) throws {
                throw NSError(status: errSecUnimplemented, "no TPM has keys for ML-KEM 1024")
            }

            /// Always fails.
            ///
            /// - Throws: as ``init(accessControl:authenticationContext:)``.
            public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
                throw NSError(status: errSecUnimplemented, "no TPM has keys for ML-KEM 1024")
            }

            /// The public half.
            public var publicKey: Crypto.MLKEM1024.PublicKey { switch none {} }
            /// The representation that a program stores to restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Opens a secret that another party has encapsulated for this key.
            public func decapsulate(_ encapsulated: some DataProtocol) throws -> SymmetricKey {
                switch none {}
            }
        }
    }

    /// Keys for ML-DSA 65; no TPM has them.
    public enum MLDSA65 {
        /// A private key, which is never made.
        public struct PrivateKey: Sendable {
            private let none: Never

            /// Always fails.
            ///
            /// - Throws: an `NSError` of `NSOSStatusErrorDomain` with `errSecUnimplemented`.
            public init(
                accessControl: SecAccessControl = .ofEnclaveKeys,
                authenticationContext: LAContext? = nil
            ) throws {
                throw NSError(status: errSecUnimplemented, "no TPM has keys for ML-DSA 65")
            }

            /// Always fails.
            ///
            /// - Throws: as ``init(accessControl:authenticationContext:)``.
            public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
                throw NSError(status: errSecUnimplemented, "no TPM has keys for ML-DSA 65")
            }

            /// The public half.
            public var publicKey: Crypto.MLDSA65.PublicKey { switch none {} }
            /// The representation that a program stores to restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Signs a message.
            public func signature(for data: some DataProtocol) throws -> Data { switch none {} }
        }
    }

    /// Keys for ML-DSA 87; no TPM has them.
    public enum MLDSA87 {
        /// A private key, which is never made.
        public struct PrivateKey: Sendable {
            private let none: Never

            /// Always fails.
            ///
            /// - Throws: an `NSError` of `NSOSStatusErrorDomain` with `errSecUnimplemented`.
            public init(
                accessControl: SecAccessControl = .ofEnclaveKeys,
                authenticationContext: LAContext? = nil
            ) throws {
                throw NSError(status: errSecUnimplemented, "no TPM has keys for ML-DSA 87")
            }

            /// Always fails.
            ///
            /// - Throws: as ``init(accessControl:authenticationContext:)``.
            public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
                throw NSError(status: errSecUnimplemented, "no TPM has keys for ML-DSA 87")
            }

            /// The public half.
            public var publicKey: Crypto.MLDSA87.PublicKey { switch none {} }
            /// The representation that a program stores to restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Signs a message.
            public func signature(for data: some DataProtocol) throws -> Data { switch none {} }
        }
    }
}
