// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import LoginTransport
import WhorlSecretMemory

@testable import WhorlLogin

extension FuzzTarget {
    static let loginClientTargets: [FuzzTarget] = [
        FuzzTarget(name: "login-answers", longestInput: 1024, check: answers),
        FuzzTarget(name: "login-frames", longestInput: 1024, check: frames),
    ]

    /// Only an answer that is whole becomes a challenge, an enabled login or a session.
    ///
    /// The first byte chooses the status, the second the type; the rest is the body.
    private static func answers(_ input: [UInt8]) throws(BrokenPromise) {
        let statuses = [201, 201, 201, 204, 400, 401, 403, 429, 503, 307, 200, 100, 600, 0, -1]
        let types = [
            "application/json", "application/problem+json", "application/json;a=b", "text/html", nil,
        ]
        let status = statuses[Int(input.first ?? 0) % statuses.count]
        let type = types[Int(input.dropFirst().first ?? 0) % types.count]
        let response = LoginResponse(status: status, contentType: type, body: box(input.dropFirst(2)))
        let isWhole = status == 201 && type?.hasPrefix("application/json") == true

        if let challenge = try? Challenge(response, from: Names.origin) {
            try promise(isWhole && challenge.bytes.count == 32, "an answer of another kind is a challenge")
        }
        if let date = try? response.checkRegistered(Names.user, Names.user, Names.key) {
            try promise(isWhole && date.timeIntervalSince1970 >= 0, "an answer of another kind enables")
            try promise(input.dropFirst(2).contains(Names.key.id.utf8), "it is about another key")
        }
        if let session = try? response.session() {
            let token = bytes(session.token)
            let isToken = token.allSatisfy { (0x21..<0x7F).contains($0) } && !token.isEmpty
            try promise(isWhole && isToken, "an answer of another kind is a session")
            try promise(session.expiresAt.timeIntervalSince1970 >= 0, "a session before all time")
        }
        if (try? response.check(204)) != nil { try promise(status == 204, "it says what was not said") }
    }

    /// A request is read from one form, and what is read as an answer comes through as it is.
    private static func frames(_ input: [UInt8]) throws(BrokenPromise) {
        let frame = box(input[...])
        if let request = LoginFrames.request(frame) {
            try promise(bytes(LoginFrames.encode(request)) == input, "a request has two forms")
        }
        let outcome = LoginFrames.outcome(frame)
        let written = LoginFrames.encode(outcome)
        let read = LoginFrames.outcome(written)
        try promise(bytes(LoginFrames.encode(read)) == bytes(written), "an answer changes on its way")
        switch (outcome, read) {
        case (.failure(let left), .failure(let right)):
            try promise(left == right, "a failure is another one")
        case (.success(let left), .success(let right)):
            let isSame = left.status == right.status && left.retryAfter == right.retryAfter
            try promise(isSame && bytes(left.body) == bytes(right.body), "an answer is another one")
        default: throw BrokenPromise("an answer is a failure, or the other way round")
        }
    }

    private static func box(_ input: ArraySlice<UInt8>) -> SecretBox {
        SecretBox(SecretBytes(count: input.count) { $0.copyBytes(from: input) })
    }

    private static func bytes(_ box: SecretBox) -> [UInt8] { box.bytes.withUnsafeBytes { Array($0) } }
}

/// Whom the answers are for.
private enum Names {
    static let origin = made(LoginOrigin("https://bank.example"))
    static let user = made(LoginName("ada"))
    /// The curve's generator.
    static let key = made(
        LoginKey(
            x963: Data(
                [4] + bytes("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
                    + bytes("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
            )
        )
    )

    private static func bytes(_ digits: String) -> [UInt8] {
        stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(digits.dropFirst($0).prefix(2), radix: 16)
        }
    }

    private static func made<Value>(_ value: Value?) -> Value {
        guard let value else { preconditionFailure("it is one of the protocol's") }
        return value
    }
}
