// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import Testing

@Suite struct `A login assertion` {
    private let device: Device

    init() throws { device = try Device() }

    @Test func `is read as it was written, and verified by the key that signed it`() throws {
        let claims = try #require(device.claims(app: ["amount": "12 €\n\"net\""]))
        let assertion = try UnverifiedAssertion(device.assertion(claims))
        let verified = try assertion.verify(
            with: device.key,
            expecting: device.expectation,
            at: Device.now + 1
        )
        #expect(verified == claims)
        #expect(verified.app == ["amount": "12 €\n\"net\""])
    }

    @Test(arguments: [
        ["none": ""], ["quote": #"a"b\c/d"#], ["control": "\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f}\u{7f}"],
        ["script": "東京 🙂 e\u{301}"], ["a1": "1", "a10": "2", "a2": "3", "_": "4", "0": "5"],
    ])
    func `is what Python verifies too, whatever the program says in it`(app: [String: String]) throws {
        let claims = try #require(device.claims(app: app))
        let vector = Protocol.Vector(
            name: "made here",
            result: "accepted",
            assertion: try device.assertion(claims),
            publicKey: Base64URL.encode(device.key.der),
            now: Device.now,
            origin: device.origin.text,
            user: device.user.text,
            device: device.name.text,
            purpose: "login",
            challenge: Base64URL.encode(device.challenge)
        )
        #expect(try Protocol.python(["verify"], input: JSONEncoder().encode(vector)) == "accepted")
    }

    @Test func `is not made of values that the other side would refuse`() {
        #expect(device.claims(lifetime: 0) == nil)
        #expect(device.claims(lifetime: 61) == nil)
        #expect(device.claims(domainState: nil) == nil)
        #expect(device.claims(domainState: nil, method: .passcode) != nil)
        #expect(device.claims(domainState: Data(count: 31)) == nil)
        #expect(device.claims(app: ["Amount": "1"]) == nil)
        #expect(device.claims(app: ["": "1"]) == nil)
        #expect(device.claims(app: ["a": String(repeating: "b", count: 257)]) == nil)
    }

    @Test func `is never too long, whatever the program says in it`() throws {
        let plain = Dictionary(
            uniqueKeysWithValues: (0..<16).map { ("member\($0)", String(repeating: "b", count: 256)) }
        )
        let claims = try #require(device.claims(app: plain))
        let assertion = try device.assertion(claims)
        #expect(try UnverifiedAssertion(assertion).unverifiedClaims == claims)
        // Each takes two bytes when it is written.
        #expect(device.claims(app: plain.mapValues { $0.replacing("b", with: "\"") }) == nil)
        let long =
            assertion + String(repeating: "A", count: UnverifiedAssertion.longest + 1 - assertion.utf8.count)
        #expect(throws: AssertionFault.malformed) { try UnverifiedAssertion(long) }
    }

    @Test func `is compared with the whole of what is expected`() {
        let bytes = Data([1, 2, 3])
        #expect(bytes.isEqualInConstantTime(to: Data([0, 1, 2, 3]).dropFirst()))
        #expect(!bytes.isEqualInConstantTime(to: Data([1, 2])))
        #expect(!bytes.isEqualInConstantTime(to: Data([1, 2, 3, 4])))
        #expect(!bytes.isEqualInConstantTime(to: Data([1, 2, 4])))
    }

    @Test func `counts for clocks at the ends of time, without a crash`() throws {
        let assertion = try UnverifiedAssertion(device.assertion(#require(device.claims())))
        for (now, fault) in [(Int.min, AssertionFault.notYetValid), (Int.max, .expired)] {
            #expect(throws: fault) {
                try assertion.verify(with: device.key, expecting: device.expectation, at: now)
            }
        }
    }
}

@Suite struct `A device's key` {
    /// RFC 7638 has an example for RSA only; this is what another implementation gives for the same point.
    @Test func `is named by its thumbprint, which Python computes too`() throws {
        let vectors = try #require(Protocol.vectors)
        let vector = try #require(vectors.first { $0.result == "accepted" })
        let key = try #require(Base64URL.decode(vector.publicKey).flatMap { LoginKey(der: $0) })
        #expect(try UnverifiedAssertion(vector.assertion).unverifiedClaims.keyID == key.id)
    }

    @Test func `is read from the one encoding only`() throws {
        let key = P256.Signing.PrivateKey().publicKey
        #expect(LoginKey(der: key.derRepresentation)?.der == key.derRepresentation)
        #expect(LoginKey(der: key.derRepresentation + [0]) == nil)
        #expect(LoginKey(der: key.derRepresentation.dropLast()) == nil)
        #expect(LoginKey(der: P384.Signing.PrivateKey().publicKey.derRepresentation) == nil)
        #expect(LoginKey(x963: key.compressedRepresentation) == nil)
        var off = key.x963Representation
        off[64] ^= 1
        #expect(LoginKey(x963: off) == nil)
        #expect(LoginKey(x963: Data([0])) == nil)
    }

    /// What react-native-biometrics and its kin send: DER over the server's bytes.
    @Test func `takes a signature in DER, low or high, and in no other form of BER`() throws {
        let privateKey = P256.Signing.PrivateKey()
        let key = try #require(LoginKey(x963: privateKey.publicKey.x963Representation))
        let message = Data("challenge".utf8)
        let good = try privateKey.signature(for: message)
        let (r, s) = (Data(good.rawRepresentation.prefix(32)), Data(good.rawRepresentation.suffix(32)))
        #expect(key.isValid(der: good.derRepresentation, over: message))
        #expect(key.isValid(der: DER.signature(r, s), over: message))
        #expect(key.isValid(der: DER.signature(r, DER.order(minus: s)), over: message))
        #expect(!key.isValid(der: good.derRepresentation, over: Data("another".utf8)))
        #expect(!key.isValid(der: good.rawRepresentation, over: message))
        #expect(!key.isValid(raw: good.derRepresentation, over: message))
        for (name, form) in DER.otherForms(r, s) {
            #expect(!key.isValid(der: form, over: message), "\(name)")
        }
        let zero = Data(count: 32)
        for (r, s) in [(zero, s), (r, zero), (zero, zero), (DER.order, s), (r, DER.order), (s, r)] {
            #expect(!key.isValid(der: DER.signature(r, s), over: message))
            #expect(!key.isValid(raw: r + s, over: message))
        }
    }
}

@Suite struct `Base64url` {
    @Test func `has one text for each byte string`() {
        for count in 0..<70 {
            let bytes = Data((0..<count).map { _ in .random(in: .min ... .max) })
            let text = Base64URL.encode(bytes)
            #expect(Base64URL.decode(text) == bytes)
            #expect(
                text
                    == bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                    .replacing("=", with: "")
            )
        }
        for text in ["A", "AAAAA", "AB", "AA=", "AA==", "A A", "AA\n", "A+", "A/", "é", "AAB"] {
            #expect(Base64URL.decode(text) == nil, "\(text)")
        }
    }
}

@Suite struct `An origin` {
    @Test(arguments: [
        "https://bank.example", "https://bank.example:8443", "http://localhost:8080", "http://127.0.0.1",
        "http://[::1]:65535", "https://xn--bcher-kva.example", "https://10.0.0.1",
    ])
    func `is its text`(text: String) { #expect(LoginOrigin(text)?.text == text) }

    @Test(arguments: [
        "", "https://", "bank.example", "https://bank.example/", "https://bank.example:443",
        "http://localhost:80",
        "https://Bank.example", "HTTPS://bank.example", "https://bank.example:0",
        "https://bank.example:65536",
        "https://bank.example:08", "http://bank.example", "https://ada@bank.example",
        "https://bank.example?x",
        "https://bank.example#x", "https://bank.example\n", "https://bücher.example", "https://.example",
        "http://localhost.evil.example", "http://127.0.0.1.evil.example", "https://bank .example",
        "https://bank.example.", "https://bank-",
    ])
    func `is none`(text: String) { #expect(LoginOrigin(text) == nil) }

    @Test(arguments: [
        "https://bank.example", "https://bank.example:443", "https://Bank.Example", "HTTPS://bank.example",
        "https://bank.example/", "hTTps://BANK.example:443/",
    ])
    func `is the same with a default port, capitals or a slash at the end, where a person entered it`(
        text: String
    ) {
        #expect(LoginOrigin(entered: text)?.text == "https://bank.example")
    }

    @Test(arguments: [
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://BÜCHER.example:8443", "https://xn--bcher-kva.example:8443"),
        ("http://LOCALHOST:80", "http://localhost"), ("https://[::1]:443", "https://[::1]"),
    ])
    func `has the name that browsers send, where a person entered it`(text: String, origin: String) {
        #expect(LoginOrigin(entered: text)?.text == origin)
    }

    @Test(arguments: [
        "", "bank.example", "https://", "https://bank.example/path", "https://bank.example:443:443",
        "ftp://bank.example:21",
        "https://ada@bücher.example", "https://bücher.example/path", "https://bücher.example?x",
        "http://bank.example:80",
    ])
    func `is none where a person entered something else`(text: String) {
        #expect(LoginOrigin(entered: text) == nil)
    }

    @Test func `of 256 bytes is none`() {
        #expect(LoginOrigin("https://" + String(repeating: "a", count: 247)) != nil)
        #expect(LoginOrigin("https://" + String(repeating: "a", count: 248)) == nil)
    }
}

@Suite struct `A name` {
    @Test func `is compared by its bytes`() throws {
        #expect(LoginName("\u{e9}") != LoginName("e\u{329}"))
        #expect(LoginName("\u{e9}") != LoginName("\u{c9}"))
        #expect(LoginName("ada") == LoginName("ada"))
        #expect(Set([LoginName("\u{e9}"), LoginName("e")]).count == 2)
    }

    // Docs/Security.md: L29
    @Test(arguments: [("e\u{301}", "\u{e9}"), ("o\u{308}tti", "\u{f6}tti"), ("\u{1100}\u{1161}", "\u{ac00}")])
    func `is the same however a keyboard writes its accents`(decomposed: String, composed: String) throws {
        let name = try #require(LoginName(decomposed))
        #expect(name == LoginName(composed))
        #expect(Array(name.text.utf8) == Array(composed.utf8))
    }

    @Test(arguments: [
        "", " ada", "ada ", "a\nda", "a\u{200B}da", "a\u{202E}da", "\u{FEFF}ada", "a\u{7F}", "ada\u{A0}",
    ])
    func `is none`(text: String) { #expect(LoginName(text) == nil) }

    @Test func `has at most 128 bytes`() {
        #expect(LoginName(String(repeating: "é", count: 64)) != nil)
        #expect(LoginName(String(repeating: "é", count: 64) + "a") == nil)
        // This one has three bytes, and six in its composed form.
        #expect(LoginName(String(repeating: "\u{958}", count: 21)) != nil)
        #expect(LoginName(String(repeating: "\u{958}", count: 22)) == nil)
    }
}
