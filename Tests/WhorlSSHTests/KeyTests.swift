// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing

@testable import WhorlSSH

/// Public keys and signatures, compared with OpenSSH's.
@Suite struct `Keys and signatures` {
    private struct Lines: Decodable {
        struct Line: Decodable {
            let line: String
            let fingerprint: String
        }
        let keys: [Line]
    }

    @Test func `have the lines and fingerprints of ssh-keygen`() throws {
        let lines: Lines = try Recordings.read("keys.json")
        var types: Set<String> = []
        for line in lines.keys {
            let words = line.line.split(separator: " ", maxSplits: 2)
            let key = try #require(SSHPublicKey(line: line.line), "\(line.line)")
            #expect(key.type == words[0])
            #expect(key.line(comment: String(words[2])) == line.line)
            // ssh-keygen prints the fingerprint of the key that a certificate is about.
            if !key.type.contains("-cert-") { #expect(key.fingerprint == line.fingerprint) }
            types.insert(key.type)
        }
        #expect(
            types.isSuperset(of: [
                "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
                "ecdsa-sha2-nistp256-cert-v01@openssh.com",
            ])
        )
    }

    @Test func `on P-256 are encoded from a point as OpenSSH encodes them`() throws {
        let user = try Recordings.user()
        #expect(SSHPublicKey(p256: user.blob.suffix(65)) == user)
        var off = Array(user.blob.suffix(65))
        off[64] ^= 1
        #expect(SSHPublicKey(p256: off) == nil)
        #expect(SSHPublicKey(p256: user.blob.suffix(64)) == nil)
        let x = user.blob.suffix(64).prefix(32)
        #expect(SSHPublicKey(p256: [2] + x) == nil && SSHPublicKey(p256: [3] + x) == nil)
        #expect(SSHPublicKey(p256: [0]) == nil && SSHPublicKey(p256: []) == nil)
    }

    @Test(arguments: ["ed25519", "p256", "p384", "p521"])
    func `of a known type have one encoding`(host: String) throws {
        let key = try Recordings.host(host)
        #expect(key.canVerify)
        for count in key.blob.indices { #expect(SSHPublicKey(blob: key.blob.prefix(count)) == nil) }
        #expect(SSHPublicKey(blob: key.blob + [0]) == nil)
        for index in key.blob.indices {
            var changed = key.blob
            changed[index] ^= 1
            #expect(SSHPublicKey(blob: changed) != key)
        }
    }

    @Test func `of other types are read and not verified`() throws {
        let rsa = try Recordings.host("rsa")
        #expect(rsa.type == "ssh-rsa" && !rsa.canVerify)
        #expect(rsa.check([], over: []) == .cannotVerify)
        for type in ["sk-ssh-ed25519@openssh.com", "ssh-mldsa-44", "x"] {
            let key = try #require(SSHPublicKey(blob: Wire.string(type) + [1]))
            #expect(key.check([1], over: [1]) == .cannotVerify)
        }
    }

    @Test func `have a type with a name of SSH, and a limit`() {
        for type in ["", "a b", "a,b", "a\n", "ä", String(repeating: "a", count: 65)] {
            #expect(SSHPublicKey(blob: Wire.string(type) + [1]) == nil)
        }
        #expect(SSHPublicKey(blob: Wire.string("ssh-rsa")) == nil, "a name is not a key")
        let start = Wire.string("ssh-rsa")
        let most = SSHPublicKey.longest - start.count
        #expect(SSHPublicKey(blob: start + [UInt8](repeating: 1, count: most)) != nil)
        #expect(SSHPublicKey(blob: start + [UInt8](repeating: 1, count: most + 1)) == nil)
    }

    @Test func `have a line without line breaks, whatever the comment is`() throws {
        let key = try Recordings.user()
        let line = key.line(comment: "a\nssh-rsa AAAA\u{1B}[2J\r" + String(repeating: "x", count: 400))
        #expect(!line.contains { $0.isNewline || $0 == "\u{1B}" } && line.utf8.count < 512)
        #expect(SSHPublicKey(line: line) == key)
        #expect(key.line(comment: "").split(separator: " ").count == 2)
    }

    @Test func `are not read from a line of another form`() throws {
        let words = try Recordings.user().line(comment: "").split(separator: " ")
        for line in [
            "", " ", "\(words[0])", "\(words[1])", "ssh-ed25519 \(words[1])",
            "no-pty \(words[0]) \(words[1])",
            "\(words[0]) \(words[1].dropLast(1))", "\(words[0]) \(words[1])=",
            "\(words[0]) *\(words[1].dropFirst())",
        ] {
            #expect(SSHPublicKey(line: line) == nil, "\(line)")
        }
    }

    /// The agent that was recorded signed with OpenSSH's encoder.
    @Test(arguments: ["login-ed25519", "git-commit", "sudo", "add-T"])
    func `of OpenSSH's agent are valid, and no changed one is`(scene: String) throws {
        let signed = try #require(try Recordings.connections(of: scene).flatMap(\.signed).first)
        let key = try Recordings.user()
        #expect(key.check(signed.signature, over: signed.data) == .valid)
        #expect(key.check(signed.signature, over: signed.data + [0]) == .invalid)
        #expect(try Recordings.host("p256").check(signed.signature, over: signed.data) == .invalid)
        for index in signed.signature.indices {
            var changed = signed.signature
            changed[index] ^= 1
            #expect(key.check(changed, over: signed.data) == .invalid, "byte \(index)")
        }
    }

    @Test func `are written as OpenSSH writes them`() throws {
        let requests: Recordings.Requests = try Recordings.read("requests.json")
        for scene in requests.scenes {
            for signed in try Recordings.connections(of: scene.name).flatMap(\.signed) {
                var wire = Wire(bytes: signed.signature)
                _ = try wire.string()
                var numbers = Wire(bytes: try wire.string())
                let raw = try [numbers.string(), numbers.string()].flatMap { number in
                    let digits = number.drop { $0 == 0 }
                    return [UInt8](repeating: 0, count: 32 - digits.count) + digits
                }
                #expect(SSHSignature.p256(raw: raw) == signed.signature)
            }
        }
    }

    @Test func `have numbers without needless zeros, and positive`() throws {
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let high = [0x80] + [UInt8](repeating: 0, count: 31)
        let name = Wire.string("ecdsa-sha2-nistp256")
        #expect(SSHSignature.p256(raw: one + one) == name + Wire.string([0, 0, 0, 1, 1, 0, 0, 0, 1, 1]))
        #expect(
            SSHSignature.p256(raw: high + one)
                == name + Wire.string(Wire.string([0] + high) + Wire.string([1]))
        )
        let zero = [UInt8](repeating: 0, count: 32)
        #expect(SSHSignature.p256(raw: zero + one) == nil && SSHSignature.p256(raw: one + zero) == nil)
        #expect(SSHSignature.p256(raw: one) == nil && SSHSignature.p256(raw: one + one + [0]) == nil)
        #expect(SSHSignature.p256(raw: []) == nil)
    }

