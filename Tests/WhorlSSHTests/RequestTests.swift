// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import WhorlSSH

/// What OpenSSH's programs and others ask an agent to sign.
@Suite struct `The bytes to sign` {
    private static func only(_ scene: String) throws -> [UInt8] {
        let signed = try Recordings.connections(of: scene).flatMap(\.signed)
        try #require(signed.count == 1)
        return signed[0].data
    }

    private static func meaning(_ data: [UInt8]) throws -> SSHSigningRequest {
        SSHSigningRequest(data, signedBy: try Recordings.user())
    }

    private static func login(_ scene: String) throws -> SSHLogin {
        guard case .login(let login) = try meaning(only(scene)) else {
            Issue.record("\(scene) is not a login")
            throw CancellationError()
        }
        return login
    }

    @Test(arguments: ["ed25519", "p256", "p384", "p521", "rsa"])
    func `of ssh are a login, bound to the host's key`(host: String) throws {
        let login = try Self.login("login-\(host)")
        #expect(login.user == (try Recordings.read("requests.json", as: Recordings.Requests.self).user))
        #expect(login.hostKey == (try Recordings.host(host)))
        #expect(!login.usesCertificate)
    }

    @Test func `of ssh without host-bound logins are a login without the host's key`() throws {
        let login = try Self.login("login-not-host-bound")
        #expect(login.hostKey == nil && !login.sessionID.isEmpty)
    }

    @Test func `of ssh with a certificate are a login with the key inside it`() throws {
        let login = try Self.login("login-certificate")
        #expect(login.usesCertificate)
        #expect(login.hostKey == (try Recordings.host("ed25519")))
    }

