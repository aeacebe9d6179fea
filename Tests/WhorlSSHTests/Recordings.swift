// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlSSH

/// The recordings of OpenSSH's programs, which `Tests/OpenSSH/record` makes.
enum Recordings {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "OpenSSH")

    /// What programs sent to an agent, and its replies.
    struct Requests: Decodable {
        let user: String
        let key: Data
        let hosts: [String: Data]
        let scenes: [Scene]
    }

    /// What one program did: its connections to the agent.
    struct Scene: Decodable {
        let name: String
        let connections: [[Exchange]]
    }

    /// A message to the agent and its reply, each without its length.
    struct Exchange: Decodable {
        let request: Data
        let reply: Data
    }

    /// Sequences of binds and logins, with the replies of OpenSSH's agent.
    struct Binds: Decodable {
        let binds: [Sequence]
        let logins: [Login]
        let key: Data

        struct Sequence: Decodable, Sendable, CustomTestStringConvertible {
            let name: String
            let binds: [Data]
            let accepted: [Bool]
            var testDescription: String { name }
        }

        struct Login: Decodable, Sendable, CustomTestStringConvertible {
            let name: String
            let binds: [Data]
            let data: Data
            let signed: Bool
            var testDescription: String { name }
        }
    }

    static func read<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(contentsOf: folder.appending(path: name)))
    }

    /// The connections of a scene, each as the binds and the bytes to sign that the agent got on it.
    static func connections(of scene: String) throws -> [Connection] {
        let requests: Requests = try read("requests.json")
        let scene = try #require(requests.scenes.first { $0.name == scene })
        return try scene.connections.map { try Connection($0) }
    }

    static func user() throws -> SSHPublicKey {
        try #require(SSHPublicKey(blob: read("requests.json", as: Requests.self).key))
    }

    static func host(_ name: String) throws -> SSHPublicKey {
        let requests: Requests = try read("requests.json")
        let blob = try #require(requests.hosts[name])
        return try #require(SSHPublicKey(blob: blob))
    }
}

/// A connection to an agent.
struct Connection {
    /// The types of the messages, in their order.
    var types: [UInt8] = []
    /// The contents of each bind.
    var binds: [[UInt8]] = []
    /// Each request's bytes to sign, and the signature in the reply.
    var signed: [(data: [UInt8], signature: [UInt8])] = []

    init(_ exchanges: [Recordings.Exchange]) throws {
        for exchange in exchanges {
            var wire = Wire(bytes: [UInt8](exchange.request))
            let type = try #require(wire.take(1).first)
            types.append(type)
            if type == 27 {
                #expect(try wire.string() == Array(SSHSessionBind.name.utf8))
                binds.append(wire.bytes)
            } else if type == 13 {
                _ = try wire.string()
                let data = try wire.string()
                var reply = Wire(bytes: [UInt8](exchange.reply.dropFirst()))
                signed.append((data, try reply.string()))
            }
        }
    }

    /// The binds as the agent counts them.
    func state() throws -> SSHSessionBinds {
        var state = SSHSessionBinds()
        for bind in binds { try state.add(bind) }
        return state
    }
}

/// A reader and writer of SSH's encoding that shares nothing with the module.
struct Wire {
    var bytes: [UInt8] = []

    mutating func take(_ count: Int) throws -> [UInt8] {
        try #require(bytes.count >= count)
        defer { bytes.removeFirst(count) }
        return Array(bytes.prefix(count))
    }

    mutating func string() throws -> [UInt8] {
        let count = try take(4).reduce(0) { $0 << 8 | Int($1) }
        return try take(count)
    }

    static func number(_ value: Int, count: Int = 4) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func string(_ bytes: [UInt8]) -> [UInt8] { number(bytes.count) + bytes }
    static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }
}
