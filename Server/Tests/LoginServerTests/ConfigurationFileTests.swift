// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginServer
import Testing

@testable import whorl_login_server

struct `a file with options` {
    private func complete(_ text: String, _ arguments: [String]) throws -> [String] {
        let path = FileManager.default.temporaryDirectory.appending(path: "conf-\(UUID())").path
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try ConfigurationFile.complete(arguments.map { $0.replacing("FILE", with: path) })
    }

    private let text = """
        # The login server.
        database = /var/lib/x = y.sqlite
        port = 8443
        trusted-proxy = 10.0.0.0/8
        trusted-proxy = ::1

        allow-changed-fingers = true
        json = false
        """

    @Test func `gives serve all of them, but for those of the command line`() throws {
        let words = try complete(text, ["--config", "FILE", "--port", "1"])
        #expect(
            words == [
                "--port", "1", "--database=/var/lib/x = y.sqlite", "--trusted-proxy=10.0.0.0/8",
                "--trusted-proxy=::1",
                "--allow-changed-fingers",
            ]
        )
        #expect(try complete(text, ["serve", "--config", "FILE", "--port=1"]).first == "serve")
        #expect(try complete(text, ["--config=FILE", "--port", "1"]) == words)
    }

    @Test func `gives the other commands those of the database`() throws {
        let words = try complete(text, ["user", "add", "anna", "--config", "FILE"])
        #expect(words == ["user", "add", "anna", "--database=/var/lib/x = y.sqlite"])
        #expect(try ConfigurationFile.complete(["user", "list"]) == ["user", "list"])
    }

    @Test(arguments: ["port", "port =", "= 1", "Port = 1", "--port = 1", "config = x", "port 1"])
    func `is refused where a line is no option`(line: String) {
        #expect(throws: ServerError.self) { try complete(line, ["--config", "FILE"]) }
    }

    @Test func `is refused where there is none`() {
        #expect(throws: ServerError.self) { try ConfigurationFile.complete(["--config", "/nonexistent"]) }
        #expect(throws: ServerError.self) { try ConfigurationFile.complete(["serve", "--config"]) }
        #expect(throws: ServerError.self) { try ConfigurationFile.complete(["serve", "--config="]) }
    }
}
