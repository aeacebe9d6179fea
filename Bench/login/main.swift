// SPDX-License-Identifier: Apache-2.0

// Measures how many login assertions one core verifies, in turns with OpenSSL's bare signatures, and prints a row of a table.
//
// usage: LoginBench ROUNDS      a round is a second of each
//
// An assertion is read, its claims are compared, and its signature is verified, by a key that is read from its DER: all that a
// server does for a login, but for the store.

import Crypto
import Foundation
import LoginAssertion

/// Why nothing could be measured.
struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// What a server has before it.
struct Login {
    let assertion: String
    let key: Data
    let expectation: AssertionExpectation

    init() throws {
        let key = P256.Signing.PrivateKey()
        let challenge = Data((0..<32).map { _ in .random(in: .min ... .max) })
        guard let publicKey = LoginKey(x963: key.publicKey.x963Representation),
            let origin = LoginOrigin("https://bank.example"),
            let user = LoginName("ada"),
            let device = LoginName(Base64URL.encode(Data(count: 16))),
            let claims = LoginClaims(
                origin: origin,
                user: user,
                device: device,
                keyID: publicKey.id,
                purpose: .login,
                challenge: challenge,
                issuedAt: 1_800_000_000,
                id: Data(count: 16),
                domainState: Data(count: 32),
                method: .finger
            )
        else { throw Failure(description: "no claims") }
        let draft = AssertionDraft(claims)
        assertion = draft.signed(try key.signature(for: draft.signingInput).rawRepresentation)
        self.key = publicKey.der
        expectation = AssertionExpectation(
            origin: origin,
            user: user,
            device: device,
            challenge: challenge,
            purpose: .login
        )
    }

    func verify() throws {
        guard let key = LoginKey(der: key) else { throw Failure(description: "no key") }
        _ = try UnverifiedAssertion(assertion).verify(with: key, expecting: expectation, at: 1_800_000_001)
    }

    /// Verifications in a second of this thread's time.
    func rate() throws -> Double {
        let start = clock()
        var count = 0
        while clock() - start < CLOCKS_PER_SEC {
            for _ in 0..<100 { try verify() }
            count += 100
        }
        return Double(count) * Double(CLOCKS_PER_SEC) / Double(clock() - start)
    }
}

/// Verifications in a second of its own time, as `openssl speed` tells.
func opensslRate() throws -> Double {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = ["speed", "-seconds", "1", "ecdsap256"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard let line = text.split(separator: "\n").first(where: { $0.contains("nistp256") }),
        let rate = line.split(separator: " ").last.flatMap({ Double($0) })
    else { throw Failure(description: "openssl speed told nothing") }
    return rate
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

do {
    guard let rounds = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }), rounds > 0 else {
        throw Failure(description: "usage: LoginBench ROUNDS")
    }
    let login = try Login()
    // The first second warms up.
    _ = try login.rate()
    var (ours, theirs, ratios): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<rounds {
        ours.append(try login.rate())
        theirs.append(try opensslRate())
        ratios.append(ours[ours.count - 1] / theirs[theirs.count - 1])
    }
    let ratio = median(ratios)
    let verdict = rounds < 5 ? "not judged" : ratio >= 0.75 ? "met" : "**missed**"
    let figures =
        "\(Int(median(ours)))/s against \(Int(median(theirs)))/s: **\(String(format: "%.2f", ratio))**"
    print(
        "| a login assertion verified, one core, against `openssl speed ecdsap256` | \(figures) | ≥ 0.75 | \(verdict) |"
    )
} catch {
    FileHandle.standardError.write(Data("LoginBench: error: \(error)\n".utf8))
    exit(1)
}
