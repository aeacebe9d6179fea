// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlSSH

/// Files of known hosts, compared with what `ssh-keygen -F` finds in them.
@Suite struct `Known hosts` {
    private struct Found: Decodable {
        struct Query: Decodable, Sendable, CustomTestStringConvertible {
            let query: String
            let lines: [Int]
            var testDescription: String { query }
        }
        let found: [Query]
    }

    private static func file() throws -> SSHKnownHosts {
        SSHKnownHosts(try Data(contentsOf: Recordings.folder.appending(path: "known_hosts")))
    }

    /// The name in `host` or `[host]:port`.
    private static func name(_ text: String) throws -> SSHHostName {
        guard text.hasPrefix("["), let end = text.lastIndex(of: "]") else {
            return try #require(SSHHostName(text))
        }
        let port = try #require(UInt16(text[text.index(end, offsetBy: 2)...]))
        return try #require(SSHHostName(String(text[text.index(after: text.startIndex)..<end]), port: port))
    }

    @Test(arguments: try Recordings.read("known_hosts.json", as: Found.self).found)
    private func `are found in the lines in which ssh-keygen finds them`(query: Found.Query) throws {
        let name = try Self.name(query.query)
        let lines = try Self.file().lines.filter { $0.matches(name) }.map(\.number)
        // ssh turns the name to lower case before it hashes it, and ssh-keygen -F does not.
        let hashed = query.query == "SECRET.example.org" ? [23] : []
        #expect(lines == query.lines + hashed)
    }

    private static let key =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDr1gngJ5yktAAECAwQFBgcICQoLDA0ODxAREhMUFRYX"

    private static func read(_ lines: String...) -> SSHKnownHosts {
        SSHKnownHosts(lines.joined(separator: "\n").utf8)
    }

    @Test func `give a key its plain names, and no patterns, hashes or marked lines`() throws {
        let file = try Self.file()
        let names = file.names(of: try #require(file.lines.first { $0.number == 1 }).key)
        #expect(
            names == [
                "ed25519.example.org", "192.0.2.0", "[ed25519.example.org]:2222", "upper.example.org",
                "leading.example.org", "[2001:db8::1]:22", "2001:db8::2",
            ]
        )
        let revoked = try #require(file.lines.first { $0.marker == .revoked })
        #expect(file.isRevoked(revoked.key))
        #expect(!file.isKey(revoked.key, of: try #require(SSHHostName("rsa.example.org"))))
    }

    @Test func `prove a name from elsewhere against a hashed line`() throws {
        let file = try Self.file()
        let key = try #require(file.lines.first { $0.number == 23 }).key
        #expect(file.isKey(key, of: try #require(SSHHostName("secret.example.org"))))
        #expect(file.isKey(key, of: try #require(SSHHostName("Secret.Example.org", port: 2222))))
        #expect(!file.isKey(key, of: try #require(SSHHostName("secret.example.org", port: 2223))))
        #expect(!file.isKey(key, of: try #require(SSHHostName("secret.example.com"))))
        let other = try #require(file.lines.first { $0.number == 3 }).key
        #expect(!file.isKey(other, of: try #require(SSHHostName("secret.example.org"))))
    }

    @Test func `with a marker prove no name`() throws {
        let file = Self.read("@cert-authority *.example.org \(Self.key)")
        let line = try #require(file.lines.first)
        let host = try #require(SSHHostName("a.example.org"))
        #expect(!file.isKey(line.key, of: host))
        #expect(file.names(of: line.key).isEmpty && line.matches(host))
    }

