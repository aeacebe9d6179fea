// SPDX-License-Identifier: Apache-2.0

/// An algorithm that this module supports, parsed from its name.
enum KeyAlgorithm: Equatable {
    /// ECDSA over a hash, or over a message that is hashed first; if no hash function is named, the input is a hash of
    /// any size.
    case ecdsa(SignatureForm, Input)
    /// An RSA signature.
    case rsaSignature(SignaturePadding, Input)
    /// ECDH and a key derivation from its result; without a hash function, nothing is derived.
    case keyExchange(HashKind?)
    /// ECIES: ECDH with an ephemeral key, the key derivation of ANSI X9.63, and AES-GCM.
    case ecies(HashKind, isIVDerived: Bool)
    /// RSA encryption.
    case rsaEncryption(EncryptionPadding)
    /// A random AES key encrypted with RSA, and the data encrypted with that key.
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
        /// A hash of an unnamed kind.
        case anyDigest
    }

    enum SignaturePadding: String { case pkcs1 = "PKCS1v15", pss = "PSS" }

    enum EncryptionPadding: Equatable {
        case pkcs1
        case oaep(HashKind)
    }

    /// Parses an algorithm's name; `nil` for an algorithm that this module does not support.
    init?(_ algorithm: SecKeyAlgorithm) {
        let parts = algorithm.name.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, parts[0] == "algid" else { return nil }
        let rest = Array(parts.dropFirst(3))
        switch (parts[1], parts[2]) {
        case ("sign", "ECDSA"): self.init(ecdsa: rest)
        case ("sign", "RSA"): self.init(rsaSignature: rest)
        case ("encrypt", "ECIES"): self.init(ecies: rest)
        case ("encrypt", "RSA"): self.init(rsaEncryption: rest)
        // All of the curves have cofactor 1, so both algorithms are the same.
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
            // The mask uses the same hash function, and the salt has the hash's size: Apple names no other
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
