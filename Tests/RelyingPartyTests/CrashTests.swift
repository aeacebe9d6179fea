// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LoginAssertion
import RelyingParty
import Testing

/// A process that registers, signs in and revokes is killed at random moments, again and again on one store.
@Suite struct `A killed server` {
    private static let kills = 15

    @Test(.timeLimit(.minutes(60)))
    func `loses no registration and no revocation that it acknowledged, and lets no answer in twice`()
        async throws
    {
        let home = try StoreHome(.sqlite)
        let (path, directory) = (home.path, home.directory)
        var answers = 0
        for round in 0..<Self.kills {
            let delay = UInt32.random(in: 0...150_000)
            // Half of the kills come early, if need be before the store is open, the others when there is something to lose.
            let isLate = round % 2 == 1
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    path = path as String, directory = directory as String, delay = delay as UInt32,
                    isLate = isLate as Bool
                ] in
                try await signInForEver(
                    path,
                    log: directory + "/log",
                    killedAfter: delay,
                    ofFirstSignIn: isLate
                )
            }
            guard FileManager.default.fileExists(atPath: directory + "/log") else { continue }
            let log = try Log(directory + "/log")
            let party = RelyingParty(
                store: try SQLiteRelyingPartyStore(path: path, ifMissing: .create),
                configuration: .test,
                now: { Date(timeIntervalSince1970: 1_800_000_000) }
            )
            let user = Device().user
            let known = Set(try await party.devices(of: user).map(\.device.text))
            #expect(known == log.registered || known == log.registered.symmetricDifference(log.open))
            for answer in log.accepted {
                let device = try UnverifiedAssertion(answer).unverifiedClaims.device.text
                #expect(
                    await code { () async throws(RelyingPartyError) in
                        _ = try await party.signIn(assertion: answer, from: "")
                    } == (known.contains(device) ? .challengeUnknown : .unknownKey)
                )
            }
            answers += log.accepted.count
        }
        #expect(answers > 0)
    }

    /// What the killed processes said.
    private struct Log {
        var registered: Set<String> = []
        /// What was begun last and not acknowledged; it may have happened or not.
        var open: Set<String> = []
        var accepted: [String] = []

        init(_ path: String) throws {
            for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ").map(String.init)
                switch words[0] {
                case "found": (registered, open) = (Set(words.dropFirst()), [])
                case "enable", "revoke": open = [words[1]]
                case "enabled": (_, open) = (registered.insert(words[1]), [])
                case "revoked": (_, open) = (registered.remove(words[1]), [])
                case "in": accepted.append(words[1])
                default: Issue.record("a line of the log is \(line)")
                }
            }
        }
    }
}

extension RelyingParty.Configuration {
    fileprivate static var test: Self {
        var configuration = Self(origin: Bank.origin)
        configuration.limits.perAddress = nil
        configuration.devicesPerUser = 100_000
        return configuration
    }
}

/// Registers a device, signs in with it and revokes every other one, until the process is killed; writes down what it
/// does.
///
/// It is killed so many microseconds after the first sign-in that it wrote down where the kill is late, else after its
/// start.
private func signInForEver(
    _ path: String,
    log logPath: String,
    killedAfter delay: UInt32,
    ofFirstSignIn isLate: Bool
) async throws {
    let log = open(logPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    @Sendable func note(_ text: String) {
        // One write: a killed process has written the line or not.
        _ = Array((text + "\n").utf8).withUnsafeBytes { write(log, $0.baseAddress, $0.count) }
    }
    let start = DispatchSemaphore(value: isLate ? 0 : 1)
    Thread.detachNewThread {
        start.wait()
        usleep(delay)
        kill(getpid(), SIGKILL)
    }
    let now = 1_800_000_000
    let party = RelyingParty(
        store: try SQLiteRelyingPartyStore(path: path, ifMissing: .create),
        configuration: .test,
        now: { Date(timeIntervalSince1970: TimeInterval(now)) }
    )
    let found = try await party.devices(of: Device().user).map(\.device.text)
    note("found " + found.joined(separator: " "))
    while true {
        let device = Device("ada", UUID().uuidString)
        let enabling = try await party.challenge(
            for: device.user,
            device: device.name,
            purpose: .enable,
            from: ""
        )
        note("enable \(device.name)")
        _ = try await party.enable(
            assertion: device.assertion(answering: enabling.challenge, at: now, purpose: .enable),
            publicKey: device.key.der,
            name: "a laptop",
            as: device.user,
            from: ""
        )
        note("enabled \(device.name)")
        for _ in 0..<3 {
            let challenge = try await party.challenge(
                for: device.user,
                device: device.name,
                purpose: .login,
                from: ""
            )
            let answer = try device.assertion(answering: challenge.challenge, at: now)
            _ = try await party.signIn(assertion: answer, from: "")
            note("in \(answer)")
            start.signal()
        }
        guard Bool.random() else { continue }
        note("revoke \(device.name)")
        _ = try await party.revoke(device.name, of: device.user)
        note("revoked \(device.name)")
    }
}
