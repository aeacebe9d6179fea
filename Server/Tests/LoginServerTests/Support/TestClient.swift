// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix

/// Sends bytes to a server and reads all that comes back: what is not HTTP can be sent too.
struct TestClient: Sendable {
    let port: Int

    /// An answer; the status is 0 where the server closed without one.
    struct Answer {
        var status = 0
        var headers: [String: String] = [:]
        var body = Data()

        init(_ bytes: Data) {
            guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return }
            let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(
                separatedBy: "\r\n"
            )
            status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                headers[line[..<colon].lowercased()] = value
            }
            body = Data(bytes[end.upperBound...])
        }

        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }
        var code: String? { json["code"] as? String }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Sends JSON, or nothing.
    func send(
        _ method: String,
        _ path: String,
        json: [String: Any]? = nil,
        authorization: String? = nil
    ) async throws -> Answer {
        var body = Data()
        var headers: [String] = []
        if let json {
            body = try JSONSerialization.data(withJSONObject: json)
            headers.append("Content-Type: application/json")
        }
        if let authorization { headers.append("Authorization: \(authorization)") }
        return try await send(method, path, headers: headers, body: body)
    }

    /// Sends any body.
    func send(_ method: String, _ path: String, headers: [String], body: Data) async throws -> Answer {
        let head =
            [
                "\(method) \(path) HTTP/1.1", "Host: bank.example", "Connection: close",
                "Content-Length: \(body.count)",
            ] + headers
        return Answer(try await exchange([Data((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body]))
    }

    /// Sends pieces one after the other, and reads until the server closes.
    func exchange(_ pieces: [Data], between pause: Duration = .zero) async throws -> Data {
        try await connect().executeThenClose { inbound, outbound in
            async let answer = Self.read(inbound)
            do {
                for piece in pieces {
                    try await outbound.write(ByteBuffer(bytes: piece))
                    if pause > .zero { try await Task.sleep(for: pause) }
                }
            } catch {
                // The server closed before it had all; what it said is read.
            }
            return await answer
        }
    }

    /// Sends a request but for its last byte, does something else, and sends that byte.
    func hold(
        _ method: String,
        _ path: String,
        json: [String: Any],
        authorization: String,
        while work: () async throws -> Void
    ) async throws -> Answer {
        let body = try JSONSerialization.data(withJSONObject: json)
        let head = [
            "\(method) \(path) HTTP/1.1", "Host: bank.example", "Connection: close",
            "Content-Type: application/json", "Authorization: \(authorization)",
            "Content-Length: \(body.count)",
        ]
        let request = Data((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
        return try await connect().executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: request.dropLast()))
            // What came before these on another connection, the server has read.
            for _ in 0..<3 { _ = try await send("GET", "/healthz") }
            try await work()
            try await outbound.write(ByteBuffer(bytes: request.suffix(1)))
            return Answer(await Self.read(inbound))
        }
    }

    private func connect() async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Sends a request again and again, and reads nothing, until the server closes the connection.
    ///
    /// - Returns: Whether it did, in the time that the test has.
    func flood(_ request: Data, within limit: TimeAmount) async throws -> Bool {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.autoRead, value: false)
            .connect(host: "127.0.0.1", port: port).get()
        let requests = ByteBuffer(bytes: Data(repeatElement(request, count: 1_000).joined()))
        for _ in 0..<20 { channel.writeAndFlush(requests, promise: nil) }
        let late = channel.eventLoop.makePromise(of: Bool.self)
        let deadline = channel.eventLoop.scheduleTask(in: limit) { late.succeed(false) }
        channel.closeFuture.whenComplete { _ in late.succeed(true) }
        let isClosed = try await late.futureResult.get()
        deadline.cancel()
        try? await channel.close()
        return isClosed
    }

    private static func read(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async -> Data {
        var bytes = Data()
        do { for try await part in inbound { bytes.append(contentsOf: part.readableBytesView) } } catch {
            // A reset ends it as a close does.
        }
        return bytes
    }
}
