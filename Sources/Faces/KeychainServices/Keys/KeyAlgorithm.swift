// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import WhorlSecretMemory
import WhorlSecretHash

/// An algorithm that this module supports, parsed from its name.
enum KeyAlgorithm: Equatable {
    /// ECDSA over a hash, or over a message that is hashed first. If there is no hash function, the input is a hash of
    /// any size.
    case ecdsa(SignatureForm, Input)
    /// An RSA signature.
    case rsaSignature(SignaturePadding, Input)
    /// ECDH, followed by a key derivation from its result. If there is no hash function, a key is not derived.
    case keyExchange(HashKind?)
    /// ECIES: ECDH with an ephemeral key, the key derivation of ANSI X9.63, and AES-GCM.
    case ecies(HashKind, isIVDerived: Bool)
    /// RSA encryption.
    case rsaEncryption(EncryptionPadding)
    /// Encryption of the data with a random AES key, which is encrypted with RSA.
    case rsaEnvelope(EncryptionPadding)

    /// The encoding of an ECDSA signature.
    enum SignatureForm: String {
        /// `SEQUENCE { r, s }` in DER.
        case der = "X962"
        /// r and s concatenated.
        case raw = "RFC4754"
    }

    /// The input of a signature algorithm.
    enum Input: Equatable {
        /// A message, which is hashed.
        case message(HashKind)
        /// A hash of this kind.
        case digest(HashSize)
        /// A hash of any kind.
        case anyDigest
    }

    enum SignaturePadding: String { case pkcs1 = "PKCS1v15", pss = "PSS" }

    enum EncryptionPadding: Equatable {
        case pkcs1
        case oaep(HashKind)
    }

    /// Parses the name of an algorithm, or returns `nil` if this module does not support the algorithm.
    init?(_ algorithm: SecKeyAlgorithm) {
        let parts = algorithm.name.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, parts[0] == "algid" else { return nil }
        let rest = Array(parts.dropFirst(3))
        switch (parts[1], parts[2]) {
        case ("sign", "ECDSA"): self.init(ecdsa: rest)
        case ("sign", "RSA"): self.init(rsaSignature: rest)
        case ("encrypt", "ECIES"): self.init(ecies: rest)
        case ("encrypt", "RSA"): self.init(rsaEncryption: rest)
        // All of the curves have cofactor 1, so the two algorithms are identical.
        case ("keyexchange", "ECDH"), ("keyexchange", "ECDHC"): self.init(keyExchange: rest)
        default: return nil
        }
    }

    private init?(ecdsa parts: [String]) {
        guard let first = parts.first, parts.count <= 2 else { return nil }
        guard first != "RFC4754" else {
            guard parts.count == 1 else { return nil }
            self = .ecdsa(.raw, .anyDigest)
            return
        }
        let words = first.split(separator: "-").map(String.init)
        guard words.count == 2, let form = SignatureForm(rawValue: words[1]),
            let input = Input(words[0], parts.dropFirst().first)
        else { return nil }
        self = .ecdsa(form, input)
    }

    private init?(rsaSignature parts: [String]) {
        guard let words = parts.first?.split(separator: "-").map(String.init), words.count == 2,
            let padding = SignaturePadding(rawValue: words[1]), parts.count == (padding == .pss ? 4 : 2),
            let input = Input(words[0], parts[1])
        else { return nil }
        if padding == .pss {
            // The mask uses the same hash function, and the salt has the size of the hash. Apple names no other
            // combinations.
            guard let hash = HashSize(rawValue: parts[1]), parts[2] == parts[1],
                parts[3] == String(hash.byteCount)
            else { return nil }
        }
        self = .rsaSignature(padding, input)
    }

    private init?(ecies parts: [String]) {
        guard parts.count == 4, ["ECDH", "ECDHC"].contains(parts[0]), parts[1] == "KDFX963",
            let hash = HashKind(rawValue: parts[2]), ["AESGCM", "AESGCM-KDFIV"].contains(parts[3])
        else { return nil }
        self = .ecies(hash, isIVDerived: parts[3] == "AESGCM-KDFIV")
    }

    private init?(rsaEncryption parts: [String]) {
        switch (parts.first, parts.count) {
        case ("PKCS1", 1): self = .rsaEncryption(.pkcs1)
        case ("OAEP", 2), ("OAEP", 3):
            guard let hash = HashKind(rawValue: parts[1]), [.sha1, .sha256].contains(hash) else { return nil }
            guard parts.count == 3 else {
                self = .rsaEncryption(.oaep(hash))
                return
            }
            guard parts[2] == "AESGCM" else { return nil }
            self = .rsaEnvelope(.oaep(hash))
        default: return nil
        }
    }

    private init?(keyExchange parts: [String]) {
        switch parts.count {
        case 0: self = .keyExchange(nil)
        case 2 where parts[0] == "KDFX963":
            guard let hash = HashKind(rawValue: parts[1]) else { return nil }
            self = .keyExchange(hash)
        default: return nil
        }
    }
}

extension KeyAlgorithm.Input {
    fileprivate init?(_ kind: String, _ hash: String?) {
        switch (kind, hash) {
        case ("message", let hash?):
            guard let hash = HashKind(rawValue: hash) else { return nil }
            self = .message(hash)
        case ("digest", let hash?):
            guard let size = HashSize(rawValue: hash) else { return nil }
            self = .digest(size)
        case ("digest", nil): self = .anyDigest
        default: return nil
        }
    }
}

/// The hash functions that the library offers for signatures and derivations.
///
/// The library does not offer SHA-224 or MD5.
enum HashKind: String, CaseIterable {
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"

    /// The size and name of the hash.
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

    /// Derives a key with this hash function, as specified in ANSI X9.63.
    func derive(from secret: borrowing SecretBytes, sharedInfo: Data, count: Int) -> SecretBytes {
        switch self {
        case .sha1: X963KDF<Insecure.SHA1>.derive(from: secret, sharedInfo: sharedInfo, count: count)
        case .sha256: X963KDF<SHA256>.derive(from: secret, sharedInfo: sharedInfo, count: count)
        case .sha384: X963KDF<SHA384>.derive(from: secret, sharedInfo: sharedInfo, count: count)
        case .sha512: X963KDF<SHA512>.derive(from: secret, sharedInfo: sharedInfo, count: count)
        }
    }
}

/// The key derivation of ANSI X9.63, which concatenates hashes of the secret, a counter and the shared info.
///
/// The library implements this derivation only for its own shared secrets, not for a shared secret that the TPM
/// computed.
package enum X963KDF<Function: HashFunction> {
    /// Derives a key.
    ///
    /// - Parameters:
    ///   - secret: The result of a key exchange.
    ///   - sharedInfo: Data that is included in each hash.
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

/// The kinds of hashes that can be signed, including hashes computed by the caller.
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

/// A hash computed by the caller, in the form that the library's ECDSA implementation accepts.
///
/// ECDSA uses only the bytes of the hash.
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
