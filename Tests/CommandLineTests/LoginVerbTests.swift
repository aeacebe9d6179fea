// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginServer
import SoftwareTPM
import Testing

/// `whorl login` against a server on loopback, with a TPM of the test's own and a mock reader.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct LoginVerbTests {
    private let session: VaultSession
    private let server: LoginServer

    init() throws {
        session = try VaultSession()
        server = try LoginServer()
    }

    /// Runs a verb with the password in an open file.
    private func login(
        _ arguments: String,
        password: String = LoginServer.password,
        reader: String = "mock:touch right-index-finger*9",
        environment: [String: String] = [:]
    ) async throws -> WhorlProgram.Outcome {
        let file = session.whorl.home + "/password"
        try Data((password + "\n").utf8).write(to: URL(filePath: file))
        return try await session.sh(
            "\"$W\" login \(arguments) --server \(server.origin) 4<'\(file)'",
            reader: reader,
            environment: environment
        )
    }

    private func enable() async throws {
        try await session.enroll()
        let outcome = try await login("enable --user ada --device-name laptop --password-fd 4")
        guard outcome.status == 0 else { throw WhorlProgram.Failed(outcome: outcome) }
    }

    @Test func `enable, attempt, status and disable`() async throws {
        #expect(try await login("status").out == "not enabled\n")
        try await enable()
        let status = try await login("status --json")
        #expect(status.status == 0)
        let told = try #require(status.answer("result"))
        #expect(told["login"] as? String == "enabled" && told["user"] as? String == "ada")
        #expect(told["name"] as? String == "laptop" && told["fingers"] as? String == "currentSet")

        let attempt = try await login("attempt --json")
        let result = try #require(attempt.answer("result"))
        #expect(result["token"] as? String == "token-for-ada")
        #expect(result["expiresAt"] as? String == "2033-05-18T03:33:20Z")
        #expect(result["method"] as? String == "finger" && result["readerKind"] as? String == "mock")
        let plain = try await login("attempt --user ada")
        #expect(plain.status == 0 && plain.out == "token-for-ada")

        let disable = try await login("disable --json")
        #expect(disable.answer("result")?["revoked"] as? Bool == true)
        let after = try await login("attempt --json")
        #expect(after.status == 32 && after.errorCode == "notEnabled")
        #expect(try await login("disable").status == 32)
    }

    @Test func `a revoked device must be enabled again, and the status says so`() async throws {
        try await enable()
        try await server.forget()
        let outcome = try await login("attempt --json")
        #expect(outcome.status == 33 && outcome.errorCode == "mustEnableAgain")
        #expect(outcome.answer("error")?["reason"] as? String == "unknownToServer")
        #expect(try await login("status --json").answer("result")?["login"] as? String == "mustEnableAgain")
    }

    @Test func `a finger that was added ends the login without a prompt`() async throws {
        try await enable()
        try await session.enroll("left-thumb", by: .rightIndex)
        #expect(try await login("status --json").answer("result")?["login"] as? String == "mustEnableAgain")
        let outcome = try await login("attempt --json", reader: "mock:touch left-thumb*3")
        #expect(outcome.status == 33 && outcome.lines.count == 1)
    }

    @Test func `wrong passwords, wrong names and wrong servers have their statuses`() async throws {
        try await session.enroll()
        let wrong = try await login("enable --user ada --password-fd 4 --json", password: "no")
        #expect(wrong.status == 10 && wrong.errorCode == "unauthorized")
        let colon = try await login("enable --user a:b --password-fd 4 --json")
        #expect(colon.status == 64 && colon.errorCode == "userUnusable")
        let unnamed = try await login("enable --user ada --device-name '' --password-fd 4 --json")
        #expect(unnamed.status == 64 && unnamed.errorCode == "deviceNameUnusable")
        #expect(try await server.requests().filter { $0["path"] as? String == "/v1/challenges" }.count == 1)
        let nobody = try await session.run(["login", "status", "--server", "http://bank.example"])
        #expect(nobody.status == 64 && nobody.err.contains("http works for localhost only"))
    }

    @Test func `a server that nobody reaches ends with 69`() async throws {
        try await session.enroll()
        let outcome = try await session.sh(
            "echo pw | \"$W\" login enable --user ada --password-fd 0 --server http://127.0.0.1:9 --json",
            reader: "mock:then=match"
        )
        #expect(outcome.status == 69 && outcome.errorCode == "serverUnreachable")
    }

    @Test func `a proxy of the environment is not asked for what stays on this machine`() async throws {
        try await session.enroll()
        let outcome = try await login(
            "enable --user ada --password-fd 4",
            environment: ["http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"]
        )
        #expect(outcome.status == 0)
    }

    @Test func `a server whose own authority is named signs its user in`() async throws {
        let authority = session.whorl.home + "/authority.pem"
        let secure = try LoginServer(.signed, authority: authority)
        try await session.enroll()
        let password = session.whorl.home + "/password"
        try Data((LoginServer.password + "\n").utf8).write(to: URL(filePath: password))
        func login(_ arguments: String) async throws -> WhorlProgram.Outcome {
            try await session.sh(
                "\"$W\" login \(arguments) --server \(secure.origin) 4<'\(password)'",
                reader: "mock:touch right-index-finger*9"
            )
        }
        let unknown = try await login("enable --user ada --password-fd 4 --json")
        #expect(unknown.status == 69 && unknown.errorCode == "serverUnreachable")
        let enabled = try await login("enable --user ada --password-fd 4 --cacert '\(authority)'")
        #expect(enabled.status == 0)
        // An open file has no name that means it to the other program.
        let attempt = try await login("attempt --cacert /dev/fd/5 5<'\(authority)'")
        #expect(attempt.status == 0 && attempt.out == "token-for-ada")
        #expect(try await login("status --cacert '\(authority)'").status == 0)
    }

    @Test func `a file of authorities that cannot be used is named, with what to do`() async throws {
        let whorl = session.whorl
        try Data("no certificate".utf8).write(to: URL(filePath: whorl.home + "/text.pem"))
        for (name, words) in [
            ("missing.pem", "No such file or directory"), (".", "Not a regular file"),
            ("text.pem", "PEM format"),
        ] {
            for verb in ["enable --user ada", "attempt", "disable", "status"] {
                let outcome = try await session.sh(
                    "\"$W\" login \(verb) --server https://bank.example --cacert '\(whorl.home)/\(name)' --json"
                )
                #expect(outcome.status == 64 && outcome.errorCode == "usage", "\(verb)")
                let error = try #require(outcome.answer("error"))
                let told = "\(error["message"] ?? "") \(error["reason"] ?? "") \(error["recovery"] ?? "")"
                #expect(told.contains("/\(name)”") && told.contains(words), "\(told)")
                #expect(told.contains("--cacert") || told.contains("openssl x509"))
            }
        }
    }

    @Test func `nothing secret is in the log, in the errors or on the disk`() async throws {
        try await enable()
        _ = try await login("attempt")
        let log = try await session.run(["log", "--limit", "100", "--json"])
        var told = log.out + log.err
        let files = FileManager.default.enumerator(atPath: session.whorl.state)?.allObjects as? [String] ?? []
        #expect(!files.isEmpty)
        for file in files {
            told += String(
                decoding: FileManager.default.contents(atPath: session.whorl.state + "/" + file) ?? Data(),
                as: UTF8.self
            )
        }
        #expect(!told.contains("token-for-ada") && !told.contains(LoginServer.password))
    }
}
