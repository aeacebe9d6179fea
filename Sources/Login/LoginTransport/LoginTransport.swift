// SPDX-License-Identifier: Apache-2.0

// Every request names its server.
@_exported public import WhorlLoginOrigin
public import WhorlSecretMemory

/// The environment variables in which libcurl looks for a proxy for `http:`; it does not read `HTTP_PROXY`.
package let proxiesOfPlainRequests = ["http_proxy", "all_proxy", "ALL_PROXY"]

/// A transport that sends a request to a server and returns its response: the only part of a login that uses the
/// network.
///
/// `BiometricLoginHTTP` contains one that uses URLSession. An app or its tests can provide a different one by
/// implementing one function.
public protocol LoginTransport: Sendable {
    /// Sends one request and returns the response, regardless of its status.
    ///
    /// An implementation connects only to ``LoginRequest/origin``, and returns redirects instead of following them. It
    /// does not store cookies or responses, and does not repeat requests.
    ///
    /// Cancelling the task ends the request.
    ///
    /// - Throws: A ``LoginTransportError``. Any other error is reported as ``LoginTransportError/failed``, without
    ///   details.
    func send(_ request: LoginRequest) async throws -> LoginResponse
}

/// A request of the login protocol (Docs/LoginProtocol.md).
///
/// Its credentials and body are secret and stored in locked memory; the value has no description.
public struct LoginRequest: Sendable {
    /// An HTTP method.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    /// The server.
    public let origin: LoginOrigin
    /// The HTTP method.
    public let method: Method
    /// The path after the origin, including the slash; it does not contain characters that require escaping.
    public let path: String
    /// The value of the header field `Authorization` in ASCII; `nil` to omit the field.
    public let authorization: SecretBox?
    /// The body as JSON (`application/json`); `nil` for a request without a body.
    public let body: SecretBox?

    /// Creates a request.
    public init(
        to origin: LoginOrigin,
        _ method: Method,
        _ path: String,
        authorization: SecretBox? = nil,
        body: SecretBox? = nil
    ) {
        self.origin = origin
        self.method = method
        self.path = path
        self.authorization = authorization
        self.body = body
    }
}

extension LoginRequest {
    /// The header fields that every transport sends, except for `Authorization`, which is secret.
    package var fields: [(name: String, value: String)] {
        let fields = [("Accept", "application/json, application/problem+json"), ("User-Agent", "whorl")]
        return fields + (body == nil ? [] : [("Content-Type", "application/json")])
    }
}

/// A server's response, which is untrusted input.
public struct LoginResponse: Sendable {
    /// The maximum size of the body in bytes; a transport stops reading there and throws
    /// ``LoginTransportError/tooLarge``.
    public static let longestBody = 16_384

    /// The HTTP status.
    public let status: Int
    /// The header field `Content-Type`.
    public let contentType: String?
    /// The header field `Retry-After`, if it is a number of seconds.
    public let retryAfter: Int?
    /// The body; it may contain a session token.
    public let body: SecretBox

    /// Creates a response.
    public init(status: Int, contentType: String?, retryAfter: Int? = nil, body: SecretBox) {
        self.status = status
        self.contentType = contentType
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// An error of a transport, which explains why no response was received.
public enum LoginTransportError: String, Error, Sendable, Hashable, CaseIterable {
    /// The server's name cannot be resolved, or no server is listening.
    case unreachable = "unreachable"
    /// The server or the network took too long.
    case timedOut = "timedOut"
    /// The connection is not secured by a certificate that this machine trusts.
    case notTrusted = "notTrusted"
    /// No secure connection was established: the server does not use TLS, or only an outdated version.
    case notSecured = "notSecured"
    /// The response is larger than the protocol allows.
    case tooLarge = "tooLarge"
    /// The response is not HTTP.
    case malformed = "malformed"
    /// The task was cancelled.
    case cancelled = "cancelled"
    /// The environment would cause the request to be sent unencrypted and indirectly, for example through a proxy.
    case surroundings = "surroundings"
    /// Any other failure.
    case failed = "failed"
}
