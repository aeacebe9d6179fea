// SPDX-License-Identifier: Apache-2.0

internal import KeychainServices

/// The public half of a saved right's key; its operations need neither a prompt nor an authorized right.
public final class LAPublicKey: NSObject, Sendable {
    private let key: SecKey

    /// Makes the public half of a private key.
    init(of key: SecKey) {
        // Every key has a public half.
        self.key = SecKeyCopyPublicKey(key) ?? key
        super.init()
    }

    // MARK: - Bytes

    /// The key as ANSI X9.63: 65 bytes.
    public var bytes: Data {
        get async throws { try exported() }
    }

    /// The same with a completion, which is called once, on a private thread.
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

    /// The same with a completion, which is called once, on a private thread.
    public func encrypt(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        RightQueue.start({ try self.encrypted(data, algorithm) }, completion: completion)
    }

    /// Whether the key encrypts with an algorithm.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .encrypt, algorithm)
    }

    private func encrypted(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try LocalAuthentication.bytes(from: { SecKeyCreateEncryptedData(key, algorithm, data as CFData, $0) })
    }

    // MARK: - Verify

    /// Verifies a signature; it returns if the signature is valid, and throws if not.
    ///
    /// - Parameters:
    ///   - signedData: The message, or the hash, as the algorithm requires.
    ///   - signature: The signature to verify.
    ///   - algorithm: The algorithm that it was made with.
    /// - Throws: `errSecVerifyFailed` (of `NSOSStatusErrorDomain`) for an invalid signature, `errSecParam` for an
    ///   algorithm that ``canVerify(using:)`` does not accept.
    public func verify(_ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm) async throws {
        try check(signedData, signature, algorithm)
    }

    /// The same function with a completion, which is called once, on a private thread; `nil` means a valid signature.
    public func verify(
        _ signedData: Data,
        signature: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        RightQueue.start({ try self.check(signedData, signature, algorithm) }, completion: completion)
    }

    /// Whether the key verifies with an algorithm.
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
