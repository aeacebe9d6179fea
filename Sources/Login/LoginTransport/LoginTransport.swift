// SPDX-License-Identifier: Apache-2.0

public import LoginAssertion
public import SecretMemory

/// What carries a request to a server and its answer back: the only part of a login that touches a network.
///
/// `BiometricLoginHTTP` has one that uses URLSession. One of an app's own, or of its tests, is a function.
public protocol LoginTransport: Sendable {
    /// Sends one request and gives the answer, whatever its status is.
    ///
    /// It sends to ``LoginRequest/origin`` and nowhere else: a redirect is an answer, and is not followed. It keeps
    /// neither cookies nor answers, and sends nothing a second time by itself.
    ///
    /// Cancelling the task ends it.
    ///
    /// - Throws: a ``LoginTransportError``; of another error nothing but that there was one is told.
    func send(_ request: LoginRequest) async throws -> LoginResponse
}

/// One request of the login protocol (Docs/LoginProtocol.md).
///
/// What it carries is secret and lies in locked memory; the value has no description.
public struct LoginRequest: Sendable {
    /// How the server is asked.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    /// The server.
    public let origin: LoginOrigin
    /// How it is asked.
    public let method: Method
    /// What stands behind the origin, from the slash on; no character of it needs an escape.
    public let path: String
    /// The value of the header field `Authorization`, ASCII; `nil` where there is none.
    public let authorization: SecretBox?
    /// JSON (`application/json`); `nil` where there is no body.
    public let body: SecretBox?

    /// Describes a request.
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

/// A server's answer: bytes from outside.
public struct LoginResponse: Sendable {
    /// The longest body in bytes; a transport stops reading there and throws ``LoginTransportError/tooLarge``.
    public static let longestBody = 16_384

    /// The status of HTTP.
    public let status: Int
    /// The header field `Content-Type`.
    public let contentType: String?
    /// The header field `Retry-After`, where it is a number of seconds.
    public let retryAfter: Int?
    /// The body; it may hold a session token.
    public let body: SecretBox

    /// Takes an answer.
    public init(status: Int, contentType: String?, retryAfter: Int? = nil, body: SecretBox) {
        self.status = status
        self.contentType = contentType
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// Why no answer came.
public enum LoginTransportError: String, Error, Sendable, Hashable, CaseIterable {
    /// The server's name is not known, or nobody listens there.
    case unreachable
    /// The server, or the way to it, took too long.
    case timedOut
    /// The connection is not secured by a certificate that this machine trusts.
    case notTrusted
    /// The answer is larger than any of the protocol.
    case tooLarge
    /// The answer is not HTTP.
    case malformed
    /// The task was cancelled.
    case cancelled
    /// The surroundings would have it sent unencrypted by another way than straight to the server, as over a proxy.
    case surroundings
    /// Something else.
    case failed
}
