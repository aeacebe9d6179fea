// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlSSH

/// Logins and the binds before them; OpenSSH's agent judged the same with a key that is limited to the hosts.
@Suite struct `The host of a login` {
    /// What is expected of a recorded login.
    private enum Expected: Equatable {
        case hostBound, bound
        case notProven(SSHHostProof.Reason)
        case fault(SSHLoginFault)
        case unknown
    }

    private static let expected: [String: Expected] = [
        "a host-bound login": .hostBound,
        "a login that is not host-bound": .bound,
        "a host-bound login through a hop": .hostBound,
        "a login through a hop that is not host-bound": .notProven(.notHostBound),
        "a login without a bind": .notProven(.noBind),
        "a login after a failed bind": .notProven(.refusedBind(.signature)),
        "a login with another session": .fault(.anotherSession),
        "a login with the hop's session": .fault(.forwardingSession),
        "a login with another host's key": .fault(.anotherHost),
        "a login at the hop itself, over forwarding": .fault(.forwardingSession),
        "a login at another session, after the hop alone": .notProven(.noBind),
        "a login of another service": .unknown,
        "a login with bytes behind it": .unknown,
        "a signature in place of a login": .unknown,
    ]

    @Test(arguments: try Recordings.read("binds.json", as: Recordings.Binds.self).logins)
    func `is proven where OpenSSH's agent lets a limited key sign`(recorded: Recordings.Binds.Login) throws {
        let key = try #require(
            SSHPublicKey(blob: Recordings.read("binds.json", as: Recordings.Binds.self).key)
        )
        var binds = SSHSessionBinds()
        for bind in recorded.binds {
            do throws(SSHBindFault) { try binds.add(bind) } catch { #expect(binds.firstFault == error) }
        }
        let found: Expected
        if case .login(let login) = SSHSigningRequest([UInt8](recorded.data), signedBy: key) {
            do throws(SSHLoginFault) {
                switch try binds.host(of: login) {
                case .hostBound: found = .hostBound
                case .bound: found = .bound
                case .notProven(let reason): found = .notProven(reason)
                }
            } catch {
                found = .fault(error)
            }
        } else {
            found = .unknown
        }
        #expect(found == Self.expected[recorded.name])
        #expect(recorded.signed == [.hostBound, .bound].contains(found))
    }

    @Test func `is bound only where the login names no key`() throws {
        let connection = try #require(try Recordings.connections(of: "login-not-host-bound").first)
        guard
            case .login(let login) = SSHSigningRequest(
                try #require(connection.signed.first).data,
                signedBy: try Recordings.user()
            )
        else {
            Issue.record("it is not a login")
            return
        }
        #expect(try connection.state().host(of: login) == .bound(try Recordings.host("ed25519")))
        // The same with a refused bind before it, which may have been a hop.
        var binds = SSHSessionBinds()
        #expect(throws: SSHBindFault.malformed) { try binds.add([]) }
        try binds.add(connection.binds[0])
        #expect(try binds.host(of: login) == .notProven(.notHostBound))
    }

    @Test func `is proven by a later bind after a refused one, if the login names the key`() throws {
        let connection = try #require(try Recordings.connections(of: "login-ed25519").first)
        guard
            case .login(let login) = SSHSigningRequest(
                try #require(connection.signed.first).data,
                signedBy: try Recordings.user()
            )
        else {
            Issue.record("it is not a login")
            return
        }
        var binds = SSHSessionBinds()
        #expect(throws: SSHBindFault.malformed) { try binds.add([1]) }
        try binds.add(connection.binds[0])
        #expect(try binds.host(of: login) == .hostBound(try Recordings.host("ed25519")))
        #expect(binds.forwarding == .unknown)
    }
}
