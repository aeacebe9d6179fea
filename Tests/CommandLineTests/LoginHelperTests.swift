// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginServer
import LoginTransport
import Testing
import WhorlSecretMemory

/// The process that has the network, and for a while a password and a token.
struct LoginHelperTests {
    /// Root reads every process; without its rights it is one user among others.
    private static let user =
        geteuid() == 0 ? ["/usr/bin/setpriv", "--inh-caps=-all", "--bounding-set=-all"] : ["/usr/bin/env"]

    private static let program = URL(filePath: WhorlProgram.path).deletingLastPathComponent()
        .appending(path: "whorl-login-http").path

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
        let request = whorl.home + "/request"
        try frame(server.origin, "POST", "/v1/sessions", "Basic cGFzc3dvcmQ=", "{}")
            .write(to: URL(filePath: request))
        let helper = try Running(Self.program, input: request)
        // From here on it has the password, and waits for the server.
        try await eventually { try await !server.requests().isEmpty }

        #expect(try await opened(helper, by: whorl) == [])
        let limits = try String(contentsOfFile: "/proc/\(helper.number)/limits", encoding: .utf8)
        #expect(limits.firstMatch(of: #/Max core file size +0 +0 /#) != nil)
    }

    /// Waits for something that happens, 90 s at most: a busy machine may take 20 s for one look.
    private func eventually(_ happens: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(90)
        while try await !happens() {
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    // --- one request ---------------------------------------------------------------------------------------------------

    private static let signIn = ["POST", "/v1/sessions", "Basic cGFzc3dvcmQ=", "{}"]

    /// Hands the program a request to a server, and returns what it writes.
    ///
    /// A shell starts it: for Foundation a process has ended that closes the files it has inherited.
    private func outcome(
        of origin: String,
        _ fields: [String] = signIn,
        _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> Result<LoginResponse, LoginTransportError> {
        let whorl = try WhorlProgram()
        let (request, answer) = (whorl.home + "/request", whorl.home + "/answer")
        try fields.reduce(into: frame(origin)) { $0 += frame($1) }.write(to: URL(filePath: request))
        let line = "\"$@\" <\(request) >\(answer)"
        let run = try await whorl.run(
            "/bin/sh",
            ["-c", line, "sh", Self.program] + arguments,
            environment: environment
        )
        try #require(run.status == 0, "\(run)")
        let bytes = try Data(contentsOf: URL(filePath: answer))
        return LoginFrames.outcome(
            SecretBox(SecretBytes(count: bytes.count) { _ = bytes.copyBytes(to: $0) })
        )
    }

    /// The failure at a server that does not do what a login server does.
    private func failure(
        at mode: LoginServer.Mode,
        authority: String? = nil,
        _ arguments: [String] = []
    ) async throws -> LoginTransportError? {
        let server = try LoginServer(mode, authority: authority)
        let outcome = try await outcome(of: server.origin, Self.signIn, arguments)
        if case .failure(let error) = outcome { return error }
        return nil
    }

    @Test func `a request comes to the server as it is, and no field is added that a login does not need`()
        async throws
    {
        let server = try LoginServer(.exact)
        _ = try await outcome(of: server.origin).get()
        _ = try await outcome(of: server.origin, ["DELETE", "/v1/devices/x", "", ""]).get()
        let requests = try await server.requests()
        let headers = requests.map { $0["headers"] as? [String: String] ?? [:] }
        let host = server.origin.replacing("http://", with: "")
        let common = [
            "Host": host, "User-Agent": "whorl", "Accept": "application/json, application/problem+json",
        ]
        let body = [
            "Authorization": "Basic cGFzc3dvcmQ=", "Content-Type": "application/json", "Content-Length": "2",
        ]
        #expect(headers == [common.merging(body) { $1 }, common])
        #expect(requests.map { $0["path"] as? String } == ["/v1/sessions", "/v1/devices/x"])
    }

    @Test func `an answer comes with its status, its type and the time to wait`() async throws {
        let server = try LoginServer(.busy)
        let answer = try await outcome(of: server.origin).get()
        #expect(answer.status == 429 && answer.retryAfter == 7)
        #expect(answer.contentType == "application/problem+json")
        let exact = try LoginServer(.exact)
        let largest = try await outcome(of: exact.origin).get()
        #expect(largest.status == 201 && largest.retryAfter == nil)
        #expect(largest.body.bytes.count == LoginResponse.longestBody)
    }

    @Test func `a redirect is an answer, and is not followed`() async throws {
        let server = try LoginServer(.redirect)
        #expect(try await outcome(of: server.origin).get().status == 307)
        #expect(try await server.requests().map { $0["path"] as? String } == ["/v1/sessions"])
    }

    @Test(arguments: [LoginServer.Mode.large, .endless, .fields, .field, .interim])
    func `an answer that is too large, or does not end, is refused`(mode: LoginServer.Mode) async throws {
        // The limit of time has another error.
        #expect(try await failure(at: mode) == .tooLarge)
    }

    @Test func `an answer without a header, and one that is cut off, is malformed`() async throws {
        #expect(try await failure(at: .bare) == .malformed)
        #expect(try await failure(at: .cut) == .malformed)
    }

    @Test func `a server that no one runs is not reached`() async throws {
        let outcome = try await outcome(of: "http://127.0.0.1:9")
        #expect(throws: LoginTransportError.unreachable) { try outcome.get() }
    }

    @Test func `a server that says nothing, and one that takes its time, end the request after 30 seconds`()
        async throws
    {
        let begin = ContinuousClock.now
        async let silent = failure(at: .silent)
        async let drip = failure(at: .drip)
        #expect(try await [silent, drip] == [.timedOut, .timedOut])
        // Beside hundreds of tests a process waits for its turn; without a limit, neither of the two would end.
        #expect((.seconds(30)...(.seconds(180))).contains(ContinuousClock.now - begin))
    }

    @Test func `what is not encrypted goes to this machine whatever proxy the environment names`()
        async throws
    {
        let server = try LoginServer(.exact)
        let proxy = "http://127.0.0.1:9"
        let names = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"]
        let variables = Dictionary(uniqueKeysWithValues: names.map { ($0, proxy) })
        #expect(try await outcome(of: server.origin, environment: variables).get().status == 201)
    }

    @Test func `a proxy sees neither the credentials nor the path of what is encrypted`() async throws {
        let proxy = try LoginServer(.exact)
        let outcome = try await outcome(
            of: "https://bank.example",
            environment: ["https_proxy": proxy.origin]
        )
        // It is asked for a connection, and refuses.
        #expect(throws: LoginTransportError.unreachable) { try outcome.get() }
        let requests = try await proxy.requests()
        #expect(requests.map { $0["path"] as? String } == ["bank.example:443"])
        let fields = try #require(requests.first?["headers"] as? [String: String])
        #expect(Set(fields.keys).isSubset(of: ["Host", "User-Agent", "Proxy-Connection"]))
    }

    @Test func `an authority that is named is trusted in place of the system's`() async throws {
        let whorl = try WhorlProgram()
        let (file, other) = (whorl.home + "/authority.pem", whorl.home + "/other.pem")
        let server = try LoginServer(.signed, authority: file)
        let request = ["GET", "/log", "", ""]
        let known = try await outcome(of: server.origin, request, ["--cacert", file])
        #expect(try known.get().status == 200)
        let unknown = try await outcome(of: server.origin, request)
        #expect(throws: LoginTransportError.notTrusted) { try unknown.get() }
        let second = try LoginServer(.signed, authority: other)
        let wrong = try await outcome(of: server.origin, request, ["--cacert", other])
        #expect(throws: LoginTransportError.notTrusted) { try wrong.get() }
        withExtendedLifetime(second) {}
    }

    @Test func `the keys of a connection are written nowhere, whatever a variable names`() async throws {
        let whorl = try WhorlProgram()
        let (file, keys) = (whorl.home + "/authority.pem", whorl.home + "/keys")
        let server = try LoginServer(.signed, authority: file)
        let answer = try await outcome(
            of: server.origin,
            ["GET", "/log", "", ""],
            ["--cacert", file],
            environment: ["SSLKEYLOGFILE": keys]
        )
        #expect(try answer.get().status == 200)
        #expect(!FileManager.default.fileExists(atPath: keys))
    }

    @Test func `a server without TLS where TLS is expected is not called untrusted`() async throws {
        let server = try LoginServer(.exact)
        let outcome = try await outcome(of: server.origin.replacing("http://", with: "https://"))
        #expect(throws: LoginTransportError.notSecured) { try outcome.get() }
    }

    @Test func `a request ends soon after the program that reads its answer`() async throws {
        let whorl = try WhorlProgram()
        let server = try LoginServer(.silent)
        let request = whorl.home + "/request"
        try Self.signIn.reduce(into: frame(server.origin)) { $0 += frame($1) }
            .write(to: URL(filePath: request))
        // The shell takes the time: a program of another test may hold its output open.
        let line = "begin=$(date +%s); \"$@\" <\(request) | sleep 1; echo $(($(date +%s) - begin))"
        let run = try await whorl.run("/bin/sh", ["-c", line, "sh", Self.program])
        // The server's time limit is 30 seconds.
        #expect(try #require(Int(run.lines.last ?? "")) < 20)
    }

    @Test func `a certificate for another name, or that no authority has signed, is not trusted`()
        async throws
    {
        let file = try WhorlProgram()
        let authority = file.home + "/authority.pem"
        #expect(
            try await failure(at: .otherName, authority: authority, ["--cacert", authority]) == .notTrusted
        )
        #expect(try await failure(at: .unsigned) == .notTrusted)
    }

    @Test func `a file of authorities that is missing, or has none, makes no server trusted`() async throws {
        let whorl = try WhorlProgram()
        let (file, empty) = (whorl.home + "/authority.pem", whorl.home + "/empty.pem")
        try Data().write(to: URL(filePath: empty))
        for named in [whorl.home + "/missing.pem", empty] {
            let error = try await failure(at: .signed, authority: file, ["--cacert", named])
            #expect(error == .notTrusted, "\(named)")
        }
    }

    @Test(arguments: [["--proxy", "http://127.0.0.1:9"], ["--cacert"], ["--cacert", "a", "b"], [""]])
    func `it takes one option, and ends with 64 for any other`(arguments: [String]) async throws {
        let run = try await WhorlProgram().run(
            "/bin/sh",
            ["-c", "\"$@\" </dev/null", "sh", Self.program] + arguments
        )
        #expect(run.status == 64 && run.out.isEmpty)
    }

    @Test func `credentials that would begin another field are not sent`() async throws {
        let server = try LoginServer(.exact)
        let outcome = try await outcome(of: server.origin, ["GET", "/", "Basic a\r\nX-Field: b", ""])
        #expect(throws: LoginTransportError.failed) { try outcome.get() }
        #expect(try await server.requests().isEmpty)
    }

    /// Each would make the program some ten times as large, and is code that reads what comes from a network.
    @Test func `it is linked to libcurl, and neither to Foundation nor to a library of ciphers`() async throws
    {
        let whorl = try WhorlProgram()
        let libraries = try await whorl.run("/usr/bin/readelf", ["--dynamic", "--wide", Self.program]).lines
            .filter { $0.contains("(NEEDED)") }
        #expect(libraries.contains { $0.contains("[libcurl.so.4]") })
        #expect(libraries.filter { $0.contains(/Foundation|crypto|ssl/.ignoresCase()) } == [])
        let symbols = try await whorl.run("/usr/bin/nm", [Self.program]).lines
        #expect(symbols.contains { $0.contains("CurlRequest") })
        #expect(symbols.filter { $0.contains(/Foundation|Crypto|BoringSSL/) } == [])
    }
}
