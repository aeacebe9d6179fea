// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import Testing

@testable import LoginServer

struct `session tokens` {
    private let documents = MemoryDocuments()
    private let sealingKey = SymmetricKey(size: .bits256)
    private let now = 1_800_000_000

    private func instance(
        _ origin: String = "https://bank.example",
        sealedWith key: SymmetricKey? = nil,
        at time: Int? = nil
    ) async throws -> SessionTokens {
        let store = TokenKeyStore(documents: documents, sealingKey: key ?? sealingKey)
        if try await documents.document("token-keys") == nil {
            // Another instance of the same test may be faster; its keys are as good.
            try? await store.create(at: time ?? now)
        }
        return try await SessionTokens(
            origin: try #require(LoginOrigin(origin)),
            store: store,
            at: time ?? now
        )
    }

    private func token(_ tokens: SessionTokens, at time: Int? = nil) async throws -> String {
        try await tokens.issue(
            for: try #require(LoginName("anna")),
            device: LoginName("laptop"),
            credential: "key",
            methods: ["hwk", "fpt"],
            lifetime: 900,
            at: time ?? now
        ).token
    }

    @Test func `a token says who signed in, and is good until it is over`() async throws {
        let tokens = try await instance()
        let token = try await token(tokens)
        let claims = try #require(try await tokens.verify(token, at: now))
        #expect(claims.sub == "anna")
        #expect(claims.device == "laptop")
        #expect(claims.amr == ["hwk", "fpt"])
        #expect(claims.exp == now + 900)
        #expect(try await tokens.verify(token, at: now + 899) != nil)
        #expect(try await tokens.verify(token, at: now + 900) == nil)
    }

    @Test func `a token hands on what the app said, and nothing where it said nothing`() async throws {
        let tokens = try await instance()
        let order = ["amount": "2550", "payee": "bob"]
        let signed = try await tokens.issue(
            for: try #require(LoginName("anna")),
            device: LoginName("laptop"),
            credential: "key",
            methods: ["hwk", "fpt", "pwd", "mfa"],
            app: order,
            lifetime: 900,
            at: now
        )
        #expect(try await tokens.verify(signed.token, at: now)?.app == order)
        #expect(try await tokens.verify(token(tokens), at: now)?.app == nil)
    }

    @Test func `a token of another origin is refused, though the key is the same`() async throws {
        let token = try await token(try await instance("https://other.example"))
        #expect(try await instance().verify(token, at: now) == nil)
    }

    @Test func `a token from the future is refused`() async throws {
        let tokens = try await instance()
        let token = try await token(tokens, at: now + 31)
        #expect(try await tokens.verify(token, at: now) == nil)
        #expect(try await tokens.verify(token, at: now + 1) != nil)
    }

    @Test func `every changed character of a token makes it worthless`() async throws {
        let tokens = try await instance()
        let token = Array(try await token(tokens).utf8)
        for position in token.indices {
            var changed = token
            changed[position] = changed[position] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let text = String(decoding: changed, as: UTF8.self)
            #expect(try await tokens.verify(text, at: now) == nil, "changed at \(position)")
        }
    }