    @Test func `with needless zeros, or a sign, are not valid`() throws {
        let secret = P256.Signing.PrivateKey()
        let key = try #require(SSHPublicKey(p256: secret.publicKey.x963Representation))
        let raw = [UInt8](try secret.signature(for: Data("message".utf8)).rawRepresentation)
        let name = Wire.string("ecdsa-sha2-nistp256")
        let digits = [raw.prefix(32), raw.suffix(32)].map { Array($0.drop { $0 == 0 }) }
        let sound = digits.map { $0[0] >= 0x80 ? [0] + $0 : $0 }
        func check(_ r: [UInt8], _ s: [UInt8]) -> SSHSignatureCheck {
            key.check(
                name + Wire.string(Wire.string(r) + Wire.string(s)),
                over: Array("message".utf8)
            )
        }
        #expect(check(sound[0], sound[1]) == .valid)
        #expect(check([0] + sound[0], sound[1]) == .invalid)
        #expect(check(sound[0], [0] + sound[1]) == .invalid)
        #expect(check([], sound[1]) == .invalid && check([0], sound[1]) == .invalid)
        #expect(check([0xFF] + digits[0], sound[1]) == .invalid)
        #expect(check(sound[0], [UInt8](repeating: 1, count: 34)) == .invalid)
    }

    /// Whether ssh-keygen is installed; tests skip without, or fail when `REQUIRE_PEERS` is set.
    private static let hasKeygen =
        FileManager.default.isExecutableFile(atPath: "/usr/bin/ssh-keygen")
        || ProcessInfo.processInfo.environment["REQUIRE_PEERS"] != nil

    @Test(.enabled(if: hasKeygen)) func `that we write are valid for ssh-keygen`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-ssh-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let message = folder.appending(path: "message")
        try Data("A message.\n".utf8).write(to: message)
        // Among 64 signatures, numbers of all lengths occur: r or s with the top bit set, or with a zero in front.
        for round in 0..<64 {
            let secret = P256.Signing.PrivateKey()
            let key = try #require(SSHPublicKey(p256: secret.publicKey.x963Representation))
            let fields = Wire.string("file") + Wire.string("") + Wire.string("sha512")
            let digest = [UInt8](SHA512.hash(data: Data("A message.\n".utf8)))
            let data = Array("SSHSIG".utf8) + fields + Wire.string(digest)
            let raw = try secret.signature(for: data).rawRepresentation
            let signature = try #require(SSHSignature.p256(raw: raw))
            #expect(key.check(signature, over: data) == .valid)
            guard round < 16 else { continue }
            let file =
                Array("SSHSIG".utf8) + Wire.number(1) + Wire.string(key.blob) + fields
                + Wire.string(signature)
            let armored = Data(file).base64EncodedString(options: [
                .lineLength64Characters, .endLineWithLineFeed,
            ])
            let path = folder.appending(path: "signature-\(round)")
            try Data("-----BEGIN SSH SIGNATURE-----\n\(armored)\n-----END SSH SIGNATURE-----\n".utf8)
                .write(to: path)
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/ssh-keygen")
            process.arguments = ["-Y", "check-novalidate", "-n", "file", "-s", path.path]
            process.standardInput = try FileHandle(forReadingFrom: message)
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(text)")
            #expect(text.contains(key.fingerprint))
        }
    }
}