    @Test func `with a certificate of another key are unknown`() throws {
        let other = try #require(
            SSHPublicKey(blob: Recordings.read("binds.json", as: Recordings.Binds.self).key)
        )
        for scene in ["login-certificate", "login-ed25519", "sudo"] {
            #expect(SSHSigningRequest(try Self.only(scene), signedBy: other) == .unknown)
        }
    }

    @Test(arguments: [
        ("sshsig-git-sha512", "git", SSHFileSignature.Hash.sha512), ("git-commit", "git", .sha512),
        ("git-tag", "git", .sha512), ("sshsig-file-sha512", "file", .sha512),
        ("sshsig-file-sha256", "file", .sha256),
        ("sshsig-mail@example.org-sha512", "mail@example.org", .sha512),
    ])
    func `of ssh-keygen and git are a signature with its namespace`(
        scene: String,
        namespace: String,
        hash: SSHFileSignature.Hash
    ) throws {
        guard case .signature(let signature) = try Self.meaning(Self.only(scene)) else {
            Issue.record("it is not a signature")
            return
        }
        #expect(signature.namespace == namespace && signature.hash == hash)
        #expect(signature.isOfGit == (namespace == "git"))
        #expect(signature.digest.count == hash.size)
    }

    @Test func `of pam_ssh_agent_auth are an authentication on another computer`() throws {
        guard case .authentication(let request) = try Self.meaning(Self.only("sudo")) else {
            Issue.record("it is not an authentication")
            return
        }
        let user = try Recordings.read("requests.json", as: Recordings.Requests.self).user
        #expect(request.user == user && request.requester == user && request.service == "sudo")
        #expect(request.host == "server.example.org" && request.folder == "/")
        #expect(request.command.first == "/usr/bin/python3" && request.time > 1_700_000_000)
    }

    @Test(arguments: ["add-T", "certify"])
    func `of anything else are unknown`(scene: String) throws {
        #expect(try Self.meaning(Self.only(scene)) == .unknown)
    }

    @Test(arguments: ["login-ed25519", "login-not-host-bound", "login-certificate", "git-commit", "sudo"])
    func `are unknown if a byte is missing or added`(scene: String) throws {
        let data = try Self.only(scene)
        #expect(try Self.meaning(data) != .unknown)
        let key = try Recordings.user()
        for count in data.indices {
            #expect(SSHSigningRequest(Array(data.prefix(count)), signedBy: key) == .unknown)
        }
        for byte in [0, 1, 0xFF] as [UInt8] {
            #expect(SSHSigningRequest(data + [byte], signedBy: key) == .unknown)
            #expect(SSHSigningRequest([byte] + data, signedBy: key) == .unknown)
        }
        #expect(SSHSigningRequest(data + data, signedBy: key) == .unknown)
    }

    /// The fields that a meaning leaves out, such as a certificate's nonce, are the host's concern.
    @Test(arguments: ["login-ed25519", "login-not-host-bound", "git-commit", "sudo"])
    func `have another meaning, or none, if a byte is another one`(scene: String) throws {
        let data = try Self.only(scene)
        let (meaning, key) = (try Self.meaning(data), try Recordings.user())
        for index in data.indices {
            for bit in [0x01, 0x20, 0x80] as [UInt8] {
                var changed = data
                changed[index] ^= bit
                #expect(SSHSigningRequest(changed, signedBy: key) != meaning, "byte \(index)")
            }
        }
    }

    @Test func `cannot be a login and a signature`() throws {
        let login = try Self.only("login-ed25519")
        let signature = try Self.only("git-commit")
        #expect(try Self.meaning(signature + login) == .unknown)
        #expect(try Self.meaning(login + signature) == .unknown)
        // A login whose session ID is as long as the letters say would have more than a gigabyte.
        #expect(try Self.meaning(Array("SSHS".utf8) + login.dropFirst(4)) == .unknown)
        // A signature with a login in the place of its namespace or its hash.
        let start = Array("SSHSIG".utf8)
        let hash = Wire.string("") + Wire.string("sha512")
        #expect(
            try Self.meaning(
                start + Wire.string(login) + hash + Wire.string([UInt8](repeating: 0, count: 64))
            ) == .unknown
        )
        #expect(try Self.meaning(start + Wire.string("file") + hash + Wire.string(login)) == .unknown)
    }

    @Test func `of a signature have a hash that the format allows, and nothing reserved`() throws {
        func meaning(_ namespace: String, _ reserved: String, _ hash: String, _ count: Int) throws -> Bool {
            let data =
                Array("SSHSIG".utf8) + Wire.string(namespace) + Wire.string(reserved) + Wire.string(hash)
                + Wire.string([UInt8](repeating: 7, count: count))
            return try Self.meaning(data) != .unknown
        }
        #expect(try meaning("file", "", "sha256", 32))
        #expect(try meaning("file", "", "sha512", 64))
        #expect(try !meaning("file", "", "sha512", 32))
        #expect(try !meaning("file", "", "sha256", 64))
        #expect(try !meaning("file", "", "sha1", 20))
        #expect(try !meaning("file", "", "SHA512", 64))
        #expect(try !meaning("file", "x", "sha512", 64))
        #expect(try !meaning("", "", "sha512", 64))
        #expect(try !meaning("a\nb", "", "sha512", 64))
        #expect(try !meaning("a\0b", "", "sha512", 64))
        #expect(try meaning(String(repeating: "n", count: 256), "", "sha512", 64))
        #expect(try !meaning(String(repeating: "n", count: 257), "", "sha512", 64))
    }

    /// The armored file has a version behind the first word, and the bytes to sign do not.
    @Test func `of a signature do not contain the version of its file`() throws {
        let data = try Self.only("git-commit")
        #expect(try Self.meaning(Array(data.prefix(6)) + [0, 0, 0, 1] + data.dropFirst(6)) == .unknown)
    }

    @Test func `of a login have one service, method, flag and algorithm`() throws {
        let key = try Recordings.user()
        func isLogin(
            session: Int = 32,
            type: UInt8 = 50,
            user: [UInt8] = Array("ada".utf8),
            service: String = "ssh-connection",
            method: String = "publickey",
            flag: UInt8 = 1,
            algorithm: String = "ecdsa-sha2-nistp256",
            tail: [UInt8] = []
        ) -> Bool {
            let data =
                Wire.string([UInt8](repeating: 1, count: session)) + [type] + Wire.string(user)
                + Wire.string(service) + Wire.string(method) + [flag] + Wire.string(algorithm)
                + Wire.string(key.blob) + tail
            return SSHSigningRequest(data, signedBy: key) != .unknown
        }
        let (bound, host) = ("publickey-hostbound-v00@openssh.com", Wire.string(key.blob))
        #expect(isLogin())
        #expect(isLogin(method: bound, tail: host))
        #expect(isLogin(session: 20) && isLogin(session: 128))
        #expect(!isLogin(session: 0) && !isLogin(session: 19) && !isLogin(session: 129))
        #expect(!isLogin(type: 51) && !isLogin(type: 54))
        #expect(!isLogin(user: []) && !isLogin(user: [0xFF]) && !isLogin(user: Array("a\0".utf8)))
        #expect(!isLogin(user: Array("ada\u{1B}[2J".utf8)))
        #expect(isLogin(user: [UInt8](repeating: 0x61, count: 256)))
        #expect(!isLogin(user: [UInt8](repeating: 0x61, count: 257)))
        #expect(!isLogin(service: "ssh-userauth") && !isLogin(service: "ssh-connection\0"))
        #expect(!isLogin(method: "password") && !isLogin(method: "hostbased"))
        #expect(!isLogin(method: bound) && !isLogin(method: "publickey", tail: host))
        #expect(!isLogin(flag: 0) && !isLogin(flag: 2))
        #expect(!isLogin(algorithm: "ecdsa-sha2-nistp384") && !isLogin(algorithm: "ssh-rsa"))
        #expect(!isLogin(algorithm: "ecdsa-sha2-nistp256-cert-v01@openssh.com"))
        #expect(!isLogin(method: bound, tail: host + [0]))
        #expect(!isLogin(method: bound, tail: Wire.string([])))
    }

    @Test func `of sudo have the arguments that they count`() throws {
        let key = try Recordings.user()
        func meaning(action: [UInt8], inner: String = "ada", version: Int = 101, cookie: Int = 16)
            -> SSHSigningRequest
        {
            let session =
                Wire.number(version) + Wire.string([UInt8](repeating: 3, count: cookie))
                + Wire.string("root") + Wire.string(inner) + Wire.string("sudo") + Wire.string("/")
                + Wire.string(action) + Wire.string("host") + Wire.number(1, count: 8)
            let data =
                Wire.string(session) + [54] + Wire.string("ada") + Wire.string("pam_ssh_agent_auth")
                + Wire.string("publickey") + [1] + Wire.string("ecdsa-sha2-nistp256") + Wire.string(key.blob)
            return SSHSigningRequest(data, signedBy: key)
        }
        guard case .authentication(let request) = meaning(action: []) else {
            Issue.record("it is not an authentication")
            return
        }
        #expect(request.command.isEmpty && request.user == "root" && request.requester == "ada")
        let two = Wire.string("rm") + Wire.string("-r")
        guard case .authentication(let remove) = meaning(action: Wire.number(2) + two) else {
            Issue.record("it is not an authentication")
            return
        }
        #expect(remove.command == ["rm", "-r"])
        let bad = [
            Wire.number(1) + two, Wire.number(3) + two, Wire.number(0), Wire.number(-1),
            Wire.number(2) + two + [0],
            [0], Wire.number(1) + Wire.string([0xFF]),
            Wire.number(256) + (0..<256).flatMap { _ in Wire.string("a") },
        ]
        for action in bad { #expect(meaning(action: action) == .unknown) }
        #expect(meaning(action: [], inner: "bob") == .unknown)
        #expect(meaning(action: [], version: 102) == .unknown)
        #expect(meaning(action: [], cookie: 15) == .unknown)
    }

    @Test func `are unknown if they are none, or longer than a message to an agent`() throws {
        let key = try Recordings.user()
        #expect(SSHSigningRequest([], signedBy: key) == .unknown)
        let session =
            Wire.number(101) + Wire.string([UInt8](repeating: 3, count: 16)) + Wire.string("root")
            + Wire.string("ada") + Wire.string("sudo")
        func request(padding: Int) -> [UInt8] {
            let whole =
                session + Wire.string([UInt8](repeating: 0x61, count: padding)) + Wire.string([])
                + Wire.string("host") + Wire.number(1, count: 8)
            return Wire.string(whole) + [54] + Wire.string("ada") + Wire.string("pam_ssh_agent_auth")
                + Wire.string("publickey") + [1] + Wire.string("ecdsa-sha2-nistp256") + Wire.string(key.blob)
        }
        let room = SSHSigningRequest.longest - request(padding: 0).count
        #expect(SSHSigningRequest(request(padding: room), signedBy: key) != .unknown)
        #expect(SSHSigningRequest(request(padding: room + 1), signedBy: key) == .unknown)
    }
}
