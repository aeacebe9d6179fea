// SPDX-License-Identifier: Apache-2.0

internal import Crypto

extension SecKey {
    func signature(_ algorithm: SecKeyAlgorithm, over data: Data) throws(NSError) -> Data {
        switch (material, try supported(algorithm, .sign)) {
        case (.privateEC(let key), .ecdsa(let form, let input)):
            return try key.signature(over: try input.hash(of: data), form)
        case (.enclave(let item, _), .ecdsa(let form, let input)):
            return try chipSignature(over: try input.hash(of: data), with: item, form)
        case (.privateRSA(let key), .rsaSignature(let padding, let input)):
            return try input.withDigest(of: data, RSASigning(key: key, padding: padding))
        default: throw .unsupported(algorithm, self)
        }
    }

    /// - Throws: `errSecVerifyFailed` for an invalid signature.
    func verify(_ signature: Data, _ algorithm: SecKeyAlgorithm, over data: Data) throws(NSError) {
        let isValid: Bool
        switch (material, try supported(algorithm, .verify)) {
        case (.publicEC(let key), .ecdsa(let form, let input)):
            isValid = key.isValid(signature, form, over: try input.hash(of: data))
        case (.publicRSA(let key), .rsaSignature(let padding, let input)):
            isValid = try input.withDigest(
                of: data,
                RSAVerifying(key: key, padding: padding, signature: signature)
            )
        default: throw .unsupported(algorithm, self)
        }
        guard isValid else { throw .status(errSecVerifyFailed, "the signature is not valid") }
    }
}

extension KeyAlgorithm.Input {
    /// Returns the hash to sign.
    fileprivate func hash(of data: Data) throws(NSError) -> Data {
        switch self {
        case .message(let hash): return hash.hash(data)
        case .digest(let size):
            guard data.count == size.byteCount else {
                throw .status(errSecParam, "the hash has \(data.count) bytes, not \(size.byteCount)")
            }
            return data
        case .anyDigest:
            guard (1...64).contains(data.count) else {
                throw .status(errSecParam, "a hash must have 1 to 64 bytes")
            }
            return data
        }
    }

    /// Passes the hash to `use` with the type of its hash function, because an RSA signature also covers the name of
    /// the hash function.
    fileprivate func withDigest<Use: DigestUse>(of data: Data, _ use: Use) throws(NSError) -> Use.Value {
        switch self {
        case .message(let hash): try hash.size.withDigest(hash.hash(data), use)
        case .digest(let size): try size.withDigest(data, use)
        case .anyDigest: throw .status(errSecParam, "RSA requires the name of the hash function")
        }
    }
}

private struct RSASigning: DigestUse {
    let key: RSAPrivateKey
    let padding: KeyAlgorithm.SignaturePadding

    func use(_ digest: some Digest) throws(NSError) -> Data { try key.signature(over: digest, padding) }
}

private struct RSAVerifying: DigestUse {
    let key: RSAPublicKey
    let padding: KeyAlgorithm.SignaturePadding
    let signature: Data

    func use(_ digest: some Digest) throws(NSError) -> Bool {
        key.isValid(signature, padding, over: digest)
    }
}

extension NSError {
    static func unsupported(_ algorithm: SecKeyAlgorithm, _ key: SecKey) -> NSError {
        .status(errSecParam, "\(algorithm.name) is not supported by \(key)")
    }
}

// MARK: - Apple's functions

/// Signs a message or a hash.
///
/// If the access control of a key in the TPM requires authentication, the call shows a prompt and blocks.
///
/// - Parameters:
///   - key: A private key.
///   - algorithm: An algorithm for which ``SecKeyIsAlgorithmSupported(_:_:_:)`` returns `true` for signing.
///   - dataToSign: The message or the hash, depending on the algorithm.
///   - error: On failure, receives an error in `NSOSStatusErrorDomain`, or in `LAErrorDomain` if the owner was not
///     recognized.
/// - Returns: The signature, or `nil` if an error occurred.
@discardableResult
public func SecKeyCreateSignature(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    let data = Data(referencing: dataToSign)
    return reporting(to: error) { () throws(NSError) in try key.signature(algorithm, over: data) }
        .map { $0 as NSData }
}

/// Verifies a signature.
///
/// - Parameters:
///   - key: A public key.
///   - algorithm: The algorithm of the signature.
///   - signedData: The message or the hash, depending on the algorithm.
///   - signature: The signature to verify.
///   - error: On failure, receives an error, such as `errSecVerifyFailed` for an invalid signature.
/// - Returns: Whether the signature is valid. If it is not, `error` is always set.
@discardableResult
public func SecKeyVerifySignature(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ signedData: CFData,
    _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let (data, signature) = (Data(referencing: signedData), Data(referencing: signature))
    return reporting(to: error) { () throws(NSError) in
        try key.verify(signature, algorithm, over: data)
    } != nil
}
