// SPDX-License-Identifier: Apache-2.0

/// An algorithm for an operation with a key: the cryptographic scheme, its input and its encoding.
///
/// The raw values are Apple's. ``SecKeyIsAlgorithmSupported(_:_:_:)`` returns whether a key supports an algorithm on
/// Linux.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    let name: String

    /// Apple's name of the algorithm.
    public var rawValue: CFString { name as NSString }

    /// Creates a value from any name, including an unknown one.
    public init(rawValue: CFString) { name = String(describing: rawValue) }

    init(_ name: String) { self.name = name }
}

/// An operation with a key, with Apple's raw values.
public enum SecKeyOperationType: CFIndex, Hashable, Sendable {
    /// Signing with a private key.
    case sign = 0
    /// Verifying a signature with a public key.
    case verify = 1
    /// Encrypting with a public key.
    case encrypt = 2
    /// Decrypting with a private key.
    case decrypt = 3
    /// Computing a shared secret from a private key and another party's public key.
    case keyExchange = 4
}

/// A parameter of ``SecKeyCopyKeyExchangeResult(_:_:_:_:_:)``.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    let name: String

    /// The parameter's key in the dictionary.
    public var rawValue: CFString { name as NSString }

    /// Creates a value from any name, including an unknown one.
    public init(rawValue: CFString) { name = String(describing: rawValue) }

    /// The number of bytes to derive.
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
    /// The shared info: additional input for the key derivation.
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}

extension SecKey {
    /// Returns the algorithm with this name.
    ///
    /// - Throws: An error if this key does not support the operation with the algorithm.
    func supported(
        _ algorithm: SecKeyAlgorithm,
        _ operation: SecKeyOperationType
    ) throws(NSError) -> KeyAlgorithm {
        guard let known = KeyAlgorithm(algorithm), supports(operation, known) else {
            throw .unsupported(algorithm, self)
        }
        return known
    }

    fileprivate func supports(_ operation: SecKeyOperationType, _ algorithm: KeyAlgorithm) -> Bool {
        let needed: KeyMaterial.Class =
            switch operation {
            case .verify, .encrypt: .public
            case .sign, .decrypt, .keyExchange: .private
            }
        guard material.keyClass == needed else { return false }
        switch (operation, algorithm) {
        case (.sign, .ecdsa), (.verify, .ecdsa): return !material.isRSA
        case (.encrypt, .ecies), (.decrypt, .ecies), (.keyExchange, .keyExchange): return !material.isRSA
        case (.sign, .rsaSignature(let padding, let input)), (.verify, .rsaSignature(let padding, let input)):
            return material.isRSA && input.fitsRSA(padding, bitCount: material.bitCount)
        case (.encrypt, .rsaEncryption), (.decrypt, .rsaEncryption), (.encrypt, .rsaEnvelope),
            (.decrypt, .rsaEnvelope):
            return material.isRSA
        default: return false
        }
    }
}

extension KeyAlgorithm.Input {
    fileprivate func fitsRSA(_ padding: KeyAlgorithm.SignaturePadding, bitCount: Int) -> Bool {
        let size: HashSize
        switch self {
        case .message(let hash): size = hash.size
        case .digest(.sha224), .anyDigest: return false
        case .digest(let given): size = given
        }
        // Hash and salt have the same size.
        return padding == .pkcs1 || bitCount / 8 >= 2 * size.byteCount + 2
    }
}

/// Returns whether a key supports an operation with an algorithm.
///
/// The result is `false` for algorithms that are not supported on Linux: SHA-224 of a message, MD5, RSA without
/// padding, and OAEP with SHA-224, SHA-384 or SHA-512. This function never prompts.
///
/// - Parameters:
///   - key: The key.
///   - operation: The operation.
///   - algorithm: The algorithm.
/// - Returns: Whether the key supports the operation.
@discardableResult
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey,
    _ operation: SecKeyOperationType,
    _ algorithm: SecKeyAlgorithm
) -> Bool {
    KeyAlgorithm(algorithm).map { key.supports(operation, $0) } ?? false
}
