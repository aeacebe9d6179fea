// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import WhorlSupport

@testable import WhorlSSH

extension FuzzTarget {
    static let sshTargets: [FuzzTarget] = [
        FuzzTarget(name: "ssh-request", longestInput: 4096, check: request),
        FuzzTarget(name: "ssh-binds", longestInput: 4096, check: binds),
        FuzzTarget(name: "ssh-key", longestInput: 2048, check: key),
        FuzzTarget(name: "ssh-signature", longestInput: 256, check: signature),
        FuzzTarget(name: "ssh-known-hosts", longestInput: 4096, check: knownHosts),
    ]

    /// Bytes with a meaning are the only ones with it: written again, they are the same.
    ///
    /// The input is the encoded key and the bytes to sign. A login with a certificate does not keep the certificate.
    private static func request(_ input: [UInt8]) throws(BrokenPromise) {
        var reader = ByteReader(input)
        guard let key = reader.sized().flatMap({ SSHPublicKey(blob: $0) }) else { return }
        let data = Array(reader.rest)
        switch SSHSigningRequest(data, signedBy: key) {
        case .unknown: break
        case .login(let login):
            try promise(!isHostile(login.user), "a user with control characters")
            if login.usesCertificate { break }
            var writer = ByteWriter()
            writer.append(sized: login.sessionID)
            writer.append(UInt8(50))
            writer.append(sized: login.user)
            writer.append(sized: "ssh-connection")
            writer.append(sized: login.hostKey == nil ? "publickey" : "publickey-hostbound-v00@openssh.com")
            writer.append(UInt8(1))
            writer.append(sized: key.type)
            writer.append(sized: key.blob)
            if let host = login.hostKey { writer.append(sized: host.blob) }
            try promise(writer.bytes == data, "a login has two forms")
        case .signature(let signature):
            try promise(!isHostile(signature.namespace), "a namespace with control characters")
            var writer = ByteWriter("SSHSIG")
            writer.append(sized: signature.namespace)
            writer.append(sized: "")
            writer.append(sized: signature.hash.rawValue)
            writer.append(sized: signature.digest)
            try promise(writer.bytes == data, "a signature has two forms")
        case .authentication(let request):
            try promise(!isHostile(request.user + request.requester + request.service), "control characters")
            try promise(written(request, with: key) == data, "an authentication has two forms")
        }
    }

    private static func written(_ request: SSHAgentAuthentication, with key: SSHPublicKey) -> [UInt8] {
        var action = ByteWriter()
        if !request.command.isEmpty { action.append(UInt32(request.command.count)) }
        for argument in request.command { action.append(sized: argument) }
        var session = ByteWriter()
        session.append(UInt32(101))
        session.append(sized: request.cookie)
        session.append(sized: request.user)
        session.append(sized: request.requester)
        session.append(sized: request.service)
        session.append(sized: request.folder)
        session.append(sized: action.bytes)
        session.append(sized: request.host)
        session.append(request.time)
        var writer = ByteWriter()
        writer.append(sized: session.bytes)
        writer.append(UInt8(54))
        writer.append(sized: request.requester)
        writer.append(sized: "pam_ssh_agent_auth")
        writer.append(sized: "publickey")
        writer.append(UInt8(1))
        writer.append(sized: key.type)
        writer.append(sized: key.blob)
        return writer.bytes
    }

    private static func isHostile(_ name: String) -> Bool {
        name.isEmpty || name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    }

