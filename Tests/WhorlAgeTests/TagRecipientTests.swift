// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing
import WhorlSecretMemory

@testable import WhorlAge

/// The library's HPKE is the sender here, and its own receiver the second opinion.
@Suite("A recipient of age")
struct TagRecipientTests {
    private let own = P256.KeyAgreement.PrivateKey()

    private var recipient: AgeTagRecipient {
        get throws { try #require(AgeTagRecipient(x963: own.publicKey.x963Representation)) }
    }

    /// Returns the result of the key agreement, which the TPM computes for real keys.
    private func agreed(_ sender: [UInt8], _ key: P256.KeyAgreement.PrivateKey? = nil) throws -> SecretBox {
        let other = try P256.KeyAgreement.PublicKey(x963Representation: sender)
        return try (key ?? own).sharedSecretFromKeyAgreement(with: other).withUnsafeBytes { bytes in
            SecretBox(SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) })
        }
    }

    private let fileKey = SecretBox(SecretBytes(copying: Array(UInt8(1)...16).span.bytes))

    @Test func `decrypts the key of a file that was encrypted to it, and no other`() throws {
        let recipient = try recipient
        let stanza = try recipient.stanza(for: fileKey)
        let wrapped = try #require(try recipient.wrapped(in: stanza))
        let opened = try #require(recipient.fileKey(wrapped, agreed: try agreed(wrapped.sender)))
        #expect(opened.bytes.withUnsafeBytes { Array($0) } == Array(1...16))
        #expect(recipient.fileKey(wrapped, agreed: SecretBox(SecretBytes(randomCount: 32))) == nil)
        let other = try #require(
            AgeTagRecipient(x963: P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        )
        #expect(try other.wrapped(in: stanza) == nil)
        var body = stanza.body
        body[31] ^= 1
        let changed = try #require(try recipient.wrapped(in: AgeStanza(stanza.arguments, body: body)))
        #expect(recipient.fileKey(changed, agreed: try agreed(changed.sender)) == nil)
    }

    @Test func `writes what the library's receiver decrypts`() throws {
        let stanza = try recipient.stanza(for: fileKey)
        let encapsulated = try #require(Base64.decode(stanza.arguments[2].utf8))
        var receiver = try HPKE.Recipient(
            privateKey: own,
            ciphersuite: .init(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .chaChaPoly),
            info: Data("age-encryption.org/p256tag".utf8),
            encapsulatedKey: Data(encapsulated)
        )
        #expect(Array(try receiver.open(Data(stanza.body))) == Array(1...16))
    }

    @Test func `decrypts what another program has encrypted`() throws {
        // By age 0.12.1 for Rust; the header's MAC confirms the file key.
        let own = try P256.KeyAgreement.PrivateKey(
            rawRepresentation: bytes("295846cd00328123cab9cbfd0d02a9f07796498bfa4247b19439c7315f3a2a3e")
        )
        let text = "age1tag1qtctvpf46y3haycfe22x53cj89khg7xqg7zxumx24rfmys90nkseuwcwzhj"
        let recipient = try #require(AgeTagRecipient(text))
        #expect(recipient.text == text)
        let sender = "BLjUDMMz67fZ+sSM/gLbEjXo7YfDmC871V1fDD0lWL7qYRnu3j887cbfUBLs1/C4jsm6cDkik+qnB865aeMGpik"
        let body = try #require(Base64.decode("wnJ7p3q455XyXk+p/BE12sHAmvK2piLnbqCtUt6vhJs".utf8))
        let stanza = AgeStanza(["p256tag", "xzpymw", sender], body: body)
        let wrapped = try #require(try recipient.wrapped(in: stanza))
        let fileKey = recipient.fileKey(wrapped, agreed: try agreed(wrapped.sender, own))
        #expect(fileKey?.bytes.withUnsafeBytes { Data($0) } == bytes("58b8ef19cb7ad6c48a30e008e7e49423"))
    }

    private func bytes(_ digits: String) -> Data {
        let digits = Array(digits)
        return Data(
            stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)
            }
        )
    }

    @Test func `is not read from another text`() throws {
        let text = try recipient.text
        #expect(AgeTagRecipient(text) == (try recipient))
        for wrong in [
            "", "age1tag1", text.uppercased(), text + "q", String(text.dropLast()),
            text.replacing("age1tag1", with: "age1"),
            text.replacingCharacters(in: text.startIndex..<text.index(after: text.startIndex), with: "b"),
            text.prefix(20) + (text.dropFirst(20).first == "q" ? "p" : "q") + text.dropFirst(21),
            Bech32.encode([UInt8](repeating: 5, count: 33), prefix: "age1tag"),
            Bech32.encode(Array(own.publicKey.x963Representation), prefix: "age1tag"),
        ] { #expect(AgeTagRecipient(String(wrong)) == nil, "\(wrong)") }
    }

    @Test func `refuses a stanza of its kind that none can be`() throws {
        let recipient = try recipient
        let good = try recipient.stanza(for: fileKey)
        let (tag, sender) = (good.arguments[1], good.arguments[2])
        for wrong in [
            AgeStanza(["p256tag"], body: good.body), AgeStanza(["p256tag", tag], body: good.body),
            AgeStanza(["p256tag", tag, sender, "x"], body: good.body),
            AgeStanza(["p256tag", tag + "=", sender], body: good.body),
            AgeStanza(["p256tag", "AAAA", sender], body: good.body),
            AgeStanza(["p256tag", tag, tag], body: good.body),
            AgeStanza(good.arguments, body: good.body + [0]), AgeStanza(good.arguments, body: []),
        ] {
            #expect(throws: AgeTagRecipient.Malformed.self) { _ = try recipient.wrapped(in: wrong) }
        }
        #expect(try recipient.wrapped(in: AgeStanza(["X25519", tag], body: good.body)) == nil)
    }

    @Test func `is in its identity, which no changed text gives`() throws {
        let identity = AgeIdentity(try recipient, sealedKey: Array(0..<200))
        let text = identity.text
        #expect(text.hasPrefix("AGE-PLUGIN-WHORL-1") && AgeIdentity(text) == identity)
        #expect(AgeIdentity(text.lowercased()) == nil)
        #expect(AgeIdentity(text.replacing("WHORL", with: "OTHER")) == nil)
        #expect(AgeIdentity(try recipient.text) == nil)
    }
}
