// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

extension LoginService {
    private struct State: Encodable {
        let status: String
    }

    /// Handles `GET /healthz`: the process is running.
    func tellHealth(_: Request, _: ServerContext) async throws -> Response {
        try JSON.response(State(status: "ok"))
    }

    /// Handles `GET /readyz`: the store also accepts changes, and the key file opens its keys.
    func tellReadiness(_: Request, _: ServerContext) async throws -> Response {
        try tokens.requireKeys()
        // The keys themselves are read every minute.
        try await readiness.check(relyingParty)
        return try JSON.response(State(status: "ok"))
    }

    private var gauges: Metrics.Gauges {
        Metrics.Gauges(
            connections: connections.open,
            refusedConnections: connections.refused,
            connectedAddresses: connections.addresses,
            passwordsWaiting: passwords.underWay,
            databaseWait: relyingParty.store.waiting,
            signingKeyAge: tokens.signingKeyAge(at: now)
        )
    }

    /// Handles `GET /metrics`.
    func tellMetrics(_: Request, _: ServerContext) async throws -> Response {
        var response = Response(
            status: .ok,
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text(gauges)))
        )
        response.headers[.contentType] = "text/plain; version=0.0.4; charset=utf-8"
        return response
    }
}
