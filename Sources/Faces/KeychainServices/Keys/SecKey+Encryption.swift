// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import WhorlSecretMemory

// Apple's formats, so that each system can decrypt data that the other encrypted:
//
// - ECIES: an ephemeral public key (ANSI X9.63), the ciphertext, and the 16-byte tag of AES-GCM. The AES key is derived
//   from the shared secret by ANSI X9.63 with that public key as shared info: 16 bytes for P-256, 32 bytes for larger
//   curves. The IV has 16 bytes: zeros, or the bytes that the derivation produces after the key.
// - RSA envelope: an AES key encrypted with RSA (16 bytes, or 32 bytes for RSA keys of 4,096 bits and more), the
//   ciphertext, and the tag. The IV is 16 zeros, and the tag also covers the public key (PKCS#1).

extension SecKey {
    func encrypted(_ data: Data, _ algorithm: SecKeyAlgorithm) throws(NSError) -> Data {
        switch (material, try supported(algorithm, .encrypt)) {
        case (.publicEC(let key), .ecies(let hash, let isIVDerived)):
            let ephemeral = try ECPrivateKey(key.curve)
            let box = ECIESBox(hash: hash, isIVDerived: isIVDerived, ephemeral: ephemeral.publicKey)
            return try box.close(data, try ephemeral.sharedSecret(with: key))
        case (.publicRSA(let key), .rsaEncryption(let padding)): return try key.encrypted(data, padding)
        case (.publicRSA(let key), .rsaEnvelope(let padding)):
            let session = SecretBytes(randomCount: key.sessionKeySize)
            var copy = session.withUnsafeBytes { Data($0) }
            defer { copy.wipe() }
            let wrapped = try key.encrypted(copy, padding)
            let gcm = GCM(iv: Data(count: GCM.size), authenticated: key.pkcs1)
            return try wrapped
                + session.withUnsafeBytes { key throws(NSError) in
                    try gcm.close(data, key: key)
                }
        default: throw .unsupported(algorithm, self)
        }
    }

    func decrypted(_ data: Data, _ algorithm: SecKeyAlgorithm) throws(NSError) -> Data {
        switch (material, try supported(algorithm, .decrypt)) {
        case (.privateEC, .ecies(let hash, let isIVDerived)), (.enclave, .ecies(let hash, let isIVDerived)):
            let size = material.publicBytes.count
            guard data.count >= size + GCM.size, let ephemeral = ECPublicKey(x963: Data(data.prefix(size)))
            else { throw .status(errSecParam, "the data was not encrypted for this key") }
            let box = ECIESBox(hash: hash, isIVDerived: isIVDerived, ephemeral: ephemeral)
            return try box.open(Data(data.dropFirst(size)), try sharedSecret(with: ephemeral))
        case (.privateRSA(let key), .rsaEncryption(let padding)): return try key.decrypted(data, padding)
        case (.privateRSA(let key), .rsaEnvelope(let padding)):
            let size = key.publicKey.byteCount
            guard data.count >= size + GCM.size else {
                throw .status(errSecParam, "the data was not encrypted for this key")
            }
            var session = try key.decrypted(Data(data.prefix(size)), padding)
            defer { session.wipe() }
            guard session.count == key.publicKey.sessionKeySize else {
                throw .status(errSecParam, "the data was not encrypted for this key")
            }
            let gcm = GCM(iv: Data(count: GCM.size), authenticated: key.publicKey.pkcs1)
            let secret = SecretBox(copying: session)
            return try secret.bytes.withUnsafeBytes { bytes throws(NSError) in
                try gcm.open(Data(data.dropFirst(size)), key: bytes)
            }
        default: throw .unsupported(algorithm, self)
        }
    }
}

extension RSAPublicKey {
    fileprivate var sessionKeySize: Int { bitCount >= 4096 ? 32 : 16 }
}

/// The part of ECIES that follows the key exchange.
private struct ECIESBox {
    let hash: HashKind
    let isIVDerived: Bool
    let ephemeral: ECPublicKey

