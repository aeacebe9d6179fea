// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import Testing

/// What is accepted, and each way in which something is not; Python reads the same file.
@Suite struct `The vectors of the login protocol` {
    @Test func `are there, and have each result`() throws {
        let vectors = try #require(Protocol.vectors)
        #expect(Set(vectors.map(\.result)) == Set(AssertionFault.allCases.map(\.rawValue) + ["accepted"]))
        #expect(Set(vectors.map(\.name)).count == vectors.count)
    }

    @Test(arguments: Protocol.vectors ?? [])
    func `each has the result that it says`(vector: Protocol.Vector) throws {
        #expect(try Self.result(of: vector) == vector.result)
    }

    @Test func `have the same results in Python, where PyJWT looks at the signatures`() throws {
        let count = try #require(Protocol.vectors).count
        let file = Protocol.folder.appending(path: "login.json").path
        #expect(try Protocol.python(["check", file]) == "\(count) vectors, 0 wrong")
    }

    // Docs/Security.md: L4
    /// Each byte of a good assertion, made another one, is noticed.
    @Test func `no byte of an assertion can be changed`() throws {
        let vector = try #require(Protocol.vectors?.first { $0.result == "accepted" })
        let bytes = Array(vector.assertion.utf8)
        for index in bytes.indices {
            for character in "A9.".utf8 where character != bytes[index] {
                var changed = bytes
                changed[index] = character
                var vector = vector
                vector.assertion = String(decoding: changed, as: UTF8.self)
                #expect(try Self.result(of: vector) != "accepted", "byte \(index)")
            }
        }
    }

    @Test func `no cut and no doubled assertion is one`() throws {
        let vector = try #require(Protocol.vectors?.first { $0.result == "accepted" })
        for count in 0..<vector.assertion.utf8.count {
            #expect(throws: AssertionFault.malformed) {
                try UnverifiedAssertion(String(vector.assertion.prefix(count)))
            }
        }
        #expect(throws: AssertionFault.malformed) {
            try UnverifiedAssertion(vector.assertion + vector.assertion)
        }
    }

    private static func result(of vector: Protocol.Vector) throws -> String {
        let key = try #require(Base64URL.decode(vector.publicKey).flatMap { LoginKey(der: $0) })
        let expectation = AssertionExpectation(
            origin: try #require(LoginOrigin(vector.origin)),
            user: try #require(LoginName(vector.user)),
            device: try #require(LoginName(vector.device)),
            challenge: try #require(Base64URL.decode(vector.challenge)),
            purpose: try #require(LoginClaims.Purpose(rawValue: vector.purpose))
        )
        do {
            _ = try UnverifiedAssertion(vector.assertion).verify(
                with: key,
                expecting: expectation,
                at: vector.now
            )
            return "accepted"
        } catch {
            return error.rawValue
        }
    }
}
