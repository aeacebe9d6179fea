// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import LoginServer

struct `the interface for operators` {
    private static let secret = String(repeating: "s3cret", count: 6)

    /// The address of operators, asked with curl.
    private struct Operators {
        let path: String

        func send(
            _ method: String,
            _ resource: String,
            _ body: String? = nil,
            token: String? = secret
        ) async throws -> (status: Int, json: [String: Any]) {
            var arguments = [
                "-s", "--unix-socket", path, "-X", method, "-w", "\n%{http_code}", "http://x" + resource,
            ]
            if let token { arguments += ["-H", "Authorization: Bearer " + token] }
            if let body { arguments += ["-H", "Content-Type: application/json", "-d", body] }
            let lines = try await output("/usr/bin/curl", arguments).split(separator: "\n")
            let text = Data(lines.dropLast().joined(separator: "\n").utf8)
            let json = (try? JSONSerialization.jsonObject(with: text)) as? [String: Any] ?? [:]
            return (Int(lines.last ?? "") ?? 0, json)
        }
    }

    private func withServer(
        _ work: (TestServer, TestClient, Operators) async throws -> Void
    ) async throws {
        let path = "/tmp/whorl-ops-\(UInt32.random(in: 0 ... .max))"
        let file = path + ".token"
        defer { for name in [path, file] { try? FileManager.default.removeItem(atPath: name) } }
        #expect(
            FileManager.default.createFile(
                atPath: file,
                contents: Data((Self.secret + "\n").utf8),
                attributes: [.posixPermissions: 0o600]
            )
        )
        let server = try await TestServer {
            $0.operations = OperationsAddress("unix:" + path)
            $0.adminTokenFile = file
        }
        try await server.run { client in
            let operators = Operators(path: path)
            for _ in 0..<500 {
                if try await operators.send("GET", "/healthz").status == 200 { break }
                try await Task.sleep(for: .milliseconds(20))
            }
            try await work(server, client, operators)
        }
    }

    @Test func `is for those who show the token, and at no other address`() async throws {
        try await withServer { _, client, operators in
            for token in [nil, "", "x", Self.secret + "x", String(Self.secret.dropLast())] {
                for (method, path) in [("GET", "/v1/admin/users"), ("DELETE", "/v1/admin/users/anna")] {
                    let answer = try await operators.send(method, path, token: token)
                    #expect(answer.status == 401)
                }
            }
            let elsewhere = try await client.send(
                "GET",
                "/v1/admin/users",
                authorization: "Bearer " + Self.secret
            )
            #expect(elsewhere.code == "not_found")
            #expect(try await operators.send("POST", "/v1/challenges", "{}").status == 404)
        }
    }

    @Test func `sees and undoes what the commands do, and is in the audit log`() async throws {
        try await withServer { server, client, operators in
            let add = #"{"user":"anna","password":"correct horse"}"#
            #expect(try await operators.send("POST", "/v1/admin/users", add).status == 204)
            #expect(
                try await operators.send("POST", "/v1/admin/users", add).json["code"] as? String == "conflict"
            )
            let short = #"{"user":"otto","password":"short"}"#
            #expect(try await operators.send("POST", "/v1/admin/users", short).status == 400)
            #expect(try await operators.send("GET", "/v1/admin/users").json["users"] as? [String] == ["anna"])

            let laptop = try TestDevice("anna", "a laptop/2")
            let now = server.clock.seconds
            try await laptop.enable(client, at: now, authorization: basic("anna", "correct horse"))
            let device = "/v1/admin/users/anna/devices/a%20laptop%2F2"
            #expect(
                try await operators.send("PUT", device + "/approval", #"{"keyID":"other"}"#).status == 404
            )
            let approval = #"{"keyID":"\#(try laptop.keyID)"}"#
            #expect(try await operators.send("PUT", device + "/approval", approval).status == 204)
            let listed = try await operators.send("GET", "/v1/admin/users/anna/devices").json
            let devices = try #require(listed["devices"] as? [[String: Any]])
            #expect(devices.map { $0["device"] as? String } == ["a laptop/2"])
            #expect(devices.first?["approvedBy"] as? String == "operator")

            let session = try await laptop.signIn(client, at: now)
            let token = "Bearer \(try #require(session.json["token"] as? String))"
            #expect(try await operators.send("DELETE", "/v1/admin/users/anna/sessions").status == 204)
            #expect(try await client.send("GET", "/v1/devices", authorization: token).code == "unauthorized")
            #expect(try await operators.send("DELETE", device).status == 204)
            #expect(try await operators.send("DELETE", device).status == 404)
            #expect(try await laptop.signIn(client, at: now).code == "unknown_key")
            let password = #"{"password":"another horse"}"#
            #expect(try await operators.send("PUT", "/v1/admin/users/anna/password", password).status == 204)
            #expect(try await operators.send("DELETE", "/v1/admin/users/anna/devices").status == 204)

            let audit = try await operators.send("GET", "/v1/admin/audit?user=anna&count=3").json
            let entries = try #require(audit["entries"] as? [[String: Any]])
            // A sign-in by a key that is not known is no line.
            let events = entries.map { $0["event"] as? String }
            #expect(events == ["password_changed", "revoked", "sessions_ended"])
            #expect(try await operators.send("GET", "/v1/admin/audit?count=0").status == 400)
            #expect(try await operators.send("DELETE", "/v1/admin/users/anna").status == 204)
            for (method, path) in [
                ("DELETE", ""), ("GET", "/devices"), ("DELETE", "/sessions"), ("DELETE", "/devices"),
            ] {
                #expect(
                    try await operators.send(method, "/v1/admin/users/anna" + path).status == 404,
                    "\(path)"
                )
            }
            #expect(!server.log.text.contains(Self.secret))
        }
    }

    @Test func `is not begun with a token that is short, open to others or not there`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: ServerError.self) { try AdminToken(file: path) }
        for (text, mode, isTaken) in [
            (Self.secret, 0o600, true), (Self.secret + "\nmore", 0o600, true), ("short", 0o600, false),
            ("", 0o600, false), (Self.secret + " ", 0o600, false), (Self.secret, 0o644, false),
        ] {
            try Data(text.utf8).write(to: URL(filePath: path))
            chmod(path, mode_t(mode))
            #expect(((try? AdminToken(file: path)) != nil) == isTaken, "\(text) \(mode)")
        }
        await #expect(throws: ServerError.self) { _ = try await TestServer { $0.adminTokenFile = path } }
    }
}
