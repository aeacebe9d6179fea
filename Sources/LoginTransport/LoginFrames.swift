// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LoginAssertion
package import SecretMemory

/// A request and its answer as bytes, for a transport in another process: fields with their sizes before them.
///
/// They cross a pipe between two programs of one version, and are read as strictly as anything from outside.
package enum LoginFrames {
    /// The largest frame in bytes; requests and answers are smaller.
    package static let largest = 65_536

    package static func encode(_ request: LoginRequest) -> SecretBox {
        var frame = Writer()
        frame.append(request.origin.text)
        frame.append(request.method.rawValue)
        frame.append(request.path)
        frame.append(request.authorization)
        frame.append(request.body)
        return frame.finish()
    }

    /// `nil` for anything but what ``encode(_:)-(LoginRequest)`` gives.
    package static func request(_ bytes: SecretBox) -> LoginRequest? {
        var frame = Reader(bytes)
        guard let origin = frame.text().flatMap({ LoginOrigin($0) }),
            let method = frame.text().flatMap({ LoginRequest.Method(rawValue: $0) }),
            let path = frame.text(), path.hasPrefix("/"),
            let authorization = frame.secret(), let body = frame.secret(), frame.isAtEnd
        else { return nil }
        return LoginRequest(
            to: origin,
            method,
            path,
            authorization: authorization.bytes.count > 0 ? authorization : nil,
            body: body.bytes.count > 0 ? body : nil
        )
    }

    package static func encode(_ outcome: Result<LoginResponse, LoginTransportError>) -> SecretBox {
        var frame = Writer()
        switch outcome {
        case .failure(let error): frame.append(error.rawValue)
        case .success(let response):
            frame.append("answer")
            frame.append(String(response.status))
            frame.append(response.contentType.map { String($0.prefix(200)) } ?? "")
            frame.append(response.retryAfter.map { String($0) } ?? "")
            frame.append(response.body)
        }
        return frame.finish()
    }

    /// The answer; `malformed` for anything but what the other side writes.
    package static func outcome(_ bytes: SecretBox) -> Result<LoginResponse, LoginTransportError> {
        var frame = Reader(bytes)
        guard let kind = frame.text() else { return .failure(.malformed) }
        if let error = LoginTransportError(rawValue: kind), frame.isAtEnd { return .failure(error) }
        guard kind == "answer", let status = frame.text().flatMap({ Int($0) }), let type = frame.text(),
            let wait = frame.text(), let body = frame.secret(), frame.isAtEnd
        else { return .failure(.malformed) }
        return .success(
            LoginResponse(
                status: status,
                contentType: type.isEmpty ? nil : type,
                retryAfter: Int(wait),
                body: body
            )
        )
    }

    private struct Writer: ~Copyable {
        private var room = SecretBuffer(capacity: LoginFrames.largest)

        /// What does not fit is left out whole, and the frame is then refused by its reader.
        private mutating func append(size: Int, _ bytes: (inout SecretBuffer) -> Void) {
            guard size <= room.capacity - room.count - 4 else { return }
            for shift in [24, 16, 8, 0] { _ = room.append(UInt8(truncatingIfNeeded: size >> shift)) }
            bytes(&room)
        }

        mutating func append(_ text: String) {
            append(size: text.utf8.count) { room in for byte in text.utf8 { _ = room.append(byte) } }
        }

        mutating func append(_ secret: SecretBox?) {
            append(size: secret?.bytes.count ?? 0) { room in
                secret?.bytes.withUnsafeBytes { bytes in for byte in bytes { _ = room.append(byte) } }
            }
        }

        mutating func finish() -> SecretBox { SecretBox(room.take()) }
    }

    private struct Reader {
        private let frame: SecretBox
        private var place = 0

        init(_ frame: SecretBox) { self.frame = frame }

        var isAtEnd: Bool { place == frame.bytes.count }

        mutating func secret() -> SecretBox? {
            guard let range = range() else { return nil }
            return frame.bytes.withBytes { span in SecretBox(SecretBytes(copying: span.extracting(range))) }
        }

        /// For fields that are no secret.
        mutating func text() -> String? {
            guard let range = range() else { return nil }
            return frame.bytes.withUnsafeBytes { String(validating: $0[range], as: UTF8.self) }
        }

        private mutating func range() -> Range<Int>? {
            guard frame.bytes.count - place >= 4 else { return nil }
            let size = frame.bytes.withUnsafeBytes { bytes in
                bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            }
            guard size <= frame.bytes.count - place - 4 else { return nil }
            let start = place + 4
            place = start + size
            return start..<place
        }
    }
}
