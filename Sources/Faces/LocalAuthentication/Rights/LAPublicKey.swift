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

    /// The key in ANSI X9.63, 65 bytes.
    public var bytes: Data {
        get async throws { try exported() }
    }

    /// A variant with a completion handler, which is called once, on a private thread.
    public func exportBytes(completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        RightQueue.start({ try self.exported() }, completion: completion)
    }

    private func exported() throws -> Data {
        try LocalAuthentication.bytes(from: { SecKeyCopyExternalRepresentation(key, $0) })
    }

    // MARK: - Encrypt

    /// Encrypts data for the holder of the private key.
    ///
    /// - Parameters:
    ///   - data: The data to encrypt.
    ///   - algorithm: An algorithm that ``canEncrypt(using:)`` accepts.
    /// - Returns: The encrypted data.
    /// - Throws: `errSecParam` (of `NSOSStatusErrorDomain`) for another algorithm.
    public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try encrypted(data, algorithm)
    }

    /// A variant with a completion handler, which is called once, on a private thread.
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

    /// Verifies a signature, and throws an error if it is invalid.
    ///
    /// - Parameters:
    ///   - signedData: The message or the hash, depending on the algorithm.
    ///   - signature: The signature to verify.
    ///   - algorithm: The algorithm of the signature.
    /// - Throws: `errSecVerifyFailed` (of `NSOSStatusErrorDomain`) for an invalid signature, `errSecParam` for an
    ///   algorithm that ``canVerify(using:)`` does not accept.
    public func verify(_ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm) async throws {
        try check(signedData, signature, algorithm)
    }

    /// A variant with a completion handler, which is called once, on a private thread.
    ///
    /// `nil` means a valid signature.
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
