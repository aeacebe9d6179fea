// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

extension LoginService {
    private struct State: Encodable {
        let status: String
    }

    /// Answers `GET /healthz`: the process is running.
    func tellHealth(_: Request, _: ServerContext) async throws -> Response {
        try JSON.response(State(status: "ok"))
    }

    /// Answers `GET /readyz`: the store is reachable too, and the key file opens the keys in it.
    func tellReadiness(_: Request, _: ServerContext) async throws -> Response {
        try tokens.requireKeys()
        _ = try await documents.document("readiness")
        return try JSON.response(State(status: "ok"))
    }

    /// Answers `GET /metrics`.
    func tellMetrics(_: Request, _: ServerContext) async throws -> Response {
        var response = Response(
            status: .ok,
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text))
        )
        response.headers[.contentType] = "text/plain; version=0.0.4; charset=utf-8"
        return response
    }
}