    /// Only binds with a valid signature are accepted, at most one of them is a login's, and each session has one key.
    ///
    /// The input is a list of binds, each after its size.
    private static func binds(_ input: [UInt8]) throws(BrokenPromise) {
        var reader = ByteReader(input)
        var binds = SSHSessionBinds()
        var refused = false
        while let contents = reader.sized() {
            let before = binds.accepted
            do throws(SSHBindFault) {
                try binds.add(contents)
            } catch {
                refused = true
                try promise(binds.accepted == before, "a refused bind is accepted")
            }
        }
        let accepted = binds.accepted
        try promise(accepted.count <= SSHSessionBinds.most, "too many binds")
        try promise(accepted.allSatisfy { $0.check == .valid }, "a bind without a signature")
        try promise(accepted.dropLast().allSatisfy(\.isForwarding), "a bind after a login's")
        try promise(Set(accepted.map(\.sessionID)).count == accepted.count, "a session is bound twice")
        try promise(refused == (binds.firstFault != nil), "a refusal is forgotten")
        switch binds.forwarding {
        case .unknown: try promise(refused || accepted.isEmpty, "a way that is forgotten")
        case .none: try promise(refused || !accepted.isEmpty, "a way that nothing says")
        case .through(let hops): try promise(!hops.isEmpty, "a way without a hop")
        }
    }

    /// A key has one encoding and one line.
    private static func key(_ input: [UInt8]) throws(BrokenPromise) {
        if let key = SSHPublicKey(blob: input) {
            try promise(key.blob == input, "a key has two encodings")
            try promise(SSHPublicKey(line: key.line(comment: "a comment")) == key, "its line is another key")
            try promise(key.check(input, over: input) != .valid, "a key accepts what it did not sign")
            let isCopy = SSHPublicKey(p256: input.suffix(65)) == key
            try promise(!isCopy || key.type == "ecdsa-sha2-nistp256", "a key of another type")
        }
        guard let text = String(utf8: input), let key = SSHPublicKey(line: text) else { return }
        let words = text.split { $0 == " " || $0 == "\t" }.prefix(2).joined(separator: " ")
        try promise(key.line(comment: "") == words, "a line has two forms")
    }

    /// A signature is written in one form, and a key accepts no other one.
    private static func signature(_ input: [UInt8]) throws(BrokenPromise) {
        let message = Array("a message".utf8)
        try promise(Signer.key.check(input, over: message) != .cannotVerify, "a key that cannot verify")
        if Signer.key.check(input, over: message) == .valid {
            var reader = ByteReader(input)
            _ = reader.sized()
            var numbers = ByteReader(reader.sized() ?? [])
            let raw = (numbers.positive(count: 32) ?? []) + (numbers.positive(count: 32) ?? [])
            try promise(SSHSignature.p256(raw: raw) == input, "a signature has two forms")
        }
        if let written = SSHSignature.p256(raw: input) {
            var reader = ByteReader(written)
            _ = reader.sized()
            var numbers = ByteReader(reader.sized() ?? [])
            let raw = (numbers.positive(count: 32) ?? []) + (numbers.positive(count: 32) ?? [])
            try promise(raw == input && numbers.isAtEnd && reader.isAtEnd, "a signature is another one")
        }
    }

    /// The names of a key are plain, and a line with one of them is the name's.
    private static func knownHosts(_ input: [UInt8]) throws(BrokenPromise) {
        let file = SSHKnownHosts(input)
        for line in file.lines {
            for name in line.plainNames {
                try promise(!name.contains { "*?, \t\n".contains($0) }, "a pattern as a name")
                if let host = SSHHostName(name) { try promise(line.matches(host), "a line without its name") }
            }
            let names = file.names(of: line.key)
            try promise(Set(names).count == names.count, "a name twice")
            try promise(line.marker != nil || line.plainNames.allSatisfy(names.contains), "a name is missing")
        }
    }
}

/// A key that signed nothing but the input in `Corpus`.
private enum Signer {
    static let key = made(
        SSHPublicKey(
            line: "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBLQ4iposP99kSxlzvA"
                + "C/074FwWRlwjyzMPtDm41zpO+vsUliCf6Di4zKNfUj4wQEQmvGb5tL6KZmniHNhfYHAto="
        )
    )

    private static func made(_ value: SSHPublicKey?) -> SSHPublicKey {
        guard let value else { preconditionFailure("it is a constant") }
        return value
    }
}
