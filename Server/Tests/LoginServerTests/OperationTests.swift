// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import NIOSSL
import RelyingParty
import Synchronization
import Testing

@testable import LoginServer

struct `what an operator relies on` {
    @Test func `a server is ready if its database takes changes, and asks it once in a second`() async throws
    {
        let server = try await TestServer()
        let asked = Mutex(0)
        let isReadOnly = Mutex(false)
        let store = EventfulStore(
            base: try server.store(),
            before: { (call) async throws(RelyingPartyError) in
                guard call == .count("readiness") else { return }
                asked.withLock { $0 += 1 }
                if isReadOnly.withLock({ $0 }) { throw RelyingPartyError(.store, cause: "read-only") }
            }
        )
        try await server.run(over: store) { client in
            let begin = ContinuousClock.now
            for _ in 0..<20 { #expect(try await client.send("GET", "/readyz").status == 200) }
            let seconds = Int((ContinuousClock.now - begin) / .seconds(1))
            #expect(asked.withLock { $0 } <= seconds + 1)
            isReadOnly.withLock { $0 = true }
            try await Task.sleep(for: .milliseconds(1_100))
            #expect(try await client.send("GET", "/readyz").code == "unavailable")
            isReadOnly.withLock { $0 = false }
            try await Task.sleep(for: .milliseconds(1_100))
            #expect(try await client.send("GET", "/readyz").status == 200)
        }
    }

    @Test func `a verifier configures itself, and browsers stay with TLS`() async throws {
        let server = try await TestServer()
        try await server.run { client in
            let answer = try await client.send("GET", "/.well-known/oauth-authorization-server")
            #expect(answer.json["issuer"] as? String == TestServer.origin)
            // A page of any origin may verify tokens, and do nothing else.
            for path in ["/.well-known/oauth-authorization-server", "/.well-known/jwks.json"] {
                let shared = try await client.send("GET", path)
                #expect(shared.headers["access-control-allow-origin"] == "*")
            }
            let ready = try await client.send("GET", "/readyz")
            #expect(ready.headers["access-control-allow-origin"] == nil)
            #expect(answer.json["jwks_uri"] as? String == TestServer.origin + "/.well-known/jwks.json")
            #expect(answer.json["response_types_supported"] as? [String] == [])
            #expect(answer.headers["strict-transport-security"] == "max-age=31536000")
        }
        let local = try await TestServer {
            guard let origin = LoginOrigin("http://localhost:8080") else { return }
            $0.relyingParty.origin = origin
        }
        try await local.run { client in
            let answer = try await client.send("GET", "/account")
            #expect(answer.headers["strict-transport-security"] == nil)
        }
    }

    @Test func `each route has its times, and counts tell how the server does`() async throws {
        let server = try await TestServer()
        try await server.run { client in
            _ = try await client.send("GET", "/healthz")
            _ = try await client.send("GET", "/account")
            let text = try await client.send("GET", "/metrics").text
            for route in ["/healthz", "/account"] {
                #expect(text.contains(#"whorl_login_request_duration_seconds_count{route="\#(route)"} 1"#))
            }
            for name in [
                "connections ", "connections_refused_total 0", "connected_addresses 0",
                "passwords_under_way 0", "database_waiting 0", "database_wait_seconds 0.0",
                "signing_key_age_seconds",
                "upkeep_failures_total 0",
                "log_lines_dropped_total",
            ] { #expect(text.contains("\nwhorl_login_\(name)"), "\(name)") }
        }
    }

    @Test func `counts are told at an address of their own where there is one`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(
            path: "ops-\(UInt32.random(in: 0 ... .max))"
        ).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try await TestServer { $0.operations = OperationsAddress("unix:" + path) }
        try await server.run { client in
            #expect(try await client.send("GET", "/metrics").code == "not_found")
            #expect(try await client.send("GET", "/healthz").status == 200)
            var isThere = false
            for _ in 0..<500 where !isThere {
                isThere = FileManager.default.fileExists(atPath: path)
                if !isThere { try await Task.sleep(for: .milliseconds(20)) }
            }
            let curl = try await output("/usr/bin/curl", ["-s", "--unix-socket", path, "http://x/metrics"])
            #expect(curl.contains("whorl_login_requests_total"))
            let other = try await output(
                "/usr/bin/curl",
                ["-s", "--unix-socket", path, "-X", "POST", "http://x/v1/challenges"]
            )
            #expect(other.contains("not_found"))
        }
        #expect(OperationsAddress("0.0.0.0:9090")?.isOfThisMachine == false)
        for text in ["", "9090", "unix:x", "127.0.0.1:", "127.0.0.1:99999"] {
            #expect(OperationsAddress(text) == nil)
        }
        await #expect(throws: ServerError.self) {
            _ = try await TestServer { $0.operations = OperationsAddress("0.0.0.0:9090") }
        }
    }

    @Test func `a log that stands still holds up nothing, and says how much is missing`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let written = Mutex<[String]>([])
        let writer = LogWriter { line in
            gate.wait()
            written.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        }
        let begin = ContinuousClock.now
        for number in 0..<LogWriter.most * 3 { writer.append(Data("\(number)\n".utf8)) }
        #expect(ContinuousClock.now - begin < .seconds(30))
        #expect(writer.droppedLines >= LogWriter.most)
        for _ in 0..<LogWriter.most * 4 { gate.signal() }
        writer.flush(within: 30)
        let lines = written.withLock { $0 }
        #expect(lines.first == "0\n")
        #expect(lines.contains { $0.contains("lines of the log were dropped") })
        // What it wrote and what it dropped are all.
        #expect(lines.count { !$0.contains("dropped") } + writer.droppedLines == LogWriter.most * 3)
    }

    @Test func `a renewed certificate is used, and a half of one is not`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (chain, key) = (folder.appending(path: "chain.pem").path, folder.appending(path: "key.pem").path)
        func renew(_ name: String) async throws {
            _ = try await output(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                    "1",
                    "-subj", "/CN=\(name)", "-keyout", key, "-out", chain,
                ]
            )
        }
        func serial(_ files: CertificateFiles) throws -> String {
            "\(files.configuration().certificateChain)"
        }
        try await renew("one.example")
        let files = try CertificateFiles(.init(chain: chain, key: key))
        let first = try serial(files)
        #expect(try !files.reload())
        let (oldKey, oldChain) = (
            try Data(contentsOf: URL(filePath: key)), try Data(contentsOf: URL(filePath: chain))
        )
        try await renew("two.example")
        let newChain = try Data(contentsOf: URL(filePath: chain))
        for (chainNow, keyNow) in [(newChain, oldKey), (Data(), oldKey), (oldChain, Data("x".utf8))] {
            try chainNow.write(to: URL(filePath: chain))
            let whole = try Data(contentsOf: URL(filePath: key))
            try keyNow.write(to: URL(filePath: key))
            #expect(throws: ServerError.self) { try files.reload() }
            #expect(try serial(files) == first)
            try whole.write(to: URL(filePath: key))
        }
        try newChain.write(to: URL(filePath: chain))
        #expect(try files.reload())
        #expect(try serial(files) != first)
    }
}
