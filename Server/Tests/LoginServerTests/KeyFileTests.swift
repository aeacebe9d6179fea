// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import LoginServer

struct `the file that seals the signing keys` {
    @Test func `is made also where an earlier start left its draft behind`() async throws {
        let server = try await TestServer()
        let path = server.folder.appending(path: "other").path
        let draft = "\(path).\(ProcessInfo.processInfo.processIdentifier).new"
        #expect(FileManager.default.createFile(atPath: draft, contents: Data()))
        let made = try KeyFile.openOrMake(path)
        #expect(try KeyFile.open(path) == made)
    }

    @Test func `is read behind a symbolic link, and refused where others may use it`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (path, link) = (folder + "/..data", folder + "/keys")
        let key = try KeyFile.openOrMake(path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(try KeyFile.open(link) == key)
        // Root's files may be read by the server's group, as systemd and Kubernetes have it; its own by nobody else.
        let isRoot = geteuid() == 0
        for (mode, isTaken) in [
            (0o440, isRoot), (0o640, isRoot), (0o400, true), (0o660, false), (0o604, false),
        ] {
            chmod(path, mode_t(mode))
            #expect((try? KeyFile.open(link)) == (isTaken ? key : nil), "\(String(mode, radix: 8))")
        }
        #expect(throws: ServerError.self) { try KeyFile.open(folder) }
    }

    @Test func `is replaced where somebody else has it: what the old one sealed is worth nothing`()
        async throws
    {
        let server = try await TestServer()
        let laptop = try TestDevice("anna", "laptop")
        try await server.service.accounts.add(laptop.user, password: "correct horse")
        let (old, _) = try await server.service.tokens.issue(
            for: laptop.user,
            device: nil,
            credential: try #require(try await server.service.accounts.credential(of: laptop.user)),
            methods: ["pwd"],
            lifetime: 600,
            at: server.clock.seconds
        )
        let path = server.folder.appending(path: "new-keys").path
        try await KeysCommand(store: try server.store(), keyFile: path, makesKeyFile: true).rotate(
            revoke: true
        )
        // A server that runs has the stolen keys in its memory.
        try? await server.service.tokens.maintain(at: server.clock.seconds)
        await #expect(throws: (any Error).self) {
            try await server.service.tokens.verify(old, at: server.clock.seconds)
        }
        let fresh = try await TestServer(at: server.folder) { $0.keyFile = path }
        try await fresh.run { client in
            let refused = try await client.send("GET", "/v1/devices", authorization: "Bearer \(old)")
            #expect(refused.code == "unauthorized")
            let session = try await client.send(
                "POST",
                "/v1/account/sessions",
                authorization: basic("anna", "correct horse")
            )
            #expect(session.status == 201)
        }
    }
}
