// SPDX-License-Identifier: Apache-2.0

extension SecKey {
    /// Whether this key supports an operation with an algorithm.
    func supports(_ operation: SecKeyOperationType, _ algorithm: KeyAlgorithm) -> Bool {
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
/// SHA-224 of a message, MD5, RSA without padding and OAEP with SHA-224, SHA-384 and SHA-512 are not supported on
/// Linux, and the result for them is `false`.
///
/// - Parameters:
///   - key: The key.
///   - operation: The operation.
///   - algorithm: The algorithm.
/// - Returns: Whether the key supports the operation; the owner is not asked.
@discardableResult
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey,
    _ operation: SecKeyOperationType,
    _ algorithm: SecKeyAlgorithm
) -> Bool {
    KeyAlgorithm(algorithm).map { key.supports(operation, $0) } ?? false
}
