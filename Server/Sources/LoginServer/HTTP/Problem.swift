// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import Hummingbird

/// An error response for programs and users (RFC 9457).
struct Problem: Error, Equatable {
    /// The code of a problem, for programs; the texts may change.
    enum Code: String, Sendable, CaseIterable {
        case assertionRefused = "assertion_refused"
        case attestationRefused = "attestation_refused"
        case attestationRequired = "attestation_required"
        case challengeUnknown = "challenge_unknown"
        case conflict = "conflict"
        case `internal` = "internal"
        case keyInUse = "key_in_use"
        case malformed = "malformed"
        case methodNotAllowed = "method_not_allowed"
        case notFound = "not_found"
        case reenableRequired = "reenable_required"
        case tooLarge = "too_large"
        case tooManyDevices = "too_many_devices"
        case tooManyRequests = "too_many_requests"
        case unauthorized = "unauthorized"
        case unavailable = "unavailable"
        case unknownKey = "unknown_key"
        case unsupportedMediaType = "unsupported_media_type"

        var status: HTTPResponse.Status {
            switch self {
            case .assertionRefused, .challengeUnknown, .unauthorized, .unknownKey: .unauthorized
            case .internal: .internalServerError
            case .conflict, .keyInUse, .tooManyDevices: .conflict
            case .malformed: .badRequest
            case .methodNotAllowed: .methodNotAllowed
            case .notFound: .notFound
            case .attestationRefused, .attestationRequired, .reenableRequired: .forbidden
            case .tooLarge: .contentTooLarge
            case .tooManyRequests: .tooManyRequests
            case .unavailable: .serviceUnavailable
            case .unsupportedMediaType: .unsupportedMediaType
            }
        }
    }

    var code: Code
    /// A description of the failure and the remedy; it contains no part of a token, a challenge, a signature or a
    /// password.
    var detail: String
    /// The headers `Retry-After`, `Allow`, `WWW-Authenticate`.
    var headers: HTTPFields = [:]

    init(_ code: Code, _ detail: String, headers: HTTPFields = [:]) {
        self.code = code
        self.detail = detail
        self.headers = headers
    }

    /// Returns the problem for a wrong password or token, without revealing which one it is or whether the user exists.
    static func unauthorized(_ detail: String, scheme: String = "Bearer") -> Problem {
        Problem(.unauthorized, detail, headers: [.wwwAuthenticate: scheme])
    }

    /// The problem for a path that does not exist.
    static let notFound = Problem(.notFound, "Not found.")

    static func tooManyRequests(retryAfter seconds: Int) -> Problem {
        Problem(
            .tooManyRequests,
            "Too many attempts. Try again in \(seconds) seconds.",
            headers: [.retryAfter: String(seconds)]
        )
    }
}

extension Problem {
    static let mediaType = "application/problem+json"

    private struct Body: Encodable {
        /// The code identifies the problem; individual problems have no page.
        let type = "about:blank"
        let title: String
        let status: Int
        let detail: String
        let code: String
    }

    /// The problem as JSON.
    var json: Data {
        let body = Body(
            title: code.status.reasonPhrase,
            status: code.status.code,
            detail: detail,
            code: code.rawValue
        )
        // Numbers and strings can always be encoded as JSON.
        return (try? JSON.encoder.encode(body)) ?? Data()
    }

    var response: Response {
        var response = Response(
            status: code.status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json))
        )
        response.headers[.contentType] = Self.mediaType
        if code.status == .unauthorized, response.headers[.wwwAuthenticate] == nil {
            response.headers[.wwwAuthenticate] = "Bearer"
        }
        return response
    }
}

/// The JSON encoding of the server.
enum JSON {
    /// An encoder that sorts members by name, so that equal responses have equal bytes.
    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    static func response(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) throws -> Response {
        var response = Response(
            status: status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value)))
        )
        response.headers[.contentType] = "application/json"
        return response
    }
}
