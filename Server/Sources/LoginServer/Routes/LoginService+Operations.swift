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

    /// Answers `GET /readyz`: the store takes changes too, and the key file opens the keys in it.
    func tellReadiness(_: Request, _: ServerContext) async throws -> Response {
        try tokens.requireKeys()
        // That the keys are still there is read each minute.
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

    /// Answers `GET /metrics`.
    func tellMetrics(_: Request, _: ServerContext) async throws -> Response {
        var response = Response(
            status: .ok,
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text(gauges)))
        )
        response.headers[.contentType] = "text/plain; version=0.0.4; charset=utf-8"
        return response
    }
}
