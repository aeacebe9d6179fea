// SPDX-License-Identifier: Apache-2.0

// Functions of earlier systems, which Apple has deprecated in favor of SecKeyCreateSignature and related functions.
// They use bytes in buffers that the caller provides.

/// The padding of a signature or a ciphertext.
public struct SecPadding: OptionSet, Hashable, Sendable {
    /// Apple's number for the padding.
    public let rawValue: UInt32
    /// Creates a padding from Apple's number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// PKCS #1 v1.5.
    public static let PKCS1 = SecPadding(rawValue: 1)
    /// OAEP with SHA-1.
    public static let OAEP = SecPadding(rawValue: 2)
    /// An ECDSA signature as r and s concatenated.
    public static let sigRaw = SecPadding(rawValue: 0x4000)
    /// PKCS #1 v1.5 over a hash of MD2; not supported.
    public static let PKCS1MD2 = SecPadding(rawValue: 0x8000)
    /// PKCS #1 v1.5 over a hash of MD5; not supported.
    public static let PKCS1MD5 = SecPadding(rawValue: 0x8001)
    /// PKCS #1 v1.5 over a hash of SHA-1.
    public static let PKCS1SHA1 = SecPadding(rawValue: 0x8002)
    /// PKCS #1 v1.5 over a hash of SHA-224; not supported.
    public static let PKCS1SHA224 = SecPadding(rawValue: 0x8003)
    /// PKCS #1 v1.5 over a hash of SHA-256.
    public static let PKCS1SHA256 = SecPadding(rawValue: 0x8004)
    /// PKCS #1 v1.5 over a hash of SHA-384.
    public static let PKCS1SHA384 = SecPadding(rawValue: 0x8005)
    /// PKCS #1 v1.5 over a hash of SHA-512.
    public static let PKCS1SHA512 = SecPadding(rawValue: 0x8006)

    /// Returns the algorithm for a signature over a hash.
    fileprivate func signing(isRSA: Bool) -> SecKeyAlgorithm? {
        guard isRSA else { return self == .sigRaw ? .ecdsaSignatureRFC4754 : .ecdsaSignatureDigestX962 }
        return switch self {
        case .PKCS1SHA1: .rsaSignatureDigestPKCS1v15SHA1
        case .PKCS1SHA256: .rsaSignatureDigestPKCS1v15SHA256
        case .PKCS1SHA384: .rsaSignatureDigestPKCS1v15SHA384
        case .PKCS1SHA512: .rsaSignatureDigestPKCS1v15SHA512
        default: nil
        }
    }

    /// The algorithm for a ciphertext.
    fileprivate var encrypting: SecKeyAlgorithm? {
        switch self {
        case .PKCS1: .rsaEncryptionPKCS1
        case .OAEP: .rsaEncryptionOAEPSHA1
        default: nil
        }
    }
}

/// Signs a hash; deprecated by Apple in favor of `SecKeyCreateSignature`.
///
/// - Parameters:
///   - key: A private key.
///   - padding: For RSA, one of the `PKCS1SHA…` values. For elliptic curves, ``SecPadding/sigRaw`` for r and s
///     concatenated, or any other value for DER.
///   - dataToSign: The hash.
///   - dataToSignLen: The size of the hash in bytes.
///   - sig: Receives the signature.
///   - sigLen: The size of the buffer in bytes; on return, the size of the signature.
/// - Returns: `errSecSuccess`, `errSecParam` if the buffer is too small, `errSecUnimplemented` for other paddings, or
///   another status.
@discardableResult
public func SecKeyRawSign(
    _ key: SecKey,
    _ padding: SecPadding,
    _ dataToSign: UnsafePointer<UInt8>,
    _ dataToSignLen: Int,
    _ sig: UnsafeMutablePointer<UInt8>,
    _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    filling(sig, sigLen) { () throws(NSError) in
        let algorithm = try padding.signing(isRSA: key.material.isRSA).orUnsupported()
        return try key.signature(algorithm, over: try bytes(dataToSign, dataToSignLen))
    }
}