    @Test(arguments: [
        "", " ", "# comment", "host", "host ssh-ed25519", "host ssh-rsa \(key.dropFirst(12))", "host \(key)=",
        "@unknown host \(key)", "@revoked", ", \(key)", "|1|abc|def \(key)", "|2|\(salt)|\(salt) \(key)",
        "|1|\(salt) \(key)", "|1|\(salt)|\(salt)|\(salt) \(key)", "|1|\(salt)|AAAA \(key)",
        "|1|AAAA|\(salt) \(key)",
    ])
    func `are ignored in a line of another form`(line: String) { #expect(Self.read(line).lines.isEmpty) }

    private static let salt = Data(repeating: 1, count: 20).base64EncodedString()

    @Test func `are read from a line with spaces, a comment and a carriage return`() throws {
        for line in [
            "a,b \(Self.key)", "\t a,b   \(Self.key) x y z", "a,b \(Self.key)\r",
            "|1|\(Self.salt)|\(Self.salt) \(Self.key)",
        ] {
            #expect(Self.read(line).lines.count == 1, "\(line)")
        }
    }

    @Test func `are bounded in lines, names and bytes`() throws {
        let many = (0..<256).map { "h\($0)" }.joined(separator: ",")
        #expect(Self.read("\(many) \(Self.key)").lines.first?.plainNames.count == 256)
        #expect(Self.read("\(many),one \(Self.key)").lines.isEmpty)
        let comment = String(repeating: "c", count: SSHKnownHostsLine.longest)
        #expect(Self.read("host \(Self.key) \(comment)", "host \(Self.key)").lines.map(\.number) == [2])
        let line = "host \(Self.key)\n"
        let count = SSHKnownHosts.longest / line.utf8.count
        let file = SSHKnownHosts(String(repeating: line, count: count + 100).utf8)
        #expect(file.lines.count == count)
    }

    @Test func `give many names in time that grows with their number`() throws {
        let lines = (0..<3_000).map { line in
            (0..<50).map { "\(line)x\($0)" }.joined(separator: ",") + " \(Self.key)"
        }
        let file = SSHKnownHosts(lines.joined(separator: "\n").utf8)
        let key = try #require(file.lines.first).key
        let time = ContinuousClock().measure { #expect(file.names(of: key).count == file.lines.count * 50) }
        #expect(time < .seconds(20))
    }

    @Test func `that exclude a host give it no name`() throws {
        let file = Self.read("*.example.org,!bad.example.org,good.example.org \(Self.key)")
        let line = try #require(file.lines.first)
        #expect(line.plainNames.isEmpty)
        #expect(!line.matches(try #require(SSHHostName("bad.example.org"))))
        #expect(line.matches(try #require(SSHHostName("good.example.org"))))
    }

    @Test(arguments: [
        ("*", "a", true), ("a*c", "abbbc", true), ("a*c", "abbbd", false), ("?", "ab", false),
        ("??", "ab", true),
        ("*a*b*", "xxaxxbxx", true), ("*a*b*", "xxbxxaxx", false), ("a**", "a", true), ("a", "ab", false),
        ("ab", "a", false), ("*.org", "a.org", true), ("*.org", ".org", true), ("[a]:*", "a", false),
    ])
    func `are compared with patterns as ssh does`(pattern: String, name: String, matches: Bool) throws {
        let line = try #require(Self.read("\(pattern) \(Self.key)").lines.first)
        #expect(line.matches(try #require(SSHHostName(name))) == matches)
    }

    @Test func `are compared with a costly pattern in bounded time`() throws {
        let pattern = String(repeating: "*a", count: 8_000)
        let line = try #require(Self.read("\(pattern) \(Self.key)").lines.first)
        let name = try #require(SSHHostName(String(repeating: "a", count: 255)))
        #expect(ContinuousClock().measure { _ = line.matches(name) } < .seconds(5))
    }

    @Test(arguments: [
        "", "a b", "a\n", "a,b", "*", "a?", "!a", "[a]", "a|b", "#a", String(repeating: "a", count: 256),
    ])
    func `have no name with another meaning`(name: String) { #expect(SSHHostName(name) == nil) }

    @Test func `have a port in their name unless it is 22`() throws {
        #expect(SSHHostName("Host")?.text == "host")
        #expect(SSHHostName("Host", port: 2222)?.text == "[host]:2222")
        #expect(SSHHostName("2001:db8::1", port: 2222)?.text == "[2001:db8::1]:2222")
    }
}
