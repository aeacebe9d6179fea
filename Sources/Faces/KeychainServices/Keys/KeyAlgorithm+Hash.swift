// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import SecretMemory

/// The hash functions that the library offers for signatures and derivations, which exclude SHA-224 and MD5.
enum HashKind: String, CaseIterable {
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    /// The size and name of the function's hashes.
    var size: HashSize {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }

    /// Returns the hash of a message.
    func hash(_ message: Data) -> Data {
        switch self {
        case .sha1: Data(Insecure.SHA1.hash(data: message))
        case .sha256: Data(SHA256.hash(data: message))
        case .sha384: Data(SHA384.hash(data: message))
        case .sha512: Data(SHA512.hash(data: message))
        }
    }

    /// Derives a key as in ANSI X9.63 with this function.
    func derive(from secret: borrowing SecretBytes, sharedInfo: Data, count: Int) -> SecretBytes {
        switch self {
        case .sha1: X963KDF<Insecure.SHA1>.derive(from: secret, sharedInfo: sharedInfo, count: count)
        case .sha256: X963KDF<SHA256>.derive(from: secret, sharedInfo: sharedInfo, count: count)
        case .sha384: X963KDF<SHA384>.derive(from: secret, sharedInfo: sharedInfo, count: count)
        case .sha512: X963KDF<SHA512>.derive(from: secret, sharedInfo: sharedInfo, count: count)
        }
    }
}

/// The key derivation of ANSI X9.63: the concatenated hashes of secret, counter and shared info.
///
/// The library implements it only for its own shared secrets, not for a shared secret of the chip.
package enum X963KDF<Function: HashFunction> {
    /// Derives a key.
    ///
    /// - Parameters:
    ///   - secret: The result of a key exchange.
    ///   - sharedInfo: The data that is added to each hash.
    ///   - count: The number of bytes to derive, 0 or more.
    /// - Returns: A key of `count` bytes.
    package static func derive(
        from secret: borrowing SecretBytes,
        sharedInfo: Data,
        count: Int
    ) -> SecretBytes {
        secret.withUnsafeBytes { secret in
            SecretBytes(count: count) { room in
                var counter: UInt32 = 1
                var written = 0
                while written < count {
                    var function = SecretHash<Function>()
                    function.update(secret)
                    withUnsafeBytes(of: counter.bigEndian) { function.update($0) }
                    sharedInfo.withUnsafeBytes { function.update($0) }
                    function.finalize().withUnsafeBytes { hash in
                        let part = hash.prefix(count - written)
                        UnsafeMutableRawBufferPointer(rebasing: room[written...]).copyBytes(from: part)
                        written += part.count
                    }
                    counter += 1
                }
            }
        }
    }
}

/// The kinds of hashes that can be signed, including hashes that the caller computes.
enum HashSize: String {
    case sha1 = "SHA1"
    case sha224 = "SHA224"
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    var byteCount: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}

/// A hash that the caller computed, in the form that the library's ECDSA takes, which uses only the bytes.
struct GivenDigest: Digest {
    static let byteCount = 32
    private let bytes: [UInt8]

    init(_ bytes: Data) { self.bytes = [UInt8](bytes) }

    func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try bytes.withUnsafeBytes(body)
    }

    func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }

    var description: String { "\(bytes.count) bytes" }

    static func == (left: GivenDigest, right: GivenDigest) -> Bool { left.bytes == right.bytes }

    func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
