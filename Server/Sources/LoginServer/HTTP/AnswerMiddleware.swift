// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOHTTP1
internal import RelyingParty

/// Middleware around every route: converts errors to problems, counts requests, and writes one log line each.
///
/// The line contains the route, but no path, query, header or body of the request, and therefore no token, challenge,
/// signature or password.
struct AnswerMiddleware: RouterMiddleware {
    let service: LoginService
    let endpoints: [Endpoint]

    func handle(
        _ request: Request,
        context: ServerContext,
        next: @concurrent (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        warnOfProxy(request, context)
        var response: Response
        var code: String?
        var cause: String?
        var fault: String?
        do {
            guard !Endpoint.hasEmptyPart(request.uri.path) else { throw Problem.notFound }
            response = try await next(request, context)
        } catch let error as HTTPParserError {
            // Hummingbird responds to it and closes the connection.
            throw error
        } catch {
            var answer = Problem.answer(to: error)
            if answer.problem.code == .notFound { answer.problem = methodProblem(request) ?? answer.problem }
            response = answer.problem.response
            (code, cause) = (answer.problem.code.rawValue, answer.cause)
            // Clients do not learn the exact fault: a wrong clock and a forgery have the same code.
            fault = (error as? RelyingPartyError)?.word
        }
        harden(&response)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let route =
            context.endpointPath.flatMap { path in endpoints.first { $0.path == path }?.path } ?? "other"
        let method = Self.known(request.method)
        service.metrics.count(method: method, route: route, status: response.status.code, seconds: seconds)
        log(
            [
                "method": "\(method)", "route": "\(route)", "status": "\(response.status.code)",
                "ms": "\((seconds * 10_000).rounded() / 10)",
                "address": "\(service.client(request, context).text)",
            ],
            code: code,
            fault: fault,
            cause: cause,
            to: context.logger
        )
        return response
    }

    /// Warns once about a proxy on this machine that is not trusted.
    private func warnOfProxy(_ request: Request, _ context: ServerContext) {
        guard service.proxies.overlooks(peer: context.peer, headers: request.headers),
            service.proxyWarning.isFirst()
        else { return }
        context.logger.warning(
            "a proxy on this computer is not trusted, so all its clients count as one; use --trusted-proxy",
            metadata: ["address": "\(service.client(request, context).text)"]
        )
    }

    /// Adds the headers that restrict how a browser uses a response.
    private func harden(_ response: inout Response) {
        response.headers[.xContentTypeOptions] = "nosniff"
        for (name, value) in [
            (HTTPField.Name.cacheControl, "no-store"),
            (.contentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'"),
        ] where response.headers[name] == nil { response.headers[name] = value }
        if let name = HTTPField.Name("referrer-policy") { response.headers[name] = "no-referrer" }
        // RFC 6797; browsers respect it only over TLS.
        if service.origin.text.hasPrefix("https:") {
            response.headers[.strictTransportSecurity] = "max-age=31536000"
        }
    }

    /// Returns the problem for a path that exists only for other methods.
    private func methodProblem(_ request: Request) -> Problem? {
        let path = request.uri.path
        let allowed = endpoints.filter { $0.matches(path: path) }.map(\.method.rawValue)
        guard !allowed.isEmpty, !allowed.contains(request.method.rawValue) else { return nil }
        let methods = Set(allowed + (allowed.contains("GET") ? ["HEAD"] : [])).sorted().joined(
            separator: ", "
        )
        return Problem(.methodNotAllowed, "Use \(methods).", headers: [.allow: methods])
    }

    /// Returns a method's name if it is a common one, and otherwise `other`, because clients can invent names.
    private static func known(_ method: HTTPRequest.Method) -> String {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options: method.rawValue
        default: "other"
        }
    }

    private func log(
        _ values: Logger.Metadata,
        code: String?,
        fault: String?,
        cause: String?,
        to logger: Logger
    ) {
        var values = values
        if let fault { values["fault"] = "\(fault)" }
        if let code { values["code"] = "\(code)" }
        if let cause { values["cause"] = "\(cause)" }
        logger.log(level: cause == nil ? .info : .error, "request", metadata: values)
    }
}
