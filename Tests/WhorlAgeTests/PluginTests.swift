// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing
import WhorlSecretMemory

@testable import WhorlAge

@Suite("The protocol of age's plugins")
struct PluginTests {
    private func stanzas(_ text: String) throws -> [AgeStanza] {
        var parser = AgeStanzaParser()
        let stanzas = try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .compactMap { try parser.add($0.utf8) }
        #expect(!parser.isInStanza)
        return stanzas
    }

    @Test(arguments: [0, 1, 2, 47, 48, 49, 96, 1000]) func `keeps a body of any size`(size: Int) throws {
        let stanza = AgeStanza(["a", "b!~"], body: (0..<size).map { UInt8(truncatingIfNeeded: $0) })
        #expect(try stanzas(stanza.text) == [stanza])
        #expect(
            stanza.text.split(separator: "\n", omittingEmptySubsequences: false).allSatisfy {
                $0.utf8.count <= 64
            }
        )
    }

    @Test(arguments: [
        "->\n\n", "-> \n\n", "->  a\n\n", "-> a \n\n", "-> a  b\n\n", "-> ä\n\n", "- a\n\n", "a\n\n",
        "-> a\nAA==\n",
        "-> a\nAB\n", "-> a\nA\n", "-> a\n!!!!\n", "-> a\n\(String(repeating: "A", count: 68))\n",
    ])
    func `refuses other lines`(text: String) {
        #expect(throws: AgeStanzaParser.Fault.self) { _ = try stanzas(text) }
    }

    @Test func `limits the size of a body`() {
        let line = String(repeating: "A", count: 64) + "\n"
        #expect(throws: AgeStanzaParser.Fault.self) {
            _ = try stanzas("-> a\n" + String(repeating: line, count: 2000) + "\n")
        }
    }

    private func key() throws -> (own: P256.KeyAgreement.PrivateKey, recipient: AgeTagRecipient) {
        let own = P256.KeyAgreement.PrivateKey()
        return (own, try #require(AgeTagRecipient(x963: own.publicKey.x963Representation)))
    }

    private let fileKey = [UInt8](repeating: 7, count: 16)

    @Test func `encrypts each file to each recipient and identity`() throws {
        let (one, two) = (try key().recipient, try key().recipient)
        var wrapping = AgeWrapping()
        for command in [
            AgeStanza(["add-recipient", one.text]), AgeStanza(["wrap-file-key"], body: fileKey),
            AgeStanza(["grease", "x"]), AgeStanza(["add-identity", AgeIdentity(two, sealedKey: [1]).text]),
            AgeStanza(["extension-labels"]), AgeStanza(["wrap-file-key"], body: fileKey),
        ] { wrapping.take(command) }
        let commands = try wrapping.commands()
        #expect(
            commands.map { Array($0.arguments.prefix(3)) }
                == ["0", "0", "1", "1"].map { ["recipient-stanza", $0, "p256tag"] }
        )
        for (command, recipient) in zip(commands, [one, two, one, two]) {
            let stanza = AgeStanza(Array(command.arguments[2...]), body: command.body)
            #expect(try recipient.wrapped(in: stanza) != nil)
        }
    }

    @Test func `encrypts nothing if anything is wrong`() throws {
        let good = try key().recipient.text
        for (wrong, error) in [
            (AgeStanza(["add-recipient", "age1tag1qqqq"]), ["error", "recipient", "1"]),
            (AgeStanza(["add-identity", "AGE-PLUGIN-WHORL-1QQQQ"]), ["error", "identity", "0"]),
            (AgeStanza(["wrap-file-key"], body: [1]), ["error", "internal"]),
        ] {
            var wrapping = AgeWrapping()
            for command in [
                AgeStanza(["add-recipient", good]), AgeStanza(["wrap-file-key"], body: fileKey), wrong,
            ] {
                wrapping.take(command)
            }
            #expect(try wrapping.commands().map(\.arguments) == [error])
        }
    }

    @Test func `asks for no key agreement in a broken file`() throws {
        let (mine, other) = (try key().recipient, try key().recipient)
        let box = SecretBox(SecretBytes(copying: fileKey.span.bytes))
        func stanza(_ recipient: AgeTagRecipient, _ file: Int) throws -> AgeStanza {
            let stanza = try recipient.stanza(for: box)
            return AgeStanza(["recipient-stanza", "\(file)"] + stanza.arguments, body: stanza.body)
        }
        var unwrapping = AgeUnwrapping()
        for command in try [
            AgeStanza(["add-identity", AgeIdentity(mine, sealedKey: [1]).text]),
            stanza(other, 0), stanza(mine, 0), stanza(mine, 0), stanza(other, 1),
            AgeStanza(["recipient-stanza", "2", "p256tag", "AAAA", "x"]), stanza(mine, 2),
            AgeStanza(["recipient-stanza", "-1", "X25519"]),
            AgeStanza(["recipient-stanza", "3", "X25519", "AAAA"]),
        ] { unwrapping.take(command) }
        let (candidates, errors) = unwrapping.candidates()
        #expect(candidates.map { [$0.file, $0.stanza, $0.identity] } == [[0, 1, 0], [0, 2, 0]])
        #expect(errors.map(\.arguments) == [["error", "stanza", "2", "0"]])
    }

    @Test func `asks for nothing if an identity is wrong`() throws {
        let mine = try key().recipient
        let stanza = try mine.stanza(for: SecretBox(SecretBytes(copying: fileKey.span.bytes)))
        var unwrapping = AgeUnwrapping()
        unwrapping.take(AgeStanza(["add-identity", AgeIdentity(mine, sealedKey: [1]).text]))
        unwrapping.take(AgeStanza(["add-identity", "AGE-PLUGIN-OTHER-1QQQQ"]))
        unwrapping.take(AgeStanza(["recipient-stanza", "0"] + stanza.arguments, body: stanza.body))
        let (candidates, errors) = unwrapping.candidates()
        #expect(candidates.isEmpty && errors.map(\.arguments) == [["error", "identity", "1"]])
    }

    @Test func `uses the text encoding of BIP 173`() {
        #expect(Bech32.decode("A12UEL5L", prefix: "A") == [])
        let text = "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw"
        let bytes: [UInt8] = [
            0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf, 0x84, 0x65, 0x3a, 0x56, 0xd7, 0xc6,
            0x75, 0xbe,
            0x77, 0xdf,
        ]
        #expect(
            Bech32.decode(text, prefix: "abcdef") == bytes && Bech32.encode(bytes, prefix: "abcdef") == text
        )
        for wrong in [
            "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxx", "abcdef1Qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
            "abcdef1",
        ] {
            #expect(Bech32.decode(wrong, prefix: "abcdef") == nil)
        }
    }
}