    @Test(arguments: ["none", "HS256", "ES384", "es256", ""])
    func `another algorithm in the header is refused`(algorithm: String) async throws {
        let tokens = try await instance()
        let payload = try await token(tokens).split(separator: ".")[1]
        // Signed with the server's own key: nothing but the algorithm's name is wrong.
        let keys = try await TokenKeyStore(documents: documents, sealingKey: sealingKey).maintain(at: now)
        let key = try #require(keys.keys.first)
        let signer = try P256.Signing.PrivateKey(rawRepresentation: key.scalar)
        for name in [algorithm, "ES256"] {
            let header = Base64URL.encode(Data(#"{"alg":"\#(name)","kid":"\#(key.id)","typ":"at+jwt"}"#.utf8))
            let input = "\(header).\(payload)"
            let signature = try signer.signature(for: Data(input.utf8)).rawRepresentation
            let claims = try await tokens.verify("\(input).\(Base64URL.encode(signature))", at: now)
            #expect((claims != nil) == (name == "ES256"))
            #expect(try await tokens.verify("\(input).", at: now) == nil)
        }
    }

    @Test func `a token has the type and the claims of RFC 9068, and no other type is one`() async throws {
        let tokens = try await instance()
        let token = try await token(tokens)
        let parts = token.split(separator: ".").map(String.init)
        func members(_ part: Int) throws -> [String: Any] {
            let json = try JSONSerialization.jsonObject(with: #require(Base64URL.decode(parts[part])))
            return try #require(json as? [String: Any])
        }
        #expect(try members(0)["typ"] as? String == "at+jwt")
        let claims = try members(1)
        for name in ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"] {
            #expect(claims[name] != nil, "\(name)")
        }
        #expect(claims["client_id"] as? String == "laptop")
        #expect(claims["auth_time"] as? Int == now)
        let keys = try await TokenKeyStore(documents: documents, sealingKey: sealingKey).maintain(at: now)
        let signer = try P256.Signing.PrivateKey(rawRepresentation: #require(keys.keys.first).scalar)
        for (type, isGood) in [("at+jwt", true), ("JWT", false), ("whorl-login+jwt", false)] {
            let kid = try #require(keys.keys.first).id
            let header = Base64URL.encode(Data(#"{"alg":"ES256","kid":"\#(kid)","typ":"\#(type)"}"#.utf8))
            let input = "\(header).\(parts[1])"
            let signature = try signer.signature(for: Data(input.utf8)).rawRepresentation
            let read = try await tokens.verify("\(input).\(Base64URL.encode(signature))", at: now)
            #expect((read != nil) == isGood, "\(type)")
        }
    }

    @Test func `a token that names a key of its own is refused`() async throws {
        let tokens = try await instance()
        let stranger = P256.Signing.PrivateKey()
        let payload = try await token(tokens).split(separator: ".")[1]
        for id in ["", "stranger", try #require(try tokens.published().keys.first?.kid)] {
            let header = Base64URL.encode(Data(#"{"alg":"ES256","kid":"\#(id)","typ":"at+jwt"}"#.utf8))
            let input = Data("\(header).\(payload)".utf8)
            let signature = Base64URL.encode(try stranger.signature(for: input).rawRepresentation)
            #expect(try await tokens.verify("\(header).\(payload).\(signature)", at: now) == nil)
        }
    }

    @Test(arguments: [
        "", ".", "..", "...", "a.b.c", "e30.e30.", "=.=.=", String(repeating: "A", count: 10_000),
    ])
    func `what is no token is refused`(text: String) async throws {
        #expect(try await instance().verify(text, at: now) == nil)
    }

    @Test func `an instance takes the tokens of another, also with a key that it has not seen yet`()
        async throws
    {
        let one = try await instance()
        let other = try await instance()
        #expect(try await other.verify(try await token(one), at: now) != nil)
        let store = TokenKeyStore(documents: documents, sealingKey: sealingKey)
        try await store.replaceAll(at: now + 1)
        let third = try await instance(at: now + 1)
        let fresh = try await token(third, at: now + 1)
        #expect(try await one.verify(fresh, at: now + 1) != nil)
    }

    @Test func `after all keys are replaced no earlier token is good`() async throws {
        let tokens = try await instance()
        let token = try await token(tokens)
        let store = TokenKeyStore(documents: documents, sealingKey: sealingKey)
        let old = Set(try tokens.published().keys.map(\.kid))
        try await store.replaceAll(at: now)
        try await tokens.maintain(at: now)
        #expect(try await tokens.verify(token, at: now) == nil)
        let new = try tokens.published().keys.map(\.kid)
        #expect(new.count == 1)
        #expect(old.isDisjoint(with: new))
        #expect(try await tokens.verify(try await self.token(tokens), at: now) != nil, "it signs at once")
    }

    @Test func `an empty database has no keys, and a server makes none there`() async throws {
        let store = TokenKeyStore(documents: documents, sealingKey: sealingKey)
        await #expect(throws: ServerError.self) { try await store.maintain(at: now) }
        await #expect(throws: ServerError.self) { try await store.replaceAll(at: now) }
        #expect(try await documents.document("token-keys") == nil)
    }

    @Test func `two instances that are set up at once agree on one key`() async throws {
        let ids = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 { group.addTask { try await instance().published().keys.map(\.kid) } }
            return try await group.reduce(into: Set<[String]>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }

    @Test func `the database holds no key in plain text, and opens with no other key file`() async throws {
        let tokens = try await instance()
        let sealed = try #require(try await documents.document("token-keys"))
        let id = try #require(try tokens.published().keys.first?.kid)
        #expect(sealed.range(of: Data(id.utf8)) == nil)
        await #expect(throws: ServerError.self) {
            try await instance(sealedWith: SymmetricKey(size: .bits256))
        }
    }
}