    private var keySize: Int { ephemeral.curve == .p256 ? 16 : 32 }

    func close(_ data: Data, _ secret: SecretBox) throws(NSError) -> Data {
        try ephemeral.x963
            + derive(secret) { key, gcm throws(NSError) in try gcm.close(data, key: key) }
    }

    func open(_ data: Data, _ secret: SecretBox) throws(NSError) -> Data {
        try derive(secret) { key, gcm throws(NSError) in try gcm.open(data, key: key) }
    }

    private func derive(
        _ secret: SecretBox,
        _ body: (UnsafeRawBufferPointer, GCM) throws(NSError) -> Data
    ) throws(NSError) -> Data {
        let derived = hash.derive(
            from: secret.bytes,
            sharedInfo: ephemeral.x963,
            count: keySize + (isIVDerived ? GCM.size : 0)
        )
        return try derived.withUnsafeBytes { bytes throws(NSError) in
            let iv = isIVDerived ? Data(bytes.dropFirst(keySize)) : Data(count: GCM.size)
            return try body(UnsafeRawBufferPointer(rebasing: bytes.prefix(keySize)), GCM(iv: iv))
        }
    }
}

/// AES-GCM with the tag after the ciphertext.
private struct GCM {
    /// The size of an IV and of a tag in bytes.
    static let size = 16

    let iv: Data
    var authenticated = Data()

    func close(_ data: Data, key: UnsafeRawBufferPointer) throws(NSError) -> Data {
        do {
            let box = try AES.GCM.seal(
                data,
                using: SymmetricKey(data: key),
                nonce: AES.GCM.Nonce(data: iv),
                authenticating: authenticated
            )
            return box.ciphertext + box.tag
        } catch {
            throw .status(errSecParam, "the data is too long")
        }
    }

    func open(_ data: Data, key: UnsafeRawBufferPointer) throws(NSError) -> Data {
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: iv),
                ciphertext: data.dropLast(GCM.size),
                tag: data.suffix(GCM.size)
            )
            return try AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: authenticated)
        } catch {
            throw .status(errSecParam, "the data was not encrypted for this key, or was changed")
        }
    }
}

// MARK: - Apple's functions

/// Encrypts data that only the private key can decrypt.
///
/// - Parameters:
///   - key: A public key.
///   - algorithm: An algorithm for which ``SecKeyIsAlgorithmSupported(_:_:_:)`` returns `true` for encryption.
///   - plaintext: The data to encrypt. For RSA without AES-GCM, it must be shorter than a block.
///   - error: On failure, receives an error in `NSOSStatusErrorDomain`.
/// - Returns: The encrypted data, in Apple's format, or `nil` if an error occurred.
@discardableResult
public func SecKeyCreateEncryptedData(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    let data = Data(referencing: plaintext)
    return reporting(to: error) { () throws(NSError) in try key.encrypted(data, algorithm) }
        .map { $0 as NSData }
}

/// Decrypts data with a private key.
///
/// If the access control of a key in the TPM requires authentication, the call shows a prompt and blocks. The TPM
/// performs the key exchange. As on Apple's systems, the plaintext is in ordinary memory.
///
/// - Parameters:
///   - key: A private key.
///   - algorithm: The algorithm that the data was encrypted with.
///   - ciphertext: The encrypted data, in Apple's format.
///   - error: On failure, receives an error in `NSOSStatusErrorDomain`, or in `LAErrorDomain` if the owner was not
///     recognized. `errSecParam` means that the data was not encrypted for this key, or has been changed.
/// - Returns: The plaintext, or `nil` if an error occurred.
@discardableResult
public func SecKeyCreateDecryptedData(
    _ key: SecKey,
    _ algorithm: SecKeyAlgorithm,
    _ ciphertext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    let data = Data(referencing: ciphertext)
    return reporting(to: error) { () throws(NSError) in try key.decrypted(data, algorithm) }
        .map { $0 as NSData }
}
