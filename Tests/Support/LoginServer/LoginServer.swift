// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation

/// A login server on loopback, in Python, which verifies with a library of others.
package final class LoginServer: Sendable {
    /// What it does.
    package enum Mode: String, Sendable {
        /// The protocol, for any user.
        case login
        case redirect
        case large
        case exact
        case busy
        case endless
        case silent
        case cut
        /// TLS with a certificate that nobody has signed.
        case unsigned
        /// The protocol over TLS, with a certificate that an authority of its own has signed.
        case signed
        /// The same with another name in the certificate.
        case otherName
        /// A body alone, as of HTTP/0.9.
        case bare
        /// A header without end: of many fields, of one field, of interim answers.
        case fields
        case field
        case interim
        /// A header of which a byte comes now and then.
        case drip

        var isSecure: Bool { [.unsigned, .signed, .otherName].contains(self) }
    }

    /// Every user's password.
    package static let password = "correct horse"

    /// Such as `http://127.0.0.1:40001`; `https` with TLS.
    package let origin: String
    private let process = ChildProgram()
    /// Its end tells the server that nobody needs it any more.
    private let input: ChildPipe
    /// Open as long as the server may write.
    private let output: ChildPipe

    /// Starts it, and returns when it listens.
    ///
    /// - Parameters:
    ///   - mode: What it does.
    ///   - authority: The file that gets the certificate of the authority, for the modes that have one.
    /// - Throws: When it does not start.
    package init(_ mode: Mode = .login, authority: String? = nil) throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "server.py").path
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script, mode.rawValue] + (authority.map { [$0] } ?? [])
        input = try ChildPipe()
        output = try ChildPipe()
        process.standardInput = input.reading
        process.standardOutput = output.writing
        try process.start()
        try input.reading.close()
        try output.writing.close()
        // Python may write the end of the line by itself.
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = output.reading.availableData
            guard !more.isEmpty else { throw NotStarted() }
            line += more
        }
        guard let port = Int(String(decoding: line.dropLast(), as: UTF8.self)) else { throw NotStarted() }
        origin = (mode.isSecure ? "https" : "http") + "://127.0.0.1:\(port)"
    }

    package struct NotStarted: Error {}

    deinit { process.send(SIGTERM) }

    /// What it was asked, in order: paths, header fields, sizes of bodies.
    package func requests() async throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: await ask("GET", "/log")) as? [String: Any]
        return object?["requests"] as? [[String: Any]] ?? []
    }

    /// It knows no device any more.
    package func forget() async throws { _ = try await ask("DELETE", "/all") }

    /// Asks with another client than the one under test.
    private func ask(_ method: String, _ path: String) async throws -> Data {
        let client = ChildProgram()
        client.executableURL = URL(filePath: "/usr/bin/env")
        let program = """
            import sys, urllib.request as r
            request = r.Request(sys.argv[2], method=sys.argv[1])
            sys.stdout.buffer.write(r.build_opener(r.ProxyHandler({})).open(request).read())
            """
        client.arguments = ["python3", "-c", program, method, origin + path]
        let output = try ChildPipe()
        client.standardOutput = output.writing
        try client.start()
        try output.writing.close()
        return await withCheckedContinuation { done in
            Thread.detachNewThread {
                let data = output.reading.readDataToEndOfFile()
                client.waitForEnd()
                done.resume(returning: data)
            }
        }
    }
}
