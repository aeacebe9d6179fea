// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// An operation on a hash of one of the library's types.
protocol DigestUse<Value> {
    associatedtype Value
    func use(_ digest: some Digest) throws(KeyFailure) -> Value
}

extension HashSize {
    /// Runs an operation on a hash that the caller computed.
    ///
    /// The library's RSA takes the hash's name from its type, and offers no way to make a value of that type from
    /// bytes. So the bytes are copied over a value of that type, which is then checked: if the library's values have
    /// another layout, the operation fails instead of using wrong bytes.
    ///
    /// - Throws: `errSecParam` for bytes of another size, and for SHA-224, which the library does not support.
    func withDigest<Use: DigestUse>(_ bytes: Data, _ use: Use) throws(KeyFailure) -> Use.Value {
        guard bytes.count == byteCount else { throw .status(errSecParam, "the hash has another size") }
        switch self {
        case .sha1: return try use.use(try Self.lay(bytes, over: Insecure.SHA1.hash(data: Data())))
        case .sha256: return try use.use(try Self.lay(bytes, over: SHA256.hash(data: Data())))
        case .sha384: return try use.use(try Self.lay(bytes, over: SHA384.hash(data: Data())))
        case .sha512: return try use.use(try Self.lay(bytes, over: SHA512.hash(data: Data())))
        case .sha224: throw .status(errSecParam, "there is no RSA signature over SHA-224")
        }
    }

    private static func lay<Value: Digest>(_ bytes: Data, over value: Value) throws(KeyFailure) -> Value {
        var value = value
        // `SHA1Digest` has 20 bytes in three words; the rest of the last one is zero.
        if _isPOD(Value.self), MemoryLayout<Value>.size >= bytes.count {
            withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
        }
        guard value.withUnsafeBytes({ Data($0) == bytes }) else {
            throw .status(errSecUnimplemented, "the library's hashes have an unknown layout")
        }
        return value
    }
}
