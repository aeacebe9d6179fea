// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import Testing

/// The vectors of the protocol, and the verifier in another language beside them (Docs/LoginProtocol.md).
enum AttestationVectors {
    struct Attestation: Codable, Sendable, CustomTestStringConvertible {
        var name: String
        var attestation: String
        var secret: String
        var publicKey: String
        var result: String
        var opensFor: [String]

        var testDescription: String { name }
    }

    /// A credential for a key of P-256, with an ephemeral key, or of RSA, with a seed and the padding's.
    struct Credential: Codable, Sendable, CustomTestStringConvertible {
        var name: String
        var secret: String
        var endorsementPoint: String?
        var ephemeralPrivate: String?
        var endorsementModulus: String?
        var seed: String?
        var padding: String?
        var credential: String
        var encryptedSeed: String

        var testDescription: String { name }
    }

    struct File: Codable, Sendable {
        var attestations: [Attestation]
        var credentials: [Credential]
    }

    private static let folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/vectors")
    static let file = folder.appending(path: "attestation.json")
    static let all = try? JSONDecoder().decode(File.self, from: Data(contentsOf: file))

    /// Runs the verifier in Python, and gives what it prints.
    static func python(_ arguments: [String], input: Data = Data()) throws -> String {
        let process = ChildProgram()
        // Debian's, which has Debian's cryptography.
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [folder.appending(path: "attestation.py").path] + arguments
        let (feed, answer) = (try ChildPipe(), try ChildPipe())
        process.standardInput = feed.reading
        process.standardOutput = answer.writing
        try process.start()
        try feed.reading.close()
        try answer.writing.close()
        try feed.writing.write(contentsOf: input)
        try feed.writing.close()
        let output = try answer.reading.readToEnd() ?? Data()
        let status = process.waitForEnd()
        try #require(status == 0, "\(String(decoding: output, as: UTF8.self))")
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
