// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginServer
import Testing

/// The process that has the network, and for a while a password and a token.
struct LoginHelperTests {
    /// Root reads every process; without its rights it is one user among others.
    private static let user =
        geteuid() == 0 ? ["/usr/bin/setpriv", "--inh-caps=-all", "--bounding-set=-all"] : ["/usr/bin/env"]

    /// A process that ends with the test.
    ///
    /// Not Foundation's: it holds one for ended that closes the files it has inherited, and waits for it then.
    private final class Running: Sendable {
        let number: pid_t

        init(_ program: String..., input: String = "/dev/null") throws {
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
            for stream in [STDOUT_FILENO, STDERR_FILENO] {
                posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
            }
            var arguments = (LoginHelperTests.user + program).map { strdup($0) } + [nil]
            defer { for argument in arguments { free(argument) } }
            var number: pid_t = 0
            let path = try #require(LoginHelperTests.user.first)
            try #require(posix_spawn(&number, path, &actions, nil, &arguments, environ) == 0)
            self.number = number
        }

        deinit {
            // It may have inherited a mask that holds SIGTERM back.
            kill(number, SIGKILL)
            waitpid(number, nil, 0)
        }
    }

    /// What another process of its user can open of a process.
    private func opened(_ process: Running, by whorl: WhorlProgram) async throws -> [String] {
        let line = "for file in environ mem; do (: </proc/\(process.number)/$file) && echo $file; done; :"
        return try await whorl.run("/usr/bin/env", Self.user + ["/bin/sh", "-c", line]).lines
    }

    /// A request as `whorl` hands it over: fields with their sizes before them.
    private func frame(_ fields: String...) -> Data {
        fields.reduce(into: Data()) { frame, field in
            withUnsafeBytes(of: UInt32(field.utf8.count).bigEndian) { frame += $0 }
            frame += field.utf8
        }
    }

    @Test func `nobody else of its user can look into it, and it leaves no core file`() async throws {
        let whorl = try WhorlProgram()
        let other = try Running("/bin/sleep", "600")
        // It is another program until it has started.
        try await eventually { try await opened(other, by: whorl).contains("environ") }

        let server = try LoginServer(.silent)
        let program = URL(filePath: WhorlProgram.path).deletingLastPathComponent()
        let request = whorl.home + "/request"
        try frame(server.origin, "POST", "/v1/sessions", "Basic cGFzc3dvcmQ=", "{}")
            .write(to: URL(filePath: request))
        let helper = try Running(program.appending(path: "whorl-login-http").path, input: request)
        // From here on it has the password, and waits for the server.
        try await eventually { try await !server.requests().isEmpty }

        #expect(try await opened(helper, by: whorl) == [])
        let limits = try String(contentsOfFile: "/proc/\(helper.number)/limits", encoding: .utf8)
        #expect(limits.firstMatch(of: #/Max core file size +0 +0 /#) != nil)
    }

    /// Waits for something that happens, 20 s at most.
    private func eventually(_ happens: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while try await !happens() {
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
