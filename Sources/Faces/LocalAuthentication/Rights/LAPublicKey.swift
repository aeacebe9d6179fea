// SPDX-License-Identifier: Apache-2.0

internal import KeychainServices

/// The public half of a saved right's key.
///
/// Its operations neither prompt nor require an authorized right.
public final class LAPublicKey: NSObject, Sendable {
    private let key: SecKey

    /// Creates the public half of a private key.
    init(of key: SecKey) {
        // Every key has a public half.
        self.key = SecKeyCopyPublicKey(key) ?? key
        super.init()
    }

    // MARK: - Bytes

    /// The key in ANSI X9.63 format (65 bytes).
    public var bytes: Data {
        get async throws { try exported() }
    }

    /// Exports the key in ANSI X9.63 format, and calls the completion handler once, on a private thread.
    public func exportBytes(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightQueue.start({ try self.exported() }, completion: completion)
    }

    private func exported() throws -> Data {
        try LocalAuthentication.bytes(from: { SecKeyCopyExternalRepresentation(key, $0) })
    }

    // MARK: - Encrypt

    /// Encrypts data that only the private key can decrypt.
    ///
    /// - Parameters:
    ///   - data: The data to encrypt.
    ///   - algorithm: An algorithm for which ``canEncrypt(using:)`` returns `true`.
    /// - Returns: The encrypted data.
    /// - Throws: `errSecParam` (in `NSOSStatusErrorDomain`) if the key does not support the algorithm.
    public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try encrypted(data, algorithm)
    }

    /// Encrypts data that only the private key can decrypt, and calls the completion handler once, on a private thread.
    public func encrypt(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        RightQueue.start({ try self.encrypted(data, algorithm) }, completion: completion)
    }

    /// Returns whether the key can encrypt with an algorithm.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .encrypt, algorithm)
    }

    private func encrypted(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try LocalAuthentication.bytes(from: { SecKeyCreateEncryptedData(key, algorithm, data as CFData, $0) })
    }

    // MARK: - Verify

    /// Verifies a signature, and throws an error if the signature is invalid.
    ///
    /// - Parameters:
    ///   - signedData: The message or the hash, depending on the algorithm.
    ///   - signature: The signature to verify.
    ///   - algorithm: The algorithm of the signature.
    /// - Throws: `errSecVerifyFailed` (in `NSOSStatusErrorDomain`) if the signature is invalid, or `errSecParam` if
    ///   ``canVerify(using:)`` returns `false` for the algorithm.
    public func verify(_ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm) async throws {
        try check(signedData, signature, algorithm)
    }

    /// Verifies a signature, and calls the completion handler once, on a private thread.
    ///
    /// The error is `nil` if the signature is valid.
    public func verify(
        _ signedData: Data,
        signature: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        RightQueue.start({ try self.check(signedData, signature, algorithm) }, completion: completion)
    }

    /// Returns whether the key can verify signatures with an algorithm.
    public func canVerify(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .verify, algorithm)
    }

    private func check(_ data: Data, _ signature: Data, _ algorithm: SecKeyAlgorithm) throws {
        var error: Unmanaged<CFError>?
        guard SecKeyVerifySignature(key, algorithm, data as CFData, signature as CFData, &error) else {
            throw error.rightFailure
        }
    }
}
