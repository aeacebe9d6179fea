// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import LocalAuthentication

// As in SecureEnclave+MLKEM.swift: types that exist so that a program compiles, and uses its fallback.

extension SecureEnclave {
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
                throw SecureEnclave.hasNoKeys(for: "MLDSA65")
            }

            /// Always fails.
            ///
            /// - Throws: as ``init(accessControl:authenticationContext:)``.
            public init(
                dataRepresentation: some DataProtocol,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLDSA65")
            }

            /// The public half.
            public var publicKey: Crypto.MLDSA65.PublicKey { switch none {} }
            /// The representation that a program stores to restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Signs a message.
            public func signature(for data: some DataProtocol) throws -> Data { switch none {} }

            /// Signs a message together with a context, which its verification must name.
            public func signature(for data: some DataProtocol, context: some DataProtocol) throws -> Data {
                switch none {}
            }
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
                throw SecureEnclave.hasNoKeys(for: "MLDSA87")
            }

            /// Always fails.
            ///
            /// - Throws: as ``init(accessControl:authenticationContext:)``.
            public init(
                dataRepresentation: some DataProtocol,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLDSA87")
            }

            /// The public half.
            public var publicKey: Crypto.MLDSA87.PublicKey { switch none {} }
            /// The representation that a program stores to restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Signs a message.
            public func signature(for data: some DataProtocol) throws -> Data { switch none {} }

            /// Signs a message together with a context, which its verification must name.
            public func signature(for data: some DataProtocol, context: some DataProtocol) throws -> Data {
                switch none {}
            }
        }
    }
}
