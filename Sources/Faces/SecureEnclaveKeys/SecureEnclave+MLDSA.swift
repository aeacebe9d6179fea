// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import LocalAuthentication

// As in SecureEnclave+MLKEM.swift, these types exist so that programs compile and use their fallback.

extension SecureEnclave {
    /// ML-DSA 65 keys, which TPMs do not support.
    public enum MLDSA65 {
        /// A private key.
        ///
        /// It can never be created.
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
            /// - Throws: The same error as ``init(accessControl:authenticationContext:)``.
            public init(
                dataRepresentation: some DataProtocol,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLDSA65")
            }

            /// The public half.
            public var publicKey: Crypto.MLDSA65.PublicKey { switch none {} }
            /// The representation with which a program can restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Signs a message.
            public func signature(for data: some DataProtocol) throws -> Data { switch none {} }

            /// Signs a message together with a context, which is required for verification.
            public func signature(for data: some DataProtocol, context: some DataProtocol) throws -> Data {
                switch none {}
            }
        }
    }

    /// ML-DSA 87 keys, which TPMs do not support.
    public enum MLDSA87 {
        /// A private key.
        ///
        /// It can never be created.
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
            /// - Throws: The same error as ``init(accessControl:authenticationContext:)``.
            public init(
                dataRepresentation: some DataProtocol,
                authenticationContext: LAContext? = nil
            ) throws {
                throw SecureEnclave.hasNoKeys(for: "MLDSA87")
            }

            /// The public half.
            public var publicKey: Crypto.MLDSA87.PublicKey { switch none {} }
            /// The representation with which a program can restore the key.
            public var dataRepresentation: Data { switch none {} }

            /// Signs a message.
            public func signature(for data: some DataProtocol) throws -> Data { switch none {} }

            /// Signs a message together with a context, which is required for verification.
            public func signature(for data: some DataProtocol, context: some DataProtocol) throws -> Data {
                switch none {}
            }
        }
    }
}
