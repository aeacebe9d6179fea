// SPDX-License-Identifier: Apache-2.0

internal import KeychainServices

/// The private half of a saved right's key, which is a P-256 key in the TPM.
///
/// Its operations never prompt, and require that the right is already authorized. The key retains its right, and
/// therefore preserves the authorization.
///
/// All of its operations throw ``LAError/notInteractive`` if the right is not authorized, and ``LAError/appCancel`` if
/// it is deauthorized during the operation. Other errors are in `NSOSStatusErrorDomain`: `errSecItemNotFound` if the
/// right no longer exists, or `errSecParam` if the algorithm is unsuitable or the data is invalid.
public final class LAPrivateKey: NSObject, Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
        super.init()
    }

    /// The public key.
    ///
    /// Reading this property does not prompt.
    public var publicKey: LAPublicKey { LAPublicKey(of: right.found) }

    // MARK: - Sign

    /// Signs a message or a hash.
    ///
    /// - Parameters:
    ///   - data: The message or the hash, depending on the algorithm.
    ///   - algorithm: An algorithm for which ``canSign(using:)`` returns `true`.
    /// - Returns: The signature.
    /// - Throws: The errors described in ``LAPrivateKey``.
    public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await RightQueue.run { try self.signature(data, algorithm) }
    }

    /// Signs a message or a hash, and calls the completion handler once, on a private thread.
    public func sign(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        RightQueue.start({ try self.signature(data, algorithm) }, completion: completion)
    }

    /// Returns whether the key can sign with an algorithm.
    ///
    /// This method does not prompt.
    public func canSign(using algorithm: SecKeyAlgorithm) -> Bool { can(.sign, algorithm) }

    private func signature(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try right.withKey { key in
            try bytes(from: { SecKeyCreateSignature(key, algorithm, data as CFData, $0) })
        }
    }

    // MARK: - Decrypt

    /// Decrypts data that was encrypted with the public key.
    ///
    /// - Parameters:
    ///   - data: The result of ``LAPublicKey/encrypt(_:algorithm:)``.
    ///   - algorithm: The algorithm that the data was encrypted with.
    /// - Returns: The plaintext.
    /// - Throws: The errors described in ``LAPrivateKey``.
    public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await RightQueue.run { try self.decrypted(data, algorithm) }
    }

    /// Decrypts data that was encrypted with the public key, and calls the completion handler once, on a private
    /// thread.
    public func decrypt(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        RightQueue.start({ try self.decrypted(data, algorithm) }, completion: completion)
    }

    /// Returns whether the key can decrypt with an algorithm.
    ///
    /// This method does not prompt.
    public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool { can(.decrypt, algorithm) }

    private func decrypted(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try right.withKey { key in
            try bytes(from: { SecKeyCreateDecryptedData(key, algorithm, data as CFData, $0) })
        }
    }

    // MARK: - Exchange

    /// Performs a key exchange with another party's public key, and returns the shared secret.
    ///
    /// - Parameters:
    ///   - publicKey: The other party's public key, in ANSI X9.63 format (65 bytes).
    ///   - algorithm: An algorithm for which ``canExchangeKeys(using:)`` returns `true`.
    ///   - parameters: Additional parameters for the algorithm. The keys are `SecKeyKeyExchangeParameter` values or
    ///     their strings.
    /// - Returns: The shared secret. As on Apple's systems, it is in ordinary memory.
    /// - Throws: The errors described in ``LAPrivateKey``; `errSecDecode` if `publicKey` is not a valid public key.
    public func exchangeKeys(
        publicKey: Data,
        algorithm: SecKeyAlgorithm,
        parameters: [AnyHashable: Any]
    ) async throws -> Data {
        let parameters = Result { try ExchangeParameters(named: parameters) }
        return try await RightQueue.run { try self.exchanged(publicKey, algorithm, parameters) }
    }

    /// Performs a key exchange with another party's public key, and calls the completion handler once, on a private
    /// thread.
    public func exchangeKeys(
        publicKey: Data,
        algorithm: SecKeyAlgorithm,
        parameters: [AnyHashable: Any],
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let parameters = Result { try ExchangeParameters(named: parameters) }
        RightQueue.start({ try self.exchanged(publicKey, algorithm, parameters) }, completion: completion)
    }

    /// Returns whether the key can exchange keys with an algorithm.
    ///
    /// This method does not prompt.
    public func canExchangeKeys(using algorithm: SecKeyAlgorithm) -> Bool { can(.keyExchange, algorithm) }

    private func exchanged(
        _ other: Data,
        _ algorithm: SecKeyAlgorithm,
        _ parameters: Result<ExchangeParameters, any Error>
    ) throws -> Data {
        try right.withKey { key in
            let other = try exchangeKey(other)
            let parameters = try parameters.get()
            do throws(NSError) {
                return try key.exchange(algorithm, with: other, parameters)
            } catch {
                throw error.ofRight
            }
        }
    }

    /// Returns the other party's key, or throws `errSecDecode` if the bytes are not a key.
    private func exchangeKey(_ x963: Data) throws -> SecKey {
        let kind: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateWithData(x963 as CFData, kind as CFDictionary, &error) else {
            throw error.rightFailure
        }
        return key
    }

    private func can(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(right.found, operation, algorithm)
    }
}

/// Returns the bytes that one of Apple's functions returns, or throws its error, as an ``LAError`` if possible.
func bytes(from call: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData?) throws -> Data {
    var error: Unmanaged<CFError>?
    if let data = call(&error) { return Data(referencing: data) }
    throw error.rightFailure.ofRight
}

extension NSError {
    /// The error to throw if one of Apple's functions reports this error.
    fileprivate var ofRight: any Error { domain == LAErrorDomain ? LAError(_nsError: self) : self }
}
