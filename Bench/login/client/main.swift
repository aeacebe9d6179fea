// SPDX-License-Identifier: Apache-2.0

// Measures what a login adds to a touch and a signature, and prints a row of a table.
//
// usage: LoginClientBench ROUNDS
//
// One machine in a directory of its own: a software TPM, a scripted reader on which the finger lies at once, one enrolled finger. In
// turns, with both orders as often: one release of a signature, prompt and all; and a login, from the challenge's arrival to
// the assertion's departure. Both keys are bound to the present set of fingers.

import WhorlEngine
import WhorlContext
import BiometricLogin
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import SoftwareMachine
import SoftwareTPM
import WhorlStateStore
import Synchronization
import WhorlVault
import WhorlService
import WhorlSystem

/// Why nothing could be measured.
struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// A server that takes everything, and looks at the clock.
final class Server: LoginTransport {
    private let times = Mutex<(challenge: ContinuousClock.Instant?, assertion: ContinuousClock.Instant?)>(
        (nil, nil)
    )

    /// From the challenge to the assertion of the last login.
    var between: Duration? {
        times.withLock { times in
            guard let start = times.challenge, let end = times.assertion else { return nil }
            return end - start
        }
    }

    func send(_ request: LoginRequest) async throws -> LoginResponse {
        switch request.path {
        case "/v1/challenges":
            let challenge = Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) })
            let answer = answer([
                "challenge": challenge, "expiresAt": 4_000_000_000, "origin": request.origin.text,
            ])
            times.withLock { $0.challenge = .now }
            return answer
        case "/v1/devices":
            guard let body = request.body,
                let fields = try JSONSerialization.jsonObject(with: body.bytes.withUnsafeBytes { Data($0) })
                    as? [String: String],
                let key = fields["publicKey"].flatMap({ Base64URL.decode($0) }).flatMap({ LoginKey(der: $0) }
                ),
                let assertion = fields["assertion"]
            else { throw Failure(description: "no key was sent") }
            let claims = try UnverifiedAssertion(assertion).unverifiedClaims
            return answer([
                "user": claims.user.text, "device": claims.device.text, "keyID": key.id,
                "name": fields["name"] ?? "", "enabledAt": 1_800_000_000,
            ])
        default:
            times.withLock { $0.assertion = .now }
            return answer(["token": "token", "tokenType": "Bearer", "expiresAt": 4_000_000_000])
        }
    }

    private func answer(_ members: [String: Any]) -> LoginResponse {
        let json = (try? JSONSerialization.data(withJSONObject: members)) ?? Data()
        return LoginResponse(status: 201, contentType: "application/json", body: secret(json))
    }
}

/// Nobody sees it.
struct Unseen: PromptPresenter {
    var isInteractive: Bool { get async { true } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        for await _ in entry.updates {}
        return nil
    }
}

func secret(_ bytes: Data) -> SecretBox {
    SecretBox(SecretBytes(count: bytes.count) { _ = bytes.copyBytes(to: $0) })
}

func parts(on tpm: SoftwareTPM) async throws -> ContextParts {
    let services = InProcessRoot(on: tpm, profile: "bench", application: "org.example.bench")
    try await services.enroll(.leftIndex)
    return ContextParts(
        asker: services.services,
        presenter: Unseen(),
        application: services.application,
        keychain: services.services.keychain
    )
}

func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }
func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func measure(_ rounds: Int) async throws {
    let tpm = try SoftwareTPM()
    let parts = try await parts(on: tpm)
    guard let origin = LoginOrigin("https://bank.example"), let ada = LoginName("ada") else {
        throw Failure(description: "no names")
    }
    let server = Server()
    let client = LoginClient(server: origin, transport: server, options: LoginOptions()) { parts }
    try await client.enable(ada, with: .password(secret(Data("x".utf8))), deviceName: "bench")
    let key = try await parts.makeKey(access: .biometryCurrentSet, applicationPassword: nil)

    func release() async throws -> Double {
        let request = EvaluationRequest(
            policy: .biometrics,
            purpose: .yes,
            reason: "measure",
            application: parts.application
        )
        let start = ContinuousClock.now
        _ = try await parts.signature(
            over: Data(count: 32),
            with: .sealed(key),
            ReleaseRequest(request),
            presenter: parts.presenter
        )
        return milliseconds(ContinuousClock.now - start)
    }
    func login() async throws -> Double {
        _ = try await client.attempt()
        guard let between = server.between else { throw Failure(description: "no assertion came") }
        return milliseconds(between)
    }

    var (releases, logins, ratios): ([Double], [Double], [Double]) = ([], [], [])
    for round in -5..<rounds {
        let first = round.isMultiple(of: 2) ? try await release() : try await login()
        let second = round.isMultiple(of: 2) ? try await login() : try await release()
        // The first ones warm up.
        guard round >= 0 else { continue }
        let (released, signedIn) = round.isMultiple(of: 2) ? (first, second) : (second, first)
        releases.append(released)
        logins.append(signedIn)
        ratios.append(signedIn / released)
    }
    let ratio = median(ratios)
    let text = { (value: Double) in String(format: "%.1f", value) }
    let verdict = rounds < 100 ? "not judged" : ratio <= 1.1 ? "met" : "**missed**"
    print(
        "| from a touch to the assertion of a login, on swtpm, against the match and the TPM's signature |"
            + " \(text(median(logins))) against \(text(median(releases))) ms: **\(String(format: "%.3f", ratio))** |"
            + " ≤ 1.1 | \(verdict) |"
    )
}

do {
    // What a test tries on purpose is no message to anybody.
    setenv("TSS2_LOG", "all+none", 0)
    guard let rounds = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }), rounds > 0 else {
        throw Failure(description: "usage: LoginClientBench ROUNDS")
    }
    try await measure(rounds)
} catch {
    FileHandle.standardError.write(Data("LoginClientBench: error: \(error)\n".utf8))
    exit(1)
}
