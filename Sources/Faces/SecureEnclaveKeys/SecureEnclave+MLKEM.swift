// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import LocalAuthentication

// Keys that CryptoKit's enclave makes and TPMs do not. The names exist so that a program that offers such a key if it
// can be made compiles, and uses its fallback. Each algorithm has a type of its own, since programs extend each of them.

extension SecureEnclave {
    /// Keys for ML-KEM 768; no TPM has them.
    public enum MLKEM768 {
        /// A private key, which is never made.
        public struct PrivateKey: KEMPrivateKey {
            private let none: Never

            /// Always fails.
            ///
            /// - Throws: an `NSError` of `NSOSStatusErrorDomain` with `errSecUnimplemented`.
            public init(
                accessControl: SecAccessControl = .ofEnclaveKeys,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLKEM768")
            }

            /// Always fails.
            ///
            /// - Throws: as ``init(accessControl:authenticationContext:)``.
            public init(
                dataRepresentation: some DataProtocol,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLKEM768")
            }

            /// Always fails.
            ///
            /// - Throws: as ``init(accessControl:authenticationContext:)``.
            public static func generate() throws -> PrivateKey { try PrivateKey() }

            /// The public half.
            public var publicKey: Crypto.MLKEM768.PublicKey { switch none {} }
            /// The representation that a program stores to restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Opens a secret that another party has encapsulated for this key.
            public func decapsulate(_ encapsulated: Data) throws -> SymmetricKey { switch none {} }
        }
    }

    /// Keys for ML-KEM 1024; no TPM has them.
    public enum MLKEM1024 {
        /// A private key, which is never made.
        public struct PrivateKey: KEMPrivateKey {
            private let none: Never

            /// Always fails.
            ///
            /// - Throws: an `NSError` of `NSOSStatusErrorDomain` with `errSecUnimplemented`.
            public init(
                accessControl: SecAccessControl = .ofEnclaveKeys,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLKEM1024")
            }

            /// Always fails.
            ///
            /// - Throws: as ``init(accessControl:authenticationContext:)``.
            public init(
                dataRepresentation: some DataProtocol,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLKEM1024")
            }

            /// Always fails.
            ///
            /// - Throws: as ``init(accessControl:authenticationContext:)``.
            public static func generate() throws -> PrivateKey { try PrivateKey() }

            /// The public half.
            public var publicKey: Crypto.MLKEM1024.PublicKey { switch none {} }
            /// The representation that a program stores to restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Opens a secret that another party has encapsulated for this key.
            public func decapsulate(_ encapsulated: Data) throws -> SymmetricKey { switch none {} }
        }
    }

    /// Returns the error of making a key that no TPM has.
    static func hasNoKeys(for algorithm: String) -> NSError {
        NSError(status: errSecUnimplemented, "no TPM has keys for \(algorithm)")
    }
}
