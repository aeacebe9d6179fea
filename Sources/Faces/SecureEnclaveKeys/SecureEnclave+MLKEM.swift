// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import LocalAuthentication

// Keys that CryptoKit's Secure Enclave supports and TPMs do not. The names exist so that programs that use such keys if
// possible compile, and use their fallback. Each algorithm has a separate type because programs extend each of them.

extension SecureEnclave {
    /// ML-KEM 768 keys, which TPMs do not support.
    public enum MLKEM768 {
        /// A private key.
        ///
        /// Such a key can never be created.
        public struct PrivateKey: KEMPrivateKey {
            private let none: Never

            /// Always throws an error.
            ///
            /// - Throws: An `NSError` in `NSOSStatusErrorDomain` with the code `errSecUnimplemented`.
            public init(
                accessControl: SecAccessControl = .ofEnclaveKeys,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLKEM768")
            }

            /// Always throws an error.
            ///
            /// - Throws: The same error as ``init(accessControl:authenticationContext:)``.
            public init(
                dataRepresentation: some DataProtocol,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLKEM768")
            }

            /// Always throws an error.
            ///
            /// - Throws: The same error as ``init(accessControl:authenticationContext:)``.
            public static func generate() throws -> PrivateKey { try PrivateKey() }

            /// The corresponding public key.
            public var publicKey: Crypto.MLKEM768.PublicKey { switch none {} }
            /// A representation from which a program can restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Decapsulates a secret that another party encapsulated for this key.
            public func decapsulate(_ encapsulated: Data) throws -> SymmetricKey { switch none {} }
        }
    }

    /// ML-KEM 1024 keys, which TPMs do not support.
    public enum MLKEM1024 {
        /// A private key.
        ///
        /// Such a key can never be created.
        public struct PrivateKey: KEMPrivateKey {
            private let none: Never

            /// Always throws an error.
            ///
            /// - Throws: An `NSError` in `NSOSStatusErrorDomain` with the code `errSecUnimplemented`.
            public init(
                accessControl: SecAccessControl = .ofEnclaveKeys,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLKEM1024")
            }

            /// Always throws an error.
            ///
            /// - Throws: The same error as ``init(accessControl:authenticationContext:)``.
            public init(
                dataRepresentation: some DataProtocol,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLKEM1024")
            }

            /// Always throws an error.
            ///
            /// - Throws: The same error as ``init(accessControl:authenticationContext:)``.
            public static func generate() throws -> PrivateKey { try PrivateKey() }

            /// The corresponding public key.
            public var publicKey: Crypto.MLKEM1024.PublicKey { switch none {} }
            /// A representation from which a program can restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Decapsulates a secret that another party encapsulated for this key.
            public func decapsulate(_ encapsulated: Data) throws -> SymmetricKey { switch none {} }
        }
    }

    /// Returns the error for an attempt to create a key that TPMs do not support.
    static func hasNoKeys(for algorithm: String) -> NSError {
        NSError(status: errSecUnimplemented, "TPMs do not support keys for \(algorithm)")
    }
}
