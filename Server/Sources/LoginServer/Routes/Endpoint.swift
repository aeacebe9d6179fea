// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// An endpoint of the server, as described in `openapi.yaml`.
struct Endpoint: Sendable {
    typealias Handler = @Sendable (Request, ServerContext) async throws -> Response

    let method: HTTPRequest.Method
    /// The path, with parameters in braces.
    let path: String
    let handler: Handler

    init(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.handler = handler
    }

    /// Returns whether a path has an empty part, which the router ignores: `/v1/devices/` without a device would be
    /// `/v1/devices`, meaning all devices.
    static func hasEmptyPart(_ path: String) -> Bool {
        path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().contains("")
    }

    /// Returns whether a path is this endpoint's, for any method.
    func matches(path requested: String) -> Bool {
        let requested = requested.split(separator: "/", omittingEmptySubsequences: false)
        let own = path.split(separator: "/", omittingEmptySubsequences: false)
        return requested.count == own.count
            && zip(requested, own).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
    }
}

extension Endpoint {
    /// The path of the metrics, which operators may want to keep private.
    static let metrics = "/metrics"
}

extension LoginService {
    /// All endpoints of the server.
    var endpoints: [Endpoint] {
        [
            Endpoint(.post, "/v1/challenges", issueChallenge),
            Endpoint(.post, "/v1/attestations", makeCredential),
            Endpoint(.post, "/v1/devices", enableDevice),
            Endpoint(.get, "/v1/devices", listDevices),
            Endpoint(.delete, "/v1/devices", revokeAllDevices),
            Endpoint(.delete, "/v1/devices/{device}", revokeDevice),
            Endpoint(.post, "/v1/sessions", signIn),
            Endpoint(.get, "/v1/sessions/current", tellCurrentSession),
            Endpoint(.delete, "/v1/sessions/current", endCurrentSession),
            Endpoint(.post, "/v1/account/sessions", signInWithPassword),
            Endpoint(.get, "/.well-known/jwks.json", publishKeys),
            Endpoint(.get, "/.well-known/oauth-authorization-server", publishMetadata),
            Endpoint(.get, "/healthz", tellHealth),
            Endpoint(.get, "/readyz", tellReadiness),
            Endpoint(.get, Endpoint.metrics, tellMetrics),
            Endpoint(.get, "/openapi.yaml", Asset.openAPI.handler),
            Endpoint(.get, "/account", Asset.accountPage.handler),
            Endpoint(.get, "/account/style.css", Asset.accountStyle.handler),
            Endpoint(.get, "/account/script.js", Asset.accountScript.handler),
            Endpoint(.get, "/account/icon.svg", Asset.icon.handler),
        ]
    }
}
