// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
package import WhorlSecretMemory

/// A P-256 key to which files are encrypted (`age1tag1…`).
///
/// Source: C2SP age.md, "p256tag recipient stanza"; RFC 9180 (HPKE), base mode.
package struct AgeTagRecipient: Sendable, Hashable {
    /// The kind of its stanzas.
    package static let kind = "p256tag"
    private static let prefix = "age1tag"
    private static let info = Data("age-encryption.org/p256tag".utf8)

    /// The point in compressed form, 33 bytes.
    package let compressed: [UInt8]
    /// The point in ANSI X9.63 form, 65 bytes.
    private let point: Data

    private init(_ key: P256.KeyAgreement.PublicKey) {
        compressed = Array(key.compressedRepresentation)
        point = key.x963Representation
    }

    /// Creates a recipient from a point in compressed form (33 bytes); `nil` if it is not a point on the curve.
    package init?(compressed: some Sequence<UInt8>) {
        let bytes = Data(compressed)
        // Not a point, or of another length.
        guard let key = try? P256.KeyAgreement.PublicKey(compressedRepresentation: bytes) else { return nil }
        self.init(key)
    }

    /// Creates a recipient from a point in ANSI X9.63 form (65 bytes); `nil` if it is not a point on the curve.
    package init?(x963: some Sequence<UInt8>) {
        // Not a point, or of another length.
        guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: Data(x963)) else { return nil }
        self.init(key)
    }

    /// Parses a recipient; returns `nil` for anything else.
    package init?(_ text: String) {
        guard let bytes = Bech32.decode(text, prefix: Self.prefix) else { return nil }
        self.init(compressed: bytes)
    }

    /// The text, `age1tag1…`.
    package var text: String { Bech32.encode(compressed, prefix: Self.prefix) }

    /// Encrypts the key of a file.
    ///
    /// - Throws: An error of the crypto library.
    package func stanza(for fileKey: SecretBox) throws -> AgeStanza {
        let key = try P256.KeyAgreement.PublicKey(x963Representation: point)
        var sender = try HPKE.Sender(recipientKey: key, ciphersuite: Self.suite, info: Self.info)
        var plain = fileKey.bytes.withUnsafeBytes { Data($0) }
        defer { plain.resetBytes(in: 0..<plain.count) }
        let body = try sender.seal(plain)
        let encapsulated = sender.encapsulatedKey
        let arguments = [Self.kind, Base64.encode(tag(encapsulated)), Base64.encode(encapsulated)]
        return AgeStanza(arguments, body: Array(body))
    }

    private static let suite = HPKE.Ciphersuite(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .chaChaPoly)

    /// The first four bytes of an extract, by which the recipient's owner recognizes a stanza.
    private func tag(_ encapsulated: Data) -> [UInt8] {
        let material = encapsulated + SHA256.hash(data: compressed).prefix(4)
        let extract = HKDF<SHA256>.extract(
            inputKeyMaterial: SymmetricKey(data: material),
            salt: Self.info
        )
        return Array(extract.prefix(4))
    }
}

extension AgeTagRecipient {
    /// A file key that is encrypted to a recipient.
    package struct Wrapped: Sendable {
        /// The sender's point in ANSI X9.63 form, 65 bytes.
        package let sender: [UInt8]
        fileprivate let sealed: [UInt8]
    }

    /// The reason why a stanza of this kind is not valid.
    package struct Malformed: Error {}

    /// Returns the file key that a stanza has for this recipient; `nil` if the stanza is for another one or of another
    /// kind.
    ///
    /// - Throws: ``Malformed`` if no stanza of this kind looks like it.
    package func wrapped(in stanza: AgeStanza) throws(Malformed) -> Wrapped? {
        guard stanza.arguments.first == Self.kind else { return nil }
        guard stanza.arguments.count == 3, stanza.body.count == 32,
            let tag = Base64.decode(stanza.arguments[1].utf8), tag.count == 4,
            let sender = Base64.decode(stanza.arguments[2].utf8), sender.count == 65
        else { throw Malformed() }
        return tag == self.tag(Data(sender)) ? Wrapped(sender: sender, sealed: stanza.body) : nil
    }

