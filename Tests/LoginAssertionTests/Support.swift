// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import Testing

/// A device with a key of software, and the server that knows it.
struct Device {
    static let now = 1_800_000_000

    let privateKey = P256.Signing.PrivateKey()
    let key: LoginKey
    let challenge = Data((0..<32).map { UInt8($0) })
    let origin: LoginOrigin
    let user: LoginName
    let name: LoginName

    init() throws {
        key = try #require(LoginKey(x963: privateKey.publicKey.x963Representation))
        origin = try #require(LoginOrigin("https://bank.example"))
        user = try #require(LoginName("ada"))
        name = try #require(LoginName("laptop"))
    }

    var expectation: AssertionExpectation {
        AssertionExpectation(
            origin: origin,
            user: user,
            device: name,
            challenge: challenge,
            purpose: .login
        )
    }

    func claims(
        lifetime: Int = 60,
        domainState: Data? = Data(repeating: 9, count: 32),
        method: LoginClaims.Method = .finger,
        app: [String: String] = [:]
    ) -> LoginClaims? {
        LoginClaims(
            origin: origin,
            user: user,
            device: name,
            keyID: key.id,
            purpose: .login,
            challenge: challenge,
            issuedAt: Self.now,
            lifetime: lifetime,
            id: Data(repeating: 7, count: 16),
            domainState: domainState,
            method: method,
            app: app
        )
    }

    func assertion(_ claims: LoginClaims) throws -> String {
        let draft = AssertionDraft(claims)
        return draft.signed(try privateKey.signature(for: draft.signingInput).rawRepresentation)
    }
}

/// The vectors of the protocol, and the verifier in another language beside them (Docs/LoginProtocol.md).
enum Protocol {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/vectors")

    struct Vector: Codable, Sendable, CustomTestStringConvertible {
        var name: String
        var result: String
        var assertion: String
        var publicKey: String
        var now: Int
        var origin: String
        var user: String
        var device: String
        var purpose: String
        var challenge: String

        var testDescription: String { name }
    }

    static let vectors = try? JSONDecoder().decode(
        [Vector].self,
        from: Data(contentsOf: folder.appending(path: "login.json"))
    )

    /// Runs the verifier in Python, and gives what it prints.
    static func python(_ arguments: [String], input: Data = Data()) throws -> String {
        let process = Process()
        // Debian's, which has Debian's PyJWT.
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [folder.appending(path: "login.py").path] + arguments
        let (feed, answer) = (Pipe(), Pipe())
        process.standardInput = feed
        process.standardOutput = answer
        try process.run()
        try feed.fileHandleForWriting.write(contentsOf: input)
        try feed.fileHandleForWriting.close()
        let output = try answer.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(String(decoding: output, as: UTF8.self))")
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