/// Verifies a signature over a hash; deprecated by Apple in favor of `SecKeyVerifySignature`.
///
/// - Parameters:
///   - key: A public key.
///   - padding: The same values as for ``SecKeyRawSign(_:_:_:_:_:_:)``.
///   - signedData: The hash.
///   - signedDataLen: The size of the hash in bytes.
///   - sig: The signature.
///   - sigLen: The size of the signature in bytes.
/// - Returns: `errSecSuccess` only if the signature is valid; otherwise, another status.
@discardableResult
public func SecKeyRawVerify(
    _ key: SecKey,
    _ padding: SecPadding,
    _ signedData: UnsafePointer<UInt8>,
    _ signedDataLen: Int,
    _ sig: UnsafePointer<UInt8>,
    _ sigLen: Int
) -> OSStatus {
    status { () throws(NSError) in
        let algorithm = try padding.signing(isRSA: key.material.isRSA).orUnsupported()
        try key.verify(
            try bytes(sig, sigLen),
            algorithm,
            over: try bytes(signedData, signedDataLen)
        )
    }
}

/// Encrypts a block with RSA; deprecated by Apple in favor of `SecKeyCreateEncryptedData`.
///
/// - Parameters:
///   - key: A public key.
///   - padding: ``SecPadding/PKCS1`` or ``SecPadding/OAEP``.
///   - plainText: The data to encrypt, which must be shorter than a block.
///   - plainTextLen: The size of the plaintext in bytes.
///   - cipherText: Receives the ciphertext.
///   - cipherTextLen: The size of the buffer in bytes; on return, the size of the ciphertext.
/// - Returns: The same statuses as ``SecKeyRawSign(_:_:_:_:_:_:)``.
@discardableResult
public func SecKeyEncrypt(
    _ key: SecKey,
    _ padding: SecPadding,
    _ plainText: UnsafePointer<UInt8>,
    _ plainTextLen: Int,
    _ cipherText: UnsafeMutablePointer<UInt8>,
    _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    filling(cipherText, cipherTextLen) { () throws(NSError) in
        try key.encrypted(try bytes(plainText, plainTextLen), try padding.encrypting.orUnsupported())
    }
}

/// Decrypts a block with RSA; deprecated by Apple in favor of `SecKeyCreateDecryptedData`.
///
/// - Parameters:
///   - key: A private key.
///   - padding: The padding that the data was encrypted with.
///   - cipherText: The ciphertext.
///   - cipherTextLen: The size of the ciphertext in bytes.
///   - plainText: Receives the plaintext.
///   - plainTextLen: The size of the buffer in bytes; on return, the size of the plaintext.
/// - Returns: The same statuses as ``SecKeyRawSign(_:_:_:_:_:_:)``.
@discardableResult
public func SecKeyDecrypt(
    _ key: SecKey,
    _ padding: SecPadding,
    _ cipherText: UnsafePointer<UInt8>,
    _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>,
    _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    filling(plainText, plainTextLen) { () throws(NSError) in
        try key.decrypted(try bytes(cipherText, cipherTextLen), try padding.encrypting.orUnsupported())
    }
}

extension SecKeyAlgorithm? {
    fileprivate func orUnsupported() throws(NSError) -> SecKeyAlgorithm {
        guard let self else { throw .status(errSecUnimplemented, "the padding is not supported") }
        return self
    }
}

private func bytes(_ start: UnsafePointer<UInt8>, _ count: Int) throws(NSError) -> Data {
    guard count >= 0 else { throw .status(errSecParam, "a size is negative") }
    return Data(bytes: start, count: count)
}

/// Copies a result into the caller's buffer, and fails if the result does not fit.
private func filling(
    _ buffer: UnsafeMutablePointer<UInt8>,
    _ size: UnsafeMutablePointer<Int>,
    _ body: () throws(NSError) -> Data
) -> OSStatus {
    status { () throws(NSError) in
        let result = try body()
        guard result.count <= size.pointee else { throw .status(errSecParam, "the buffer is too small") }
        result.copyBytes(to: buffer, count: result.count)
        size.pointee = result.count
    }
}

private func status(_ body: () throws(NSError) -> Void) -> OSStatus {
    do throws(NSError) {
        try body()
        return errSecSuccess
    } catch {
        return error.status
    }
}
