// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

@testable import LoginAssertion

extension FuzzTarget {
    static let loginTargets: [FuzzTarget] = [
        FuzzTarget(name: "login-assertion", longestInput: 4096, check: assertion),
        FuzzTarget(name: "login-claims", longestInput: 2048, check: claims),
        FuzzTarget(name: "login-signature", longestInput: 256, check: signature),
        FuzzTarget(name: "login-words", longestInput: 300, check: words),
    ]

    /// What is read as an assertion is what a device would have written, and no key that did not sign it accepts it.
    private static func assertion(_ input: [UInt8]) throws(BrokenPromise) {
        guard let text = String(validating: input, as: UTF8.self),
            let read = try? UnverifiedAssertion(text)
        else { return }
        let claims = read.unverifiedClaims
        try promise(AssertionDraft(claims).signed(read.signature) == text, "it is written in another way")
        let expectation = AssertionExpectation(
            origin: claims.origin,
            user: claims.user,
            device: claims.device,
            challenge: claims.challenge,
            purpose: claims.purpose
        )
        let verified = try? read.verify(with: Signer.key, expecting: expectation, at: claims.issuedAt)
        try promise(verified == nil, "a key accepts what it did not sign")
    }

    /// Claims have one form.
    private static func claims(_ input: [UInt8]) throws(BrokenPromise) {
        guard let claims = LoginClaims(json: Data(input)) else { return }
        try promise(claims.json == input, "claims have two forms")
        try promise((1...60).contains(claims.expiresAt - claims.issuedAt), "claims that last")
        try promise(claims.challenge.count == 32 && claims.id.count == 16, "claims of another size")
    }

    /// A signature is accepted in two forms, with s and with n - s, and in no other.
    private static func signature(_ input: [UInt8]) throws(BrokenPromise) {
        let bytes = Data(input)
        if Signer.key.isValid(der: bytes, over: Signer.message) {
            let numbers = (try? P256.Signing.ECDSASignature(derRepresentation: bytes))?.rawRepresentation
            try promise(numbers?.prefix(32) == Signer.signature.prefix(32), "a signature of nobody")
        }
        if Signer.key.isValid(raw: bytes, over: Signer.message) {
            try promise(bytes.prefix(32) == Signer.signature.prefix(32), "a signature of nobody")
        }
        if let key = LoginKey(der: bytes) {
            try promise(key.der == bytes && LoginKey(der: key.der)?.id == key.id, "a key has two forms")
        }
        if let key = LoginKey(x963: bytes) {
            try promise(LoginKey(der: key.der) == key, "a key is not read back")
        }
    }

    /// Base64url, names and origins have one text each.
    private static func words(_ input: [UInt8]) throws(BrokenPromise) {
        if let bytes = Base64URL.decode(input) {
            try promise(Base64URL.encode(bytes).utf8.elementsEqual(input), "Base64url has two texts")
        }
        try promise(Base64URL.decode(Base64URL.encode(input)) == Data(input), "bytes are lost")
        guard let text = String(validating: input, as: UTF8.self) else { return }
        if let name = LoginName(text) { try promise(name.text.utf8.elementsEqual(input), "a name changed") }
        if let origin = LoginOrigin(text) {
            let url = URL(string: origin.text)
            try promise(
                url?.host() != nil && url?.path() == "" && url?.user() == nil,
                "an origin is no address"
            )
        }
    }
}

/// A key, and one signature of it.
private enum Signer {
    static let message = Data("challenge".utf8)
    private static let privateKey = P256.Signing.PrivateKey()
    static let signature = ((try? privateKey.signature(for: message))?.rawRepresentation) ?? Data()
    static let key: LoginKey = {
        guard let key = LoginKey(x963: privateKey.publicKey.x963Representation) else {
            preconditionFailure("a point of the curve is a key")
        }
        return key
    }()
}
