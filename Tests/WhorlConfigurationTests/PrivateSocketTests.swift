// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlSupport

/// The socket that `whorld --private` is started with.
@Suite("The socket of a private child", .timeLimit(.minutes(2)))
struct PrivateSocketTests {
    /// Makes a socket, starts `whorld --private` with it, and prints its status and what it said; it is killed after 20 seconds.
    private static let program = """
        import os, socket, subprocess, sys
        kind, whorld, folder = sys.argv[1:]
        if kind == "datagram":
            ends = socket.socketpair(type=socket.SOCK_DGRAM)
        elif kind == "listening":
            ends = [socket.socket(socket.AF_UNIX)]
            ends[0].bind(folder + "/s")
            ends[0].listen()
        elif kind == "unconnected":
            ends = [socket.socket(socket.AF_UNIX)]
        elif kind == "file":
            ends = [open("/dev/null")]
        elif kind == "network":
            server = socket.create_server(("127.0.0.1", 0))
            ends = [socket.create_connection(server.getsockname())]
        else:
            if kind == "other": os.setresuid(-1, 65534, -1)
            ends = socket.socketpair()
            if kind == "other": os.setresuid(-1, 0, -1)
        number = ends[0].fileno()
        child = subprocess.Popen([whorld, "--private", str(number), "--state-dir", folder + "/state", "--tcti", "none"],
            pass_fds=[number], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if kind == "own":
            for end in ends: end.close()
        try:
            said = child.communicate(timeout=20)[1]
            print(child.returncode, said.strip())
        except subprocess.TimeoutExpired:
            child.kill()
            print("serves")
        """

    /// Returns what became of `whorld --private` with a socket of a kind.
    private func outcome(_ kind: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "whorl-\(UUID().uuidString.prefix(8))"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        let whorld = try #require(ThisProcess.folder) + "/whorld"
        process.arguments = ["-c", Self.program, kind, whorld, folder.path]
        let words = Pipe()
        process.standardOutput = words
        try process.run()
        let said = words.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(arguments: ["datagram", "listening", "unconnected", "network", "file"])
    func `has to be a connected Unix stream socket`(kind: String) throws {
        #expect(
            try outcome(kind)
                == "64 whorld: --private requires a connected Unix stream socket. whorl starts this program by itself."
        )
    }

    @Test(.enabled(if: geteuid() == 0, "needs root, to make a socket as another user"))
    func `has to be of the user who runs it`() throws {
        #expect(
            try outcome("other") == "77 whorld: The socket of --private belongs to another user (65534)."
        )
    }

    @Test func `is served until it is closed if it is the user's own`() throws {
        #expect(try outcome("own") == "0")
    }
}
