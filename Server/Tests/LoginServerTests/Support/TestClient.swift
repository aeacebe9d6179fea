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
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
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

    private static func read(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async -> Data {
        var bytes = Data()
        do { for try await part in inbound { bytes.append(contentsOf: part.readableBytesView) } } catch {
            // A reset ends it as a close does.
        }
        return bytes
    }
}
