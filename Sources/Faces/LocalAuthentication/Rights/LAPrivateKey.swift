// SPDX-License-Identifier: Apache-2.0

internal import Keychain

/// The key of a saved right: P-256, in the chip.
///
/// What it does needs an authorized right and prompts for nothing. It keeps its right, and with it the authorization.
///
/// All its operations throw ``LAError/notInteractive`` unless the right is authorized, ``LAError/appCancel`` when that is taken
/// back meanwhile, and else a status of `NSOSStatusErrorDomain`: `errSecItemNotFound` where the right is no more, `errSecParam`
/// for an algorithm that does not fit and for data that make no sense.
public final class LAPrivateKey: NSObject, Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
        super.init()
    }

    /// The public half, for which nobody is asked.
    public var publicKey: LAPublicKey { LAPublicKey(of: right.found) }

    // MARK: - Sign

    /// Signs.
    ///
    /// - Parameters:
    ///   - data: The message, or the hash, as the algorithm says.
    ///   - algorithm: One that ``canSign(using:)`` names.
    /// - Returns: The signature.
    /// - Throws: as the class says.
    public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await RightWork.run { try self.signature(data, algorithm) }
    }

    /// The same with a completion, which is called once, on a private thread.
    public func sign(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        RightWork.start({ try self.signature(data, algorithm) }, completion: completion)
    }

    /// Whether it signs with an algorithm; nobody is asked.
    public func canSign(using algorithm: SecKeyAlgorithm) -> Bool { can(.sign, algorithm) }

    private func signature(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try right.withKey { key in
            try bytes(from: { SecKeyCreateSignature(key, algorithm, data as CFData, $0) })
        }
    }

    // MARK: - Decrypt

    /// Decrypts what was encrypted with the public half.
    ///
    /// - Parameters:
    ///   - data: What ``LAPublicKey/encrypt(_:algorithm:)`` gave.
    ///   - algorithm: The one that it was encrypted with.
    /// - Returns: The plain data.
    /// - Throws: as the class says.
    public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await RightWork.run { try self.decrypted(data, algorithm) }
    }

    /// The same with a completion, which is called once, on a private thread.
    public func decrypt(
        _ data: Data,
        algorithm: SecKeyAlgorithm,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        RightWork.start({ try self.decrypted(data, algorithm) }, completion: completion)
    }

    /// Whether it decrypts with an algorithm; nobody is asked.
    public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool { can(.decrypt, algorithm) }

    private func decrypted(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try right.withKey { key in
            try bytes(from: { SecKeyCreateDecryptedData(key, algorithm, data as CFData, $0) })
        }
    }

    // MARK: - Exchange

    /// Gives the secret that this key and another's public key have in common.
    ///
    /// - Parameters:
    ///   - publicKey: The other's, as ANSI X9.63 (65 bytes).
    ///   - algorithm: One that ``canExchangeKeys(using:)`` names.
    ///   - parameters: What the algorithm takes besides; the keys are those of `SecKeyKeyExchangeParameter`, or their texts.
    /// - Returns: The secret, in ordinary memory, as with Apple.
    /// - Throws: as the class says; `errSecDecode` for bytes that are no public key.
    public func exchangeKeys(
        publicKey: Data,
        algorithm: SecKeyAlgorithm,
        parameters: [AnyHashable: Any]
    ) async throws -> Data {
        let parameters = Result { try ExchangeParameters(named: parameters) }
        return try await RightWork.run { try self.exchanged(publicKey, algorithm, parameters) }
    }

    /// The same with a completion, which is called once, on a private thread.
    public func exchangeKeys(
        publicKey: Data,
        algorithm: SecKeyAlgorithm,
        parameters: [AnyHashable: Any],
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let parameters = Result { try ExchangeParameters(named: parameters) }
        RightWork.start({ try self.exchanged(publicKey, algorithm, parameters) }, completion: completion)
    }

    /// Whether it exchanges keys with an algorithm; nobody is asked.
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
                return try key.exchanged(algorithm, with: other, parameters)
            } catch {
                throw error.ofRight
            }
        }
    }

    /// The other's key; `errSecDecode` for bytes that are none.
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

/// The bytes that a function of Apple's gives, or its error: an ``LAError`` as one.
func bytes(from call: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData?) throws -> Data {
    var error: Unmanaged<CFError>?
    if let data = call(&error) { return Data(referencing: data) }
    throw error.rightFailure.ofRight
}

extension NSError {
    /// What a program gets for the error of a function of Apple's.
    fileprivate var ofRight: any Error { domain == LAErrorDomain ? LAError(_nsError: self) : self }
}
