// SPDX-License-Identifier: Apache-2.0

internal import Keychain

/// The public half of a saved right's key; whatever it does, nobody is asked, and the right need not be authorized.
public final class LAPublicKey: NSObject, Sendable {
    private let key: SecKey

    /// The public half of a private key.
    init(of key: SecKey) {
        // Each key has one.
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
        RightWork.start({ try self.exported() }, completion: completion)
    }

    private func exported() throws -> Data {
        try LocalAuthentication.bytes(from: { SecKeyCopyExternalRepresentation(key, $0) })
    }

    // MARK: - Encrypt

    /// Encrypts for whoever has the private half.
    ///
    /// - Parameters:
    ///   - data: What to encrypt.
    ///   - algorithm: One that ``canEncrypt(using:)`` names.
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
        RightWork.start({ try self.encrypted(data, algorithm) }, completion: completion)
    }

    /// Whether it encrypts with an algorithm.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .encrypt, algorithm)
    }

    private func encrypted(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try LocalAuthentication.bytes(from: { SecKeyCreateEncryptedData(key, algorithm, data as CFData, $0) })
    }

    // MARK: - Verify

    /// Returns when a signature is right.
    ///
    /// - Parameters:
    ///   - signedData: The message, or the hash, as the algorithm says.
    ///   - signature: What to look at.
    ///   - algorithm: The one that it was made with.
    /// - Throws: `errSecVerifyFailed` (of `NSOSStatusErrorDomain`) for a signature that is not right, `errSecParam` for an
    ///   algorithm that ``canVerify(using:)`` does not name.
    public func verify(_ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm) async throws {
        try check(signedData, signature, algorithm)
    }

    /// The same with a completion, which is called once, on a private thread; `nil` says that the signature is right.
    public func verify(
        _ signedData: Data,
        signature: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        RightWork.start({ try self.check(signedData, signature, algorithm) }, completion: completion)
    }

    /// Whether it verifies with an algorithm.
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
