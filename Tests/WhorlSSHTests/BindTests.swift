// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlSSH

/// Binds, compared with those of OpenSSH's ssh and with the replies of OpenSSH's agent.
@Suite struct `The binds of a connection` {
    /// Where we refuse and OpenSSH 9.2 does not, and why.
    private static let stricter = [
        "a bind of an RSA key": "keys of other types are not verified",
        "an RSA hop and a destination": "keys of other types are not verified",
        "a session of 129 bytes": "newer versions of OpenSSH have this limit",
        "a session of 19 bytes": "no hash is this short",
        "no session": "no hash is this short",
        "a bind whose last byte is 2": "a boolean has one encoding",
        "a byte too many": "a bind has one encoding",
    ]

    @Test(arguments: try Recordings.read("binds.json", as: Recordings.Binds.self).binds)
    func `are accepted where OpenSSH's agent accepts them`(sequence: Recordings.Binds.Sequence) throws {
        var binds = SSHSessionBinds()
        let accepted = sequence.binds.map { bind in
            do throws(SSHBindFault) {
                try binds.add(bind)
                return true
            } catch {
                return false
            }
        }
        if Self.stricter[sequence.name] == nil {
            #expect(accepted == sequence.accepted)
        } else {
            #expect(
                zip(accepted, sequence.accepted).allSatisfy { !$0 || $1 } && accepted != sequence.accepted
            )
        }
    }

    private static func faults(_ name: String) throws -> [SSHBindFault?] {
        let recorded: Recordings.Binds = try Recordings.read("binds.json")
        let sequence = try #require(recorded.binds.first { $0.name == name })
        var binds = SSHSessionBinds()
        return sequence.binds.map { bind in
            do throws(SSHBindFault) {
                try binds.add(bind)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test(arguments: [
        ("a second bind after one that does not forward", [nil, SSHBindFault.afterLogin]),
        ("a hop after a bind that does not forward", [nil, .afterLogin]),
        ("the same bind twice, not forwarding", [nil, .afterLogin]),
        ("the same bind twice, forwarding", [nil, nil]),
        ("one session with two host keys", [nil, .anotherKey]),
        ("another session's signature", [.signature]), ("another host's signature", [.signature]),
        ("a changed signature", [.signature]), ("a changed session", [.signature]),
        ("an Ed25519 signature by an ECDSA key", [.signature]),
        ("a signature of another curve's name", [.signature]),
        ("bytes after an ECDSA signature", [.signature]), ("no signature", [.signature]),
        ("a bind of an RSA key", [.cannotVerify(type: "ssh-rsa")]),
        ("a session of 129 bytes", [.malformed]), ("no session", [.malformed]), ("nothing", [.malformed]),
        ("a byte too few", [.malformed]), ("a byte too many", [.malformed]),
        ("a bind whose last byte is 2", [.malformed]),
        ("a failed bind, then a sound one", [.signature, nil]),
    ])
    func `are refused with the reason`(name: String, faults: [SSHBindFault?]) throws {
        #expect(try Self.faults(name) == faults)
    }

    @Test func `are at most 16, and more are refused`() throws {
        #expect(try Self.faults("17 binds") == Array(repeating: nil, count: 16) + [.tooMany])
    }

    @Test(arguments: ["ed25519", "p256", "p384", "p521"])
    func `of ssh come before the list, and prove the host's key`(host: String) throws {
        let connection = try #require(try Recordings.connections(of: "login-\(host)").first)
        #expect(connection.types == [27, 11, 13])
        let binds = try connection.state()
        #expect(binds.accepted.map(\.hostKey) == [try Recordings.host(host)])
        #expect(binds.forwarding == .none)
    }

    @Test func `of a host with an RSA key cannot be verified, and the host is not proven`() throws {
        let connection = try #require(try Recordings.connections(of: "login-rsa").first)
        var binds = SSHSessionBinds()
        #expect(throws: SSHBindFault.cannotVerify(type: "ssh-rsa")) { try binds.add(connection.binds[0]) }
        // The connection is for a login, though not one at a known host, and for no other one.
        #expect(binds.forwarding == .none)
        let other = try #require(try Recordings.connections(of: "login-ed25519").first).binds[0]
        var later = binds
        #expect(throws: SSHBindFault.afterLogin) { try later.add(other) }
        let login = try login(in: connection)
        #expect(
            try binds.host(of: login) == .notProven(.refusedBind(.cannotVerify(type: "ssh-rsa")))
        )
        // It is named in the bytes to sign, but that is a claim.
        #expect(login.hostKey == (try Recordings.host("rsa")))
    }

    @Test func `of a host with a certificate cannot be verified`() throws {
        let connection = try #require(try Recordings.connections(of: "login-host-certificate").first)
        var binds = SSHSessionBinds()
        #expect(throws: SSHBindFault.cannotVerify(type: "ecdsa-sha2-nistp256-cert-v01@openssh.com")) {
            try binds.add(connection.binds[0])
        }
    }

    @Test func `of a forwarded agent name the hop and then the host`() throws {
        let connections = try Recordings.connections(of: "login-forwarded")
        try #require(connections.count == 2)
        #expect(try connections[0].state().forwarding == .none)
        let forwarded = try connections[1].state()
        #expect(connections[1].types == [27, 27, 11, 13])
        #expect(forwarded.forwarding == .through([try Recordings.host("hop")]))
        #expect(
            try forwarded.host(of: login(in: connections[1])) == .hostBound(try Recordings.host("p256"))
        )
    }

    @Test func `of a jump are those of two logins, neither of them forwarded`() throws {
        let connections = try Recordings.connections(of: "login-jump")
        try #require(connections.count == 2)
        for (connection, host) in zip(connections, ["hop", "ed25519"]) {
            let binds = try connection.state()
            #expect(binds.forwarding == .none)
            #expect(try binds.host(of: login(in: connection)) == .hostBound(try Recordings.host(host)))
        }
    }

    /// A connection that was used for a login is never one for another.
    @Test func `of one login are of no use for another, in either order`() throws {
        let first = try #require(try Recordings.connections(of: "login-ed25519").first)
        let second = try #require(try Recordings.connections(of: "login-p256").first)
        for (one, other) in [(first, second), (second, first)] {
            var binds = try one.state()
            #expect(throws: SSHBindFault.afterLogin) { try binds.add(other.binds[0]) }
            #expect(throws: SSHLoginFault.anotherSession) { try binds.host(of: login(in: other)) }
            #expect(binds.forwarding == .unknown)
        }
    }

    @Test func `that were refused leave it unknown whether the connection is forwarded`() throws {
        let recorded: Recordings.Binds = try Recordings.read("binds.json")
        let sequence = try #require(recorded.binds.first { $0.name == "an RSA hop and a destination" })
        var binds = SSHSessionBinds()
        #expect(throws: SSHBindFault.cannotVerify(type: "ssh-rsa")) { try binds.add(sequence.binds[0]) }
        try binds.add(sequence.binds[1])
        #expect(binds.accepted.count == 1 && binds.forwarding == .unknown)
    }

    @Test func `name the hops before a host with an RSA key`() throws {
        let forwarded = try Recordings.connections(of: "login-forwarded")[1]
        let rsa = try #require(try Recordings.connections(of: "login-rsa").first)
        var binds = SSHSessionBinds()
        try binds.add(forwarded.binds[0])
        #expect(throws: SSHBindFault.cannotVerify(type: "ssh-rsa")) { try binds.add(rsa.binds[0]) }
        #expect(binds.forwarding == .through([try Recordings.host("hop")]))
        #expect(
            try binds.host(of: login(in: rsa)) == .notProven(.refusedBind(.cannotVerify(type: "ssh-rsa")))
        )
    }

    /// A forwarding bind that is sent again as the bind of a login would hide the hop.
    @Test func `that repeat a hop as a login leave it a hop`() throws {
        let recorded: Recordings.Binds = try Recordings.read("binds.json")
        let sequence = try #require(
            recorded.binds.first { $0.name == "a hop that is bound again as a destination" }
        )
        var binds = SSHSessionBinds()
        for bind in sequence.binds { try binds.add(bind) }
        #expect(binds.accepted.count == 1)
        #expect(binds.forwarding == .through(binds.accepted.map(\.hostKey)))
    }

    @Test func `are refused if any byte but the last one is another one`() throws {
        let bind = try #require(try Recordings.connections(of: "login-p256").first?.binds.first)
        for index in bind.indices.dropLast() {
            var changed = bind
            changed[index] ^= 1
            var binds = SSHSessionBinds()
            #expect(throws: SSHBindFault.self, "byte \(index)") { try binds.add(changed) }
        }
        // Whether it forwards is not signed.
        var binds = SSHSessionBinds()
        try binds.add(bind.dropLast() + [1])
        #expect(binds.forwarding == .through([try Recordings.host("p256")]))
    }

    @Test func `that are missing leave the host unknown`() throws {
        let connection = try #require(try Recordings.connections(of: "login-ed25519").first)
        #expect(try SSHSessionBinds().host(of: login(in: connection)) == .notProven(.noBind))
        #expect(SSHSessionBinds().forwarding == .unknown)
        #expect(try Recordings.connections(of: "git-commit").allSatisfy(\.binds.isEmpty))
    }

    private func login(in connection: Connection) throws -> SSHLogin {
        let data = try #require(connection.signed.first).data
        guard case .login(let login) = SSHSigningRequest(data, signedBy: try Recordings.user()) else {
            Issue.record("it is not a login")
            throw CancellationError()
        }
        return login
    }
}