    /// Decrypts a file key.
    ///
    /// This is the receiver of RFC 9180, whose key agreement takes place in the TPM.
    ///
    /// - Parameters:
    ///   - wrapped: The encrypted file key.
    ///   - agreed: The X coordinate of the product of this key and the sender's, 32 bytes.
    /// - Returns: The file key, 16 bytes; `nil` if it was not encrypted to this key.
    package func fileKey(_ wrapped: Wrapped, agreed: SecretBox) -> SecretBox? {
        let (key, nonce) = HPKESchedule(
            agreed: agreed.bytes.withUnsafeBytes { SymmetricKey(data: $0) },
            context: Data(wrapped.sender) + point,
            info: Self.info
        ).keyAndNonce
        // A wrong key or tag: the caller reports it.
        guard let nonce = try? ChaChaPoly.Nonce(data: nonce),
            let box = try? ChaChaPoly.SealedBox(
                nonce: nonce,
                ciphertext: wrapped.sealed.prefix(16),
                tag: wrapped.sealed.suffix(16)
            ),
            var plain = try? ChaChaPoly.open(box, using: key)
        else { return nil }
        defer { plain.resetBytes(in: 0..<plain.count) }
        return SecretBox(SecretBytes(count: plain.count) { plain.copyBytes(to: $0) })
    }
}

/// The key schedule of RFC 9180 for DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305 in base mode.
private struct HPKESchedule {
    private static let kem = Data("KEM".utf8) + [0x00, 0x10]
    private static let suite = Data("HPKE".utf8) + [0x00, 0x10, 0x00, 0x01, 0x00, 0x03]

    /// The key and the nonce of the first message.
    let keyAndNonce: (key: SymmetricKey, nonce: Data)

    /// - Parameters:
    ///   - agreed: The result of the key agreement.
    ///   - context: The sender's and the receiver's points.
    ///   - info: The use.
    init(agreed: SymmetricKey, context: Data, info: Data) {
        let mixed = Self.extract(Self.kem, "eae_prk", agreed)
        let shared = Self.expand(Self.kem, "shared_secret", mixed, context, count: 32)
        let none = SymmetricKey(data: Data())
        var schedule = Data([0])
        schedule += Self.extract(Self.suite, "psk_id_hash", none)
        schedule += Self.extract(Self.suite, "info_hash", SymmetricKey(data: info))
        let secret = Self.extract(Self.suite, "secret", none, salt: shared)
        let key = Self.expand(Self.suite, "key", secret, schedule, count: 32)
        let nonce = Self.expand(Self.suite, "base_nonce", secret, schedule, count: 12)
        keyAndNonce = (key, nonce.withUnsafeBytes { Data($0) })
    }

    private typealias Extract = HashedAuthenticationCode<SHA256>

    /// LabeledExtract.
    private static func extract(
        _ suite: Data,
        _ label: String,
        _ material: SymmetricKey,
        salt: SymmetricKey? = nil
    ) -> Extract {
        var bytes = Data("HPKE-v1".utf8) + suite + Data(label.utf8)
        material.withUnsafeBytes { bytes.append(contentsOf: $0) }
        defer { bytes.resetBytes(in: 0..<bytes.count) }
        return HKDF<SHA256>.extract(
            inputKeyMaterial: SymmetricKey(data: bytes),
            salt: salt?.withUnsafeBytes { Data($0) } ?? Data()
        )
    }

    /// LabeledExpand.
    private static func expand(
        _ suite: Data,
        _ label: String,
        _ secret: Extract,
        _ info: Data,
        count: Int
    ) -> SymmetricKey {
        let whole =
            Data([UInt8(count >> 8), UInt8(count & 255)]) + Data("HPKE-v1".utf8) + suite
            + Data(label.utf8) + info
        return HKDF<SHA256>.expand(pseudoRandomKey: secret, info: whole, outputByteCount: count)
    }
}
