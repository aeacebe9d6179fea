// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import LocalAuthentication

// As in SecureEnclave+MLKEM.swift, these types exist so that programs compile and use their fallback.

extension SecureEnclave {
    /// ML-DSA 65 keys, which TPMs do not support.
    public enum MLDSA65 {
        /// A private key.
        ///
        /// Such a key can never be created.
        public struct PrivateKey: Sendable {
            private let none: Never

            /// Always throws an error.
            ///
            /// - Throws: An `NSError` in `NSOSStatusErrorDomain` with the code `errSecUnimplemented`.
            public init(
                accessControl: SecAccessControl = .ofEnclaveKeys,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLDSA65")
            }

            /// Always throws an error.
            ///
            /// - Throws: The same error as ``init(accessControl:authenticationContext:)``.
            public init(
                dataRepresentation: some DataProtocol,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLDSA65")
            }

            /// The corresponding public key.
            public var publicKey: Crypto.MLDSA65.PublicKey { switch none {} }
            /// A representation from which a program can restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Signs a message.
            public func signature(for data: some DataProtocol) throws -> Data { switch none {} }

            /// Signs a message together with a context, which is also required to verify the signature.
            public func signature(for data: some DataProtocol, context: some DataProtocol) throws -> Data {
                switch none {}
            }
        }
    }

    /// ML-DSA 87 keys, which TPMs do not support.
    public enum MLDSA87 {
        /// A private key.
        ///
        /// Such a key can never be created.
        public struct PrivateKey: Sendable {
            private let none: Never

            /// Always throws an error.
            ///
            /// - Throws: An `NSError` in `NSOSStatusErrorDomain` with the code `errSecUnimplemented`.
            public init(
                accessControl: SecAccessControl = .ofEnclaveKeys,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLDSA87")
            }

            /// Always throws an error.
            ///
            /// - Throws: The same error as ``init(accessControl:authenticationContext:)``.
            public init(
                dataRepresentation: some DataProtocol,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLDSA87")
            }

            /// The corresponding public key.
            public var publicKey: Crypto.MLDSA87.PublicKey { switch none {} }
            /// A representation from which a program can restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Signs a message.
            public func signature(for data: some DataProtocol) throws -> Data { switch none {} }

            /// Signs a message together with a context, which is also required to verify the signature.
            public func signature(for data: some DataProtocol, context: some DataProtocol) throws -> Data {
                switch none {}
            }
        }
    }
}
