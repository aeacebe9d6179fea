// SPDX-License-Identifier: Apache-2.0

// Every request names its server.
@_exported public import WhorlLoginOrigin
public import WhorlSecretMemory

/// The environment variables from which libcurl takes a proxy for `http:`; it does not read `HTTP_PROXY`.
package let proxiesOfPlainRequests = ["http_proxy", "all_proxy", "ALL_PROXY"]

/// A transport that sends a request to a server and returns its answer: the only part of a login that uses a network.
///
/// `BiometricLoginHTTP` has one that uses URLSession. An app or its tests can have their own, which is one function.
public protocol LoginTransport: Sendable {
    /// Sends one request and returns the answer, whatever its status is.
    ///
    /// It sends only to ``LoginRequest/origin``: a redirect is an answer, and is not followed. It stores neither
    /// cookies nor answers, and does not repeat requests.
    ///
    /// Cancelling the task ends the request.
    ///
    /// - Throws: a ``LoginTransportError``; any other error is reported as ``LoginTransportError/failed``, without
    ///   details.
    func send(_ request: LoginRequest) async throws -> LoginResponse
}

/// One request of the login protocol (Docs/LoginProtocol.md).
///
/// Its contents are secret and are kept in locked memory; the value has no description.
public struct LoginRequest: Sendable {
    /// A method of HTTP.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    /// The server.
    public let origin: LoginOrigin
    /// The method.
    public let method: Method
    /// The path after the origin, from the slash on; no character of it needs an escape.
    public let path: String
    /// The value of the header field `Authorization`, ASCII; `nil` if there is none.
    public let authorization: SecretBox?
    /// The body as JSON (`application/json`); `nil` if there is none.
    public let body: SecretBox?

    /// Makes a request.
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
    /// The header fields that each transport sends; `Authorization` is apart, because it is secret.
    package var fields: [(name: String, value: String)] {
        let fields = [("Accept", "application/json, application/problem+json"), ("User-Agent", "whorl")]
        return fields + (body == nil ? [] : [("Content-Type", "application/json")])
    }
}

/// A server's answer: bytes from outside.
public struct LoginResponse: Sendable {
    /// The longest body in bytes; a transport stops reading there and throws ``LoginTransportError/tooLarge``.
    public static let longestBody = 16_384

    /// The HTTP status.
    public let status: Int
    /// The header field `Content-Type`.
    public let contentType: String?
    /// The header field `Retry-After`, if it is a number of seconds.
    public let retryAfter: Int?
    /// The body; it may hold a session token.
    public let body: SecretBox

    /// Makes an answer.
    public init(status: Int, contentType: String?, retryAfter: Int? = nil, body: SecretBox) {
        self.status = status
        self.contentType = contentType
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// An error of a transport: the reason why no answer came.
public enum LoginTransportError: String, Error, Sendable, Hashable, CaseIterable {
    /// The server's name is not known, or no server listens there.
    case unreachable = "unreachable"
    /// The server, or the way to it, took too long.
    case timedOut = "timedOut"
    /// The connection is not secured by a certificate that this machine trusts.
    case notTrusted = "notTrusted"
    /// No secured connection was made: the server speaks no TLS there, or none that is new enough.
    case notSecured = "notSecured"
    /// The answer is larger than any answer of the protocol.
    case tooLarge = "tooLarge"
    /// The answer is not HTTP.
    case malformed = "malformed"
    /// The task was cancelled.
    case cancelled = "cancelled"
    /// The environment would send the request unencrypted and not directly to the server, for example through a proxy.
    case surroundings = "surroundings"
    /// Something else.
    case failed = "failed"
}
