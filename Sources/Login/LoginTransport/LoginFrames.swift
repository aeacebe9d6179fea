// SPDX-License-Identifier: Apache-2.0

internal import WhorlLoginOrigin
package import WhorlSecretMemory
internal import WhorlSupport

/// Encodes a request and its response as bytes, for a transport in another process; each field is preceded by its size.
///
/// The bytes are sent through a pipe between two programs of the same version, and parsed as strictly as any untrusted
/// input.
package enum LoginFrames {
    /// The maximum size of a frame in bytes; requests and responses are smaller.
    package static let largest = 65_536

    package static func encode(_ request: LoginRequest) -> SecretBox {
        var frame = SecretBuffer(capacity: largest)
        frame.append(sized: request.origin.text.utf8)
        frame.append(sized: request.method.rawValue.utf8)
        frame.append(sized: request.path.utf8)
        frame.append(secret: request.authorization)
        frame.append(secret: request.body)
        return SecretBox(frame.take())
    }

    /// Parses a request; returns `nil` if the bytes are not the output of ``encode(_:)-(LoginRequest)``.
    package static func request(_ bytes: SecretBox) -> LoginRequest? {
        bytes.bytes.withUnsafeBytes { request(ByteReader($0)) }
    }

    private static func request(_ frame: ByteReader<UnsafeRawBufferPointer>) -> LoginRequest? {
        var frame = frame
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
        var frame = SecretBuffer(capacity: largest)
        switch outcome {
        case .failure(let error): frame.append(sized: error.rawValue.utf8)
        case .success(let response):
            frame.append(sized: "answer".utf8)
            frame.append(sized: String(response.status).utf8)
            frame.append(sized: (response.contentType.map { String($0.prefix(200)) } ?? "").utf8)
            frame.append(sized: (response.retryAfter.map { String($0) } ?? "").utf8)
            frame.append(secret: response.body)
        }
        return SecretBox(frame.take())
    }

    /// Parses the response; returns `malformed` for anything that the other side does not write.
    package static func outcome(_ bytes: SecretBox) -> Result<LoginResponse, LoginTransportError> {
        bytes.bytes.withUnsafeBytes { outcome(ByteReader($0)) }
    }

    private static func outcome(
        _ frame: ByteReader<UnsafeRawBufferPointer>
    ) -> Result<LoginResponse, LoginTransportError> {
        var frame = frame
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
}

extension SecretBuffer {
    /// Appends a field; if it does not fit, the whole field is omitted, so that the reader rejects the frame.
    fileprivate mutating func append(secret: SecretBox?) {
        guard let secret else {
            append(sized: EmptyCollection())
            return
        }
        secret.bytes.withUnsafeBytes { _ = append(sized: $0) }
    }
}

extension ByteReader<UnsafeRawBufferPointer> {
    /// Reads a field that may be a secret.
    fileprivate mutating func secret() -> SecretBox? {
        sized().map { SecretBox(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0).bytes)) }
    }
}
