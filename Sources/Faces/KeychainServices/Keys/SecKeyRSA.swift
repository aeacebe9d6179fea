// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import CryptoExtras
internal import WhorlSecretMemory

/// The public half of an RSA key.
struct RSAPublicKey: Sendable, Hashable {
    /// The key as a PKCS#1 `RSAPublicKey` in DER.
    let pkcs1: Data
    let bitCount: Int

    var byteCount: Int { (bitCount + 7) / 8 }

    /// Parses PKCS#1 or SubjectPublicKeyInfo of at least 1,024 bits, or returns `nil` for anything else.
    init?(der: Data) {
        guard !der.isEmpty, let key = try? _RSA.Signing.PublicKey(unsafeDERRepresentation: der) else {
            return nil
        }
        pkcs1 = key.pkcs1DERRepresentation
        bitCount = key.keySizeInBits
    }

    func isValid(
        _ signature: Data,
        _ padding: KeyAlgorithm.SignaturePadding,
        over digest: some Digest
    ) -> Bool {
        guard let key = try? _RSA.Signing.PublicKey(unsafeDERRepresentation: pkcs1) else { return false }
        return key.isValidSignature(
            .init(rawRepresentation: signature),
            for: digest,
            padding: padding.librarys
        )
    }

    func encrypted(_ data: Data, _ padding: KeyAlgorithm.EncryptionPadding) throws(NSError) -> Data {
        do {
            return try _RSA.Encryption.PublicKey(unsafeDERRepresentation: pkcs1)
                .encrypt(data, padding: padding.librarys)
        } catch {
            throw .status(errSecParam, "the data is too long for the key and the padding")
        }
    }
}

/// The private half of an RSA key in this process, protected in memory like ``ECPrivateKey``.
struct RSAPrivateKey: Sendable {
    let publicKey: RSAPublicKey
    /// The key as a PKCS#1 `RSAPrivateKey` in DER.
    let pkcs1: SecretBox

    /// Creates a new key.
    ///
    /// - Parameter bitCount: The size in bits: a multiple of 8 from 1,024 to 8,192.
    /// - Throws: `errSecParam` for any other size.
    init(bitCount: Int) throws(NSError) {
        guard (1024...8192).contains(bitCount), bitCount.isMultiple(of: 8) else {
            throw .status(errSecParam, "an RSA key must have 1,024 to 8,192 bits, in steps of 8")
        }
        guard
            let made = try? _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bitCount)),
            let key = RSAPrivateKey(made)
        else { throw .status(errSecIO, "the library could not create a key") }
        self = key
    }

    /// Parses PKCS#1 or PKCS#8, or returns `nil` for anything else.
    init?(der: SecretBox) {
        let key = der.bytes.withUnsafeBytes { bytes in
            bytes.isEmpty ? nil : try? _RSA.Signing.PrivateKey(unsafeDERRepresentation: bytes)
        }
        guard let key else { return nil }
        self.init(key)
    }

    private init?(_ key: _RSA.Signing.PrivateKey) {
        guard let publicKey = RSAPublicKey(der: key.publicKey.pkcs1DERRepresentation) else { return nil }
        // The library returns the key as ordinary bytes, which are wiped immediately after copying.
        var bytes = key.derRepresentation
        defer { bytes.wipe() }
        self.publicKey = publicKey
        pkcs1 = SecretBox(copying: bytes)
    }

    func signature(
        over digest: some Digest,
        _ padding: KeyAlgorithm.SignaturePadding
    ) throws(NSError) -> Data {
        let signature = try? pkcs1.bytes.withUnsafeBytes { bytes in
            try _RSA.Signing.PrivateKey(unsafeDERRepresentation: bytes)
                .signature(for: digest, padding: padding.librarys).rawRepresentation
        }
        guard let signature else { throw .status(errSecParam, "the key is too short for the hash") }
        return signature
    }

    func decrypted(_ data: Data, _ padding: KeyAlgorithm.EncryptionPadding) throws(NSError) -> Data {
        let plain = try? pkcs1.bytes.withUnsafeBytes { bytes in
            try _RSA.Encryption.PrivateKey(unsafeDERRepresentation: bytes)
                .decrypt(data, padding: padding.librarys)
        }
        guard let plain else { throw .status(errSecParam, "the data was not encrypted for this key") }
        return plain
    }
}

extension KeyAlgorithm.SignaturePadding {
    fileprivate var librarys: _RSA.Signing.Padding {
        switch self {
        case .pkcs1: .insecurePKCS1v1_5
        case .pss: .PSS
        }
    }
}

extension KeyAlgorithm.EncryptionPadding {
    fileprivate var librarys: _RSA.Encryption.Padding {
        switch self {
        case .pkcs1: ._WEAK_AND_INSECURE_PKCS_V1_5
        // `KeyAlgorithm` does not parse the names of algorithms with other hashes.
        case .oaep(let hash): hash == .sha256 ? .PKCS1_OAEP_SHA256 : .PKCS1_OAEP
        }
    }
}

/// An operation on a hash that has one of the library's types.
protocol DigestUse<Value> {
    associatedtype Value
    func use(_ digest: some Digest) throws(NSError) -> Value
}

extension HashSize {
    /// Performs an operation on a hash computed by the caller.
    ///
    /// The library's RSA implementation derives the hash's name from its type, and does not offer a way to create a
    /// value of that type from bytes. The bytes are therefore copied over such a value, which is then checked. If the
    /// layout of the library's values differs, the operation fails instead of using wrong bytes.
    ///
    /// - Throws: `errSecParam` for bytes of the wrong size, and for SHA-224, which the library does not support.
    func withDigest<Use: DigestUse>(_ bytes: Data, _ use: Use) throws(NSError) -> Use.Value {
        guard bytes.count == byteCount else { throw .status(errSecParam, "the hash has the wrong size") }
        switch self {
        case .sha1: return try use.use(try Self.lay(bytes, over: Insecure.SHA1.hash(data: Data())))
        case .sha256: return try use.use(try Self.lay(bytes, over: SHA256.hash(data: Data())))
        case .sha384: return try use.use(try Self.lay(bytes, over: SHA384.hash(data: Data())))
        case .sha512: return try use.use(try Self.lay(bytes, over: SHA512.hash(data: Data())))
        case .sha224: throw .status(errSecParam, "RSA signatures over SHA-224 are not supported")
        }
    }

    private static func lay<Value: Digest>(_ bytes: Data, over value: Value) throws(NSError) -> Value {
        var value = value
        // `SHA1Digest` has 20 bytes in three words; the rest of the last word is zero.
        if _isPOD(Value.self), MemoryLayout<Value>.size >= bytes.count {
            withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
        }
        guard value.withUnsafeBytes({ Data($0) == bytes }) else {
            throw .status(errSecUnimplemented, "the library's hashes have an unknown layout")
        }
        return value
    }
}
