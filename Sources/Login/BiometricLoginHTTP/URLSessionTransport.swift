// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import LoginAssertion
public import LoginTransport
internal import WhorlSecretMemory
internal import Synchronization

/// A transport that sends login requests with URLSession.
///
/// It does not follow redirects or store cookies, credentials or responses, and it stops reading if a response is
/// larger than the protocol allows. FoundationNetworking is based on libcurl, which verifies the server's certificate
/// with the system's certificates, and reads those only from `/etc/ssl/certs/ca-certificates.crt`.
///
/// URLSession takes header fields as text and bodies as `Data`. A password or token in a request is therefore in
/// ordinary memory, which cannot be wiped.
public struct URLSessionTransport: LoginTransport {
    /// The environment variables in which libcurl looks for a proxy for `http:`; it does not read `HTTP_PROXY`.
    ///
    /// While any of them is set, ``send(_:)`` refuses servers that do not use TLS.
    public static let proxies = proxiesOfPlainRequests

    private let wait: Duration

    /// Creates a transport.
    ///
    /// - Parameter wait: The timeout for a whole request; 30 seconds by default.
    public init(wait: Duration = .seconds(30)) { self.wait = wait }

    /// Sends one request and returns the response, regardless of its status; redirects are also returned.
    ///
    /// - Throws: A `LoginTransportError`.
    public func send(_ request: LoginRequest) async throws -> LoginResponse {
        guard Self.isDirect(request.origin) else { throw LoginTransportError.surroundings }
        guard let url = URL(string: request.origin.text + request.path) else {
            throw LoginTransportError.malformed
        }
        let exchange = Exchange()
        let session = URLSession(
            configuration: configuration,
            delegate: exchange,
            delegateQueue: nil
        )
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: Self.urlRequest(request, url))
        // URLSession's own timeouts restart with each byte, and do not cover all of its code paths.
        let limit = Task { [wait] in
            try await Task.sleep(for: wait)
            exchange.end(.timedOut)
            task.cancel()
        }
        defer { limit.cancel() }
        return try await withTaskCancellationHandler {
            try await exchange.run(task)
        } onCancel: {
            exchange.end(.cancelled)
            task.cancel()
        }
    }

    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        let seconds = Double(wait.components.seconds) + Double(wait.components.attoseconds) * 1e-18
        configuration.timeoutIntervalForRequest = seconds
        configuration.timeoutIntervalForResource = seconds
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return configuration
    }

    /// Returns whether a request goes directly to the server, considering the variables that libcurl reads.
    ///
    /// Unencrypted requests go only to this machine (`LoginOrigin`), so they must not go through a proxy. Encrypted
    /// requests may, because the server's certificate is verified even then.
    private static func isDirect(_ origin: LoginOrigin) -> Bool {
        guard origin.text.hasPrefix("http:") else { return true }
        let variables = ProcessInfo.processInfo.environment
        return proxies.allSatisfy { variables[$0]?.isEmpty ?? true }
    }

    private static func urlRequest(_ request: LoginRequest, _ url: URL) -> URLRequest {
        var asked = URLRequest(url: url)
        asked.httpMethod = request.method.rawValue
        for (name, value) in request.fields { asked.setValue(value, forHTTPHeaderField: name) }
        if let authorization = request.authorization {
            let text = authorization.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            asked.setValue(text, forHTTPHeaderField: "Authorization")
        }
        asked.httpBody = request.body?.bytes.withUnsafeBytes { Data($0) }
        return asked
    }
}

/// One request and its response.
private final class Exchange: NSObject, URLSessionDataDelegate {
    private typealias Done = CheckedContinuation<Result<LoginResponse, LoginTransportError>, Never>

    private struct State: ~Copyable {
        var done: Done?
        var response: HTTPURLResponse?
        var body = SecretBuffer(capacity: LoginResponse.longestBody)
        var failure: LoginTransportError?
    }

    private let state = Mutex(State())

    func run(_ task: URLSessionDataTask) async throws(LoginTransportError) -> LoginResponse {
        try await withCheckedContinuation { (done: Done) in
            let failure = state.withLock { state in
                if state.failure == nil { state.done = done }
                return state.failure
            }
            guard let failure else { return task.resume() }
            done.resume(returning: .failure(failure))
        }.get()
    }

    /// Ends the request with a failure, regardless of what URLSession reports later; only the first call has an effect.
    func end(_ failure: LoginTransportError) {
        let done = state.withLock { state in
            if state.failure == nil { state.failure = failure }
            return state.done.take()
        }
        done?.resume(returning: .failure(failure))
    }

    private func end(_ response: HTTPURLResponse?, _ error: (any Error)?) {
        let (done, outcome) = state.withLock { state in
            (state.done.take(), Self.outcome(&state, response, error))
        }
        done?.resume(returning: outcome)
    }

    /// Called if the server requires a password, or rejects the one that was sent.
    ///
    /// FoundationNetworking calls this method when the response is complete, and would repeat the request as long as
    /// the server responds in the same way. Instead, the response is used as the result.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        end(task.response as? HTTPURLResponse, nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        state.withLock { $0.response = response }
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.response = response as? HTTPURLResponse }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let fits = state.withLock { state in
            guard data.count <= state.body.capacity - state.body.count else { return false }
            return state.body.append { data.copyBytes(to: $0) } == data.count
        }
        guard !fits else { return }
        end(.tooLarge)
        dataTask.cancel()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(task.response as? HTTPURLResponse, error)
    }

    private static func outcome(
        _ state: inout State,
        _ response: HTTPURLResponse?,
        _ error: (any Error)?
    ) -> Result<LoginResponse, LoginTransportError> {
        if let failure = state.failure { return .failure(failure) }
        if let error { return .failure(LoginTransportError(error)) }
        guard let response = state.response ?? response else { return .failure(.malformed) }
        return .success(
            LoginResponse(
                status: response.statusCode,
                contentType: response.value(forHTTPHeaderField: "Content-Type"),
                retryAfter: response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) },
                body: SecretBox(state.body.take())
            )
        )
    }
}

extension LoginTransportError {
    /// Classifies a failure; its text is discarded, because it may contain data from the request.
    fileprivate init(_ error: any Error) {
        guard let error = error as? URLError else {
            self = .failed
            return
        }
        switch error.code {
        case .timedOut: self = .timedOut
        case .cancelled: self = .cancelled
        case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .networkConnectionLost,
            .notConnectedToInternet:
            self = .unreachable
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            self = .notTrusted
        // FoundationNetworking has no code for this; the text comes from libcurl.
        case .unknown where error.localizedDescription.hasPrefix("SSL"): self = .notTrusted
        case .badServerResponse, .cannotParseResponse, .zeroByteResource: self = .malformed
        default: self = .failed
        }
    }
}
